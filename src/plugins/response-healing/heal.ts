import { jsonrepair } from 'jsonrepair';
import { coerce } from './coerce.ts';
import { schemaCheck } from './schema-check.ts';

/** What was done to a text. */
export type Fix = 'extracted' | 'repaired' | 'coerced';

export interface Healed {
  text: string;
  fixes: Fix[];
  /** Whether it is of the schema; null: there is none, or it could not be checked. */
  fitsSchema: boolean | null;
}

/** Deeper JSON is left as it is: reading it could exhaust the stack. */
const maxDepth = 200;

/**
 * Makes JSON of what a model wrote: without the prose and the fence around it, with its brackets closed and its keys
 * quoted, and with values of the types that the schema names.
 * @param schema          null: any object or list will do
 * @param maxRepairChars  a longer text is not repaired: some of them take time by the square of their length
 * @returns null: the text is fine as it is, or nothing better can be made of it
 */
export function heal(text: string, schema: object | null, maxRepairChars: number): Healed | null {
  if (isTooDeep(text)) return null;
  const check = schema === null ? () => null : schemaCheck(schema);
  const whole = parsed(text);
  // Valid JSON stays as it is to the byte.
  if (whole !== undefined && isContainer(whole) && check(whole) !== false) return null;

  let best: Healed | null = null;
  for (const { json, fixes } of candidatesIn(text, maxRepairChars)) {
    const value = parsed(json);
    if (value === undefined || !isContainer(value)) continue;
    const fits = check(value);
    if (fits !== false) {
      if (fixes.length > 0) return { text: json, fixes, fitsSchema: fits };
      continue;
    }
    const before = JSON.stringify(value);
    const coerced = coerce(value, schema);
    if (check(coerced) === true)
      return { text: JSON.stringify(coerced), fixes: [...fixes, 'coerced'], fitsSchema: true };
    // Broken JSON is worse than JSON of another shape.
    if (whole === undefined) best ??= { text: before, fixes, fitsSchema: false };
  }
  return best;
}

/** Texts that may be the JSON, the likeliest first: each as it stands, then repaired. */
function* candidatesIn(text: string, maxRepairChars: number): Generator<{ json: string; fixes: Fix[] }> {
  const found = extracted(text);
  const sources: { json: string; fixes: Fix[] }[] = [
    ...found.map((json) => ({ json, fixes: json === text ? [] : (['extracted'] as Fix[]) })),
    ...(found.includes(text) ? [] : [{ json: text, fixes: [] as Fix[] }]),
  ];
  yield* sources;
  for (const { json, fixes } of sources) {
    const repaired = json.length > maxRepairChars ? null : repairedJson(json);
    if (repaired !== null) yield { json: repaired, fixes: [...fixes, 'repaired'] };
  }
}

/** What stands in a fence, and what stands between the first and the last bracket. */
function extracted(text: string): string[] {
  const found: string[] = [];
  const fence = text.indexOf('```');
  if (fence !== -1) {
    const start = text.indexOf('\n', fence) + 1;
    const end = text.indexOf('```', start);
    if (start > 0) found.push(text.slice(start, end === -1 ? undefined : end).trim());
  }
  const first = text.search(/[{[]/);
  const last = Math.max(text.lastIndexOf('}'), text.lastIndexOf(']'));
  if (first !== -1) {
    if (last > first) found.push(text.slice(first, last + 1));
    found.push(text.slice(first).trim());
  }
  return [...new Set(found)].filter((one) => one !== '');
}

/** An object or a list; undefined: the text is neither, or too deep to be read. */
export function readJson(text: string): unknown {
  const value = isTooDeep(text) ? undefined : parsed(text);
  return isContainer(value) ? value : undefined;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** null: it is beyond repair. */
function repairedJson(text: string): string | null {
  // Prose becomes one string, which is none of what was asked for.
  if (!/^\s*[{[]/.test(text)) return null;
  try {
    return jsonrepair(text);
  } catch {
    return null;
  }
}

function isContainer(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}

function isTooDeep(text: string): boolean {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    // [ and {, ] and }: those in strings count as well, which only makes the bound tighter.
    if (code === 91 || code === 123) {
      if (++depth > maxDepth) return true;
    } else if ((code === 93 || code === 125) && depth > 0) depth--;
  }
  return false;
}
