import type { Caller } from '../../call/call.ts';
import type { Reply } from '../../call/reply.ts';

export function answer(body: unknown, status = 200): Reply {
  return { kind: 'json', status, body };
}

/** ISO 8601, UTC. */
export function timestamp(atMs: number): string {
  return new Date(atMs).toISOString();
}

/** Who made something: a user of the host app, else the beginning of an api key's hash. */
export function creatorOf({ userId, apiKeyHash }: Caller): string {
  return userId ?? (apiKeyHash === null ? 'operator' : `key:${apiKeyHash.slice(0, 8)}`);
}
