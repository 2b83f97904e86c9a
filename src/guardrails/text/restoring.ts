import type { TextMatcher } from '../matching/matcher.ts';
import { Findings } from './findings.ts';
import type { SplitPatterns } from './patterns.ts';

/** The beginning of a placeholder, and the most characters behind it: a name of a pattern, `#` and a number. */
const opening = '[REDACTED:';
const mostCharsBehind = 64 + 16;

/**
 * The texts that were taken out of one request, by their placeholders. It lives as long as the request, in memory alone.
 * The same text has the same placeholder, and the numbers follow the order of the texts: the next turn of a conversation
 * has the same ones, so that caches of the provider hit.
 */
export class TakenTexts {
  readonly #placeholders = new Map<string, string>();
  readonly #texts = new Map<string, string>();
  readonly #counts = new Map<string, number>();

  /** true: nothing was taken out. */
  get isEmpty(): boolean {
    return this.#texts.size === 0;
  }

  /** Takes a text. @returns its placeholder */
  placeholder(name: string, text: string): string {
    const key = `${name} ${text}`;
    const known = this.#placeholders.get(key);
    if (known !== undefined) return known;
    const count = (this.#counts.get(name) ?? 0) + 1;
    this.#counts.set(name, count);
    // No name has a #, so that no other placeholder is the same.
    const made = `${opening}${name}#${count}]`;
    this.#placeholders.set(key, made);
    this.#texts.set(made, text);
    return made;
  }

  /** Returns the patterns of a request: matches of those that restore get a placeholder of their own. */
  taking({ acting, flagging }: SplitPatterns): SplitPatterns {
    const own = acting.map((pattern) =>
      pattern.restores === true
        ? { ...pattern, replace: (text: string) => this.placeholder(pattern.name, text) }
        : pattern,
    );
    return { acting: own, flagging };
  }

  /** Returns the pattern that finds the placeholders in a response, and puts the texts in their place. */
  restoring(): SplitPatterns {
    const matcher = placeholderMatcher((placeholder) => this.#texts.has(placeholder));
    const replace = (placeholder: string) => this.#texts.get(placeholder) ?? placeholder;
    return { acting: [{ name: 'restored', action: 'redact', matcher, replace, steps: 0 }], flagging: [] };
  }
}

/** Finds placeholders that are known. */
function placeholderMatcher(isKnown: (text: string) => boolean): TextMatcher {
  return {
    kind: 'text',
    next(text, from, isEnd) {
      for (let at = text.indexOf(opening, from); at >= 0; at = text.indexOf(opening, at + 1)) {
        const most = at + opening.length + mostCharsBehind;
        const close = text.indexOf(']', at + opening.length);
        if (close >= 0 && close < most && isKnown(text.slice(at, close + 1)))
          return { kind: 'match', start: at, end: close + 1 };
        if (close < 0 && text.length < most && !isEnd) return { kind: 'none', decided: at };
      }
      return { kind: 'none', decided: isEnd ? text.length : text.length - openChars(text, from) };
    },
  };
}

/** The number of characters at the end of a text that may be the beginning of a placeholder. */
function openChars(text: string, from: number): number {
  for (let length = Math.min(opening.length - 1, text.length - from); length > 0; length--)
    if (text.endsWith(opening.slice(0, length))) return length;
  return 0;
}

/** The findings of placeholders: none refuses a response, wherever it stands. */
export class RestoredFindings extends Findings {
  override noteFixed(): void {}
}
