/**
 * Reads the input of a custom tool out of the arguments of a chat function, `{"input":"…"}`, while the model writes
 * them. The returned texts add up to the input.
 */
export interface InputDecoder {
  /** Adds more of the arguments, cut anywhere. @returns more of the input, possibly '' */
  push(text: string): string;
  /** Ends the arguments. @returns the rest of the input */
  end(): string;
}

/**
 * - `opening`: nothing is decided, and nothing was returned
 * - `string`: inside of the value of `input`
 * - `raw`: no JSON object; the text itself is the input
 * - `over`: the value has ended; the text behind it does not belong to the input
 */
type State = 'opening' | 'string' | 'raw' | 'over';

const opening = /^\s*\{\s*"input"\s*:\s*"/;
/** The texts that may still begin an object with `input`. */
const beginning = /^\s*(?:\{\s*(?:"(?:i(?:n(?:p(?:u(?:t(?:"\s*(?::\s*)?)?)?)?)?)?)?)?)?$/;
const objectBegins = /^\s*\{/;
const simpleEscapes: Readonly<Record<string, string>> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
};

export function inputDecoder(): InputDecoder {
  let state: State = 'opening';
  /**
   * The text that is held back. In `opening`: all of it. In `string`: an escape that is not complete, or the first half
   * of a surrogate pair.
   */
  let held = '';
  /** true: the beginning is of another form, which only the complete text tells. */
  let isOther = false;

  function open(text: string): string {
    held += text;
    if (isOther) return '';
    const match = opening.exec(held);
    if (match !== null) {
      const rest = held.slice(match[0].length);
      state = 'string';
      held = '';
      return decode(rest);
    }
    if (held.length < 4096 && beginning.test(held)) return '';
    if (objectBegins.test(held)) {
      isOther = true;
      return '';
    }
    state = 'raw';
    return release();
  }

  function release(): string {
    const text = held;
    held = '';
    return text;
  }

  function decode(text: string): string {
    const source = held + text;
    held = '';
    let decoded = '';
    let at = 0;
    while (at < source.length) {
      const next = nextMark(source, at);
      decoded += source.slice(at, next);
      if (next === source.length) break;
      if (source[next] === '"') {
        state = 'over';
        return decoded;
      }
      const escaped = readEscape(source, next);
      if (escaped === null) {
        held = source.slice(next);
        break;
      }
      decoded += escaped.text;
      at = next + escaped.length;
    }
    return withoutHalfPair(decoded);
  }

  /** Returns a text without half of a pair at its end: a client that joins bytes could not read it. */
  function withoutHalfPair(decoded: string): string {
    const last = decoded.charCodeAt(decoded.length - 1);
    if (last < 0xd800 || last > 0xdbff) return decoded;
    held = decoded.slice(-1) + held;
    return decoded.slice(0, -1);
  }

  return {
    push(text) {
      if (state === 'opening') return open(text);
      if (state === 'string') return decode(text);
      return state === 'raw' ? text : '';
    },
    end() {
      if (state !== 'opening') return release();
      return isOther ? (inputIn(held) ?? release()) : release();
    },
  };
}

/** Returns the place of the next quote or backslash; the length where there is none. */
function nextMark(source: string, from: number): number {
  for (let at = from; at < source.length; at++) {
    const code = source.charCodeAt(at);
    if (code === 34 || code === 92) return at;
  }
  return source.length;
}

/**
 * Reads the escape at a backslash. One that JSON does not know stands for itself: models forget to double a backslash.
 * @returns null: its end has not come yet
 */
function readEscape(source: string, at: number): { text: string; length: number } | null {
  const mark = source[at + 1];
  if (mark === undefined) return null;
  if (mark !== 'u') return { text: simpleEscapes[mark] ?? `\\${mark}`, length: 2 };
  const digits = /^[0-9a-fA-F]*/.exec(source.slice(at + 2, at + 6))?.[0] ?? '';
  if (digits.length === 4) return { text: String.fromCharCode(Number.parseInt(digits, 16)), length: 6 };
  return at + 2 + digits.length === source.length ? null : { text: '\\u', length: 2 };
}

/** Returns the `input` of arguments that begin with another field; null: there is none. */
function inputIn(json: string): string | null {
  try {
    const parsed: unknown = JSON.parse(json);
    const input = (parsed as { input?: unknown } | null)?.input;
    return typeof input === 'string' ? input : null;
  } catch {
    // The model has written something else than JSON: that is its input.
    return null;
  }
}
