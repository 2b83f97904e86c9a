/** Where ids come from, passed in so that tests and replays are exact. */
export interface Ids {
  /** A random UUID, version 4. */
  uuid(): string;
}

export const randomIds: Ids = { uuid: () => crypto.randomUUID() };

/** `gen-<unix seconds>-<20 hex digits>`: a completion's id, ordered by time. Never the upstream's id. */
export function generationId(ids: Ids, nowMs: number): string {
  const uuid = ids.uuid();
  // Joined, it is in one piece (see `inOnePiece`).
  return ['gen-', Math.floor(nowMs / 1000), '-', uuid.slice(0, 8), uuid.slice(9, 13), uuid.slice(28)].join('');
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Of any version, in either case. */
export function isUuid(text: string): boolean {
  return uuid.test(text);
}
