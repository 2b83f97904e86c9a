import { isObject } from '../../../base/values.ts';

/**
 * Finds the end of the arguments of a call while they come, cut anywhere. Each character is looked at once.
 */
export interface ArgumentsReader {
  push(text: string): void;
  /** true: an object is open, or nothing has come. More must follow before the arguments can be what a client reads. */
  isOpen(): boolean;
  /**
   * Tells whether the arguments are a complete object with fields, so that nothing more can be a part of it. An empty object is
   * none: some servers begin each call with `{}`, and send the arguments behind it.
   * @param text  all that was pushed
   */
  isWhole(text: string): boolean;
}

/**
 * - `before`: nothing but blanks has come
 * - `inside`: of the object
 * - `behind`: the object has ended
 * - `other`: it is no object, or something follows it
 */
type State = 'before' | 'inside' | 'behind' | 'other';

const quote = 34;
const backslash = 92;

export function argumentsReader(): ArgumentsReader {
  let state: State = 'before';
  let depth = 0;
  let inText = false;
  let isEscaped = false;
  /** true: the object that has ended is one that a client can read; null: nobody has looked. */
  let isValid: boolean | null = null;

  function inObject(code: number): void {
    if (inText) {
      if (isEscaped) isEscaped = false;
      else if (code === backslash) isEscaped = true;
      else if (code === quote) inText = false;
    } else if (code === quote) inText = true;
    else if (code === 123 || code === 91) depth++;
    else if ((code === 125 || code === 93) && --depth === 0) state = 'behind';
  }

  return {
    push(text) {
      for (let at = 0; at < text.length && state !== 'other'; at++) {
        const code = text.charCodeAt(at);
        if (state === 'inside') inObject(code);
        else if (isBlank(code)) continue;
        else if (state === 'before' && code === 123) {
          state = 'inside';
          depth = 1;
        } else state = 'other';
      }
    },
    isOpen: () => state === 'inside' || state === 'before',
    isWhole(text) {
      if (state !== 'behind') return false;
      isValid ??= hasFields(text);
      return isValid;
    },
  };
}

/** @see RFC 8259, section 2 */
function isBlank(code: number): boolean {
  return code === 32 || code === 10 || code === 13 || code === 9;
}

function hasFields(text: string): boolean {
  try {
    const parsed: unknown = JSON.parse(text);
    return isObject(parsed) && Object.keys(parsed).length > 0;
  } catch {
    // The model has written something else: only the end of the response tells that it is all.
    return false;
  }
}
