/** Follows a JSON text that comes in pieces, as far as it takes to know where it ends. */
export interface JsonExtent {
  add(piece: string): void;
  /** The text has come to an end: its brackets are closed, or it is a text, number or word of its own. */
  isWhole(): boolean;
  /** The text has begun. */
  readonly hasBegun: boolean;
}

const QUOTE = 34;
const BACKSLASH = 92;

export function jsonExtent(): JsonExtent {
  let depth = 0;
  let isInString = false;
  let isEscaped = false;
  let hasBegun = false;

  function see(code: number): void {
    if (isEscaped) isEscaped = false;
    else if (isInString) {
      if (code === QUOTE) isInString = false;
      else if (code === BACKSLASH) isEscaped = true;
    } else if (code === QUOTE) isInString = true;
    else if (code === 123 || code === 91) depth++;
    else if (code === 125 || code === 93) depth--;
    hasBegun ||= code > 32;
  }

  return {
    add(piece) {
      for (let at = 0; at < piece.length; at++) see(piece.charCodeAt(at));
    },
    isWhole: () => hasBegun && !isInString && depth <= 0,
    get hasBegun() {
      return hasBegun;
    },
  };
}
