/** What a validator has read in a body, and what it finds wrong there. */
export interface Seen {
  faults: string[];
  calls: { id: string; name: string; input: string }[];
  results: { id: string; text: string }[];
}

export type Json = Record<string, unknown>;
export type Validator = (body: string) => Seen;

export function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function listOf(value: unknown): Json[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** Gathers what is wrong, each with its place. */
export function sheet(): Seen & { check(isRight: boolean, fault: string): void } {
  const faults: string[] = [];
  return {
    faults,
    calls: [],
    results: [],
    check: (isRight, fault) => void (isRight || faults.push(fault)),
  };
}

/** The media types of pictures that the providers name in their documents. */
export const pictures: ReadonlySet<string> = new Set(['image/jpeg', 'image/png', 'image/gif', 'image/webp']);

export function typeOfDataUrl(url: unknown): string {
  return /^data:([^;,]*)/.exec(String(url))?.[1] ?? '';
}

/** Whether a text is a JSON object. */
export function isObjectText(text: unknown): boolean {
  try {
    return isObject(JSON.parse(String(text)));
  } catch {
    return false;
  }
}
