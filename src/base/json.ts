/** Text that is not JSON, or JSON beyond a limit. */
export class JsonError extends Error {
  /** true: too many values. */
  readonly isTooLarge: boolean;

  constructor(message: string, isTooLarge = false) {
    super(message);
    this.isTooLarge = isTooLarge;
  }
}

/**
 * `JSON.parse` with limits. Deeply nested input would overflow the stack of every function that walks it later.
 * Millions of tiny values would keep the parser and all later code busy for seconds. So both are counted before.
 * @param maxValues  numbers, texts, flags, nulls, lists, objects and the names of their members, each of which the
 *                   engine looks up. An empty list or object counts as two. Default: any number
 * @throws JsonError
 */
export function parseJson(text: string, maxDepth: number, maxValues = Number.POSITIVE_INFINITY): unknown {
  // A level takes at least two characters, or one where the text is cut.
  const mayNest = text.length > maxDepth && occurMore(text, openers, maxDepth);
  // A value takes at least two characters: its own, and the one that separates it from others.
  if (mayNest || (text.length > 2 * maxValues && occurMore(text, separators, maxValues - 1)))
    checkLimits(text, maxDepth, maxValues);
  try {
    return JSON.parse(text);
  } catch {
    // V8 quotes the input in its message, and the input may hold a secret.
    throw new JsonError('not valid JSON');
  }
}

/** Parses text of a store without limits: the gateway itself wrote it. @returns undefined for text that is not JSON */
export function tryParseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const openers = ['{', '['] as const;
const separators = ['{', '[', ',', ':'] as const;

/**
 * Tells whether signs occur more than `limit` times, inside strings or not. In most texts they occur too rarely to
 * matter.
 */
function occurMore(text: string, signs: readonly string[], limit: number): boolean {
  let count = 0;
  for (const sign of signs) {
    for (let at = text.indexOf(sign); at >= 0; at = text.indexOf(sign, at + 1)) {
      count++;
      if (count > limit) return true;
    }
  }
  return false;
}

/**
 * Counts brackets, commas and colons up to one past a limit, also in text that is not JSON. Skips strings, which are most of a
 * request.
 * @throws JsonError
 */
function checkLimits(text: string, maxDepth: number, maxValues: number): void {
  let depth = 0;
  let values = 1;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === 34) {
      i = stringEnd(text, i + 1);
      if (i < 0) return;
    } else if (code === 44 || code === 58) values++;
    else if (code === 123 || code === 91) {
      values++;
      depth++;
      if (depth > maxDepth) throw nestsDeeper(maxDepth);
    } else if (code === 125 || code === 93) depth--;
    if (values > maxValues) throw holdsMore(maxValues);
  }
}

/**
 * Checks the same limits for a value that other code has parsed.
 * @returns  the number of characters of all its texts: the JSON that it came from had at least as many bytes
 * @throws JsonError
 */
export function checkParsed(value: unknown, maxDepth: number, maxValues = Number.POSITIVE_INFINITY): number {
  let left = maxValues - 1;
  let length = 0;
  const walk = (one: unknown, levels: number): void => {
    if (typeof one === 'string') length += one.length;
    if (typeof one !== 'object' || one === null) return;
    // The bytes of a file are no values.
    if (one instanceof Uint8Array) {
      length += one.length;
      return;
    }
    if (levels === 0) throw nestsDeeper(maxDepth);
    const isList = Array.isArray(one);
    const items = isList ? one : Object.values(one);
    left -= Math.max(isList ? items.length : 2 * items.length, 1);
    if (left < 0) throw holdsMore(maxValues);
    for (const item of items) walk(item, levels - 1);
  };
  walk(value, maxDepth);
  return length;
}

function nestsDeeper(limit: number): JsonError {
  return new JsonError(`nested deeper than ${limit} levels`);
}

function holdsMore(limit: number): JsonError {
  return new JsonError(`made of more than ${limit} values`, true);
}

/** The index of the quote that closes the string whose content starts at `from`; -1 when no quote closes it. */
export function stringEnd(text: string, from: number): number {
  let end = text.indexOf('"', from);
  while (end >= 0) {
    let slashes = 0;
    while (text.charCodeAt(end - 1 - slashes) === 92) slashes++;
    if (slashes % 2 === 0) return end;
    end = text.indexOf('"', end + 1);
  }
  return -1;
}
