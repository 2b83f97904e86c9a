/** Text that is not JSON, or JSON that nests deeper than allowed. */
export class JsonError extends Error {}

/**
 * `JSON.parse` with a bound on nesting: deeply nested input would overflow the stack of whatever walks it later.
 * @throws JsonError
 */
export function parseJson(text: string, maxDepth: number): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // V8 quotes the input in its message, and the input may hold a secret.
    throw new JsonError('not valid JSON');
  }
  // A level needs at least two characters.
  if (text.length > maxDepth * 2 && depthOf(text, maxDepth) > maxDepth) {
    throw new JsonError(`nested deeper than ${maxDepth} levels`);
  }
  return value;
}

/** Nesting of valid JSON, counted up to one past `limit`. Strings, which are most of a request, are jumped over. */
function depthOf(text: string, limit: number): number {
  let depth = 0;
  let deepest = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === 34) {
      i = stringEnd(text, i + 1);
    } else if (code === 123 || code === 91) {
      depth++;
      if (depth > deepest) {
        deepest = depth;
        if (deepest > limit) return deepest;
      }
    } else if (code === 125 || code === 93) depth--;
  }
  return deepest;
}

/** Whether a value that was parsed elsewhere nests deeper than `limit` levels. */
export function isDeeper(value: unknown, limit: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (limit === 0) return true;
  for (const key in value) if (isDeeper((value as Record<string, unknown>)[key], limit - 1)) return true;
  return false;
}

/** Index of the quote that closes the string whose content starts at `from`. */
function stringEnd(text: string, from: number): number {
  for (let end = text.indexOf('"', from); ; end = text.indexOf('"', end + 1)) {
    let slashes = 0;
    while (text.charCodeAt(end - 1 - slashes) === 92) slashes++;
    if (slashes % 2 === 0) return end;
  }
}
