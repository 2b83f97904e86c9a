/** Text that is not JSON, or JSON that nests deeper than allowed. */
export class JsonError extends Error {}

/**
 * `JSON.parse` with a limit on nesting: deeply nested input would overflow the stack of every function that walks it
 * later. The depth is checked before parsing, because megabytes of brackets keep the parser itself busy for seconds.
 * @throws JsonError
 */
export function parseJson(text: string, maxDepth: number): unknown {
  // A level takes at least two characters, or one where the text is cut.
  if (text.length > maxDepth && opensMore(text, maxDepth) && nestsDeeper(text, maxDepth)) {
    throw new JsonError(`nested deeper than ${maxDepth} levels`);
  }
  try {
    return JSON.parse(text);
  } catch {
    // V8 quotes the input in its message, and the input may hold a secret.
    throw new JsonError('not valid JSON');
  }
}

/** For text of a store, whose depth nobody else decides. @returns undefined for text that is not JSON */
export function tryParseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Whether a text has more opening brackets than `limit`, nested or not. Most texts have too few to nest deeply. */
function opensMore(text: string, limit: number): boolean {
  let count = 0;
  for (const bracket of ['{', '[']) {
    for (let at = text.indexOf(bracket); at >= 0; at = text.indexOf(bracket, at + 1)) {
      count++;
      if (count > limit) return true;
    }
  }
  return false;
}

/**
 * Counts brackets up to one past `limit`, also in text that is not JSON. Skips strings, which are most of a request.
 */
function nestsDeeper(text: string, limit: number): boolean {
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === 34) {
      i = stringEnd(text, i + 1);
      if (i < 0) return false;
    } else if (code === 123 || code === 91) {
      depth++;
      if (depth > limit) return true;
    } else if (code === 125 || code === 93) depth--;
  }
  return false;
}

/** Whether an already parsed value nests deeper than `limit` levels. */
export function isDeeper(value: unknown, limit: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (limit === 0) return true;
  for (const key in value) if (isDeeper((value as Record<string, unknown>)[key], limit - 1)) return true;
  return false;
}

/** The index of the quote that closes the string whose content starts at `from`; -1 when no quote closes it. */
function stringEnd(text: string, from: number): number {
  let end = text.indexOf('"', from);
  while (end >= 0) {
    let slashes = 0;
    while (text.charCodeAt(end - 1 - slashes) === 92) slashes++;
    if (slashes % 2 === 0) return end;
    end = text.indexOf('"', end + 1);
  }
  return -1;
}
