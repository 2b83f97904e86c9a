import type { Matcher } from '../matching/matcher.ts';
import { Lane } from './lane.ts';
import { type Pausing, unpaced, type Work } from './pace.ts';
import { planSearches, type Search, type SearchPlan } from './search.ts';

/** A pattern to search for, and the name in its placeholder. */
export interface ScannedPattern {
  /** The name, shown as `error.metadata.patterns`, and in stages. */
  readonly name: string;
  readonly matcher: Matcher;
  /** Returns the text in the place of a match. Default: `placeholder`. */
  readonly replace?: (matched: string) => string;
}

/**
 * Called once for every match.
 * @param isTooMany  true: the text has more matches than the limit, and the rest was not searched
 * @param place      of the match; null: there are too many
 * @throws to refuse the text: nothing of the match has been released
 */
export type OnMatch<Pattern extends ScannedPattern> = (
  pattern: Pattern,
  isTooMany: boolean,
  place: Place | null,
) => void;

/** A part of the whole text. */
export interface Place {
  readonly start: number;
  readonly end: number;
}

interface Match extends Place {
  /** The place of its pattern in the list. */
  readonly by: number;
}

/** The text that replaces a match. */
export function placeholder(name: string): string {
  return `[REDACTED:${name}]`;
}

/** A longer text is searched in pieces of this many characters, so that the work can pause between them. */
const pieceChars = 8_192;

const plans = new WeakMap<readonly ScannedPattern[], SearchPlan>();

function planOf(patterns: readonly ScannedPattern[]): SearchPlan {
  let plan = plans.get(patterns);
  if (plan === undefined) {
    plan = planSearches(patterns.map(({ matcher }) => matcher));
    plans.set(patterns, plan);
  }
  return plan;
}

/**
 * Replaces the matches of patterns in a text that comes in pieces. The released text is the same wherever the text was
 * cut: a match is held back until its end is known, and so is a possible match. Overlapping matches are replaced
 * together, by the name of the first; of those that begin together, by the first of the patterns.
 */
export class Scanner<Pattern extends ScannedPattern> {
  readonly #patterns: readonly Pattern[];
  readonly #searches: readonly Search[];
  readonly #onMatch: OnMatch<Pattern>;
  readonly #pausing: Pausing;
  /** The end of the whole text, unchanged and folded; null: no pattern needs that form. */
  readonly #plain: Lane | null;
  readonly #folded: Lane | null;
  /** The part of the whole text that was not released. */
  #text = '';
  /** The number of characters that were released. */
  #released = 0;
  #matches: Match[] = [];

  constructor(patterns: readonly Pattern[], onMatch: OnMatch<Pattern>, pausing: Pausing = unpaced) {
    this.#patterns = patterns;
    this.#onMatch = onMatch;
    this.#pausing = pausing;
    const notes = {
      note: (start: number, end: number, by: number) => {
        this.#onMatch(patterns[by] as Pattern, false, { start, end });
        this.#matches.push({ start, end, by });
      },
      tooMany: (by: number) => this.#onMatch(patterns[by] as Pattern, true, null),
    };
    this.#searches = planOf(patterns).map((make) => make(notes));
    this.#plain = this.#searches.every(({ isFolded }) => isFolded) ? null : new Lane(false);
    this.#folded = this.#searches.some(({ isFolded }) => isFolded) ? new Lane(true) : null;
  }

  /** Takes more text. @returns the text that is released now */
  push(text: string): Work<string> {
    return this.#take(text, false);
  }

  /** Takes the last text. @returns the text, with all that was held back */
  end(text = ''): Work<string> {
    return this.#take(text, true);
  }

  /** true: some text is held back. */
  get holds(): boolean {
    return this.#text !== '';
  }

  *#take(text: string, isEnd: boolean): Work<string> {
    let released = '';
    for (let at = 0; at < text.length || (isEnd && at === 0); at += pieceChars) {
      const isLast = isEnd && at + pieceChars >= text.length;
      const piece = text.slice(at, at + pieceChars);
      this.#text += piece;
      for (const lane of [this.#plain, this.#folded]) lane?.append(piece, isLast);
      for (const search of this.#searches) yield* search.look(this.#laneOf(search), isLast, this.#pausing);
      released += this.#release(this.#decided(isLast), isLast);
      this.#forget();
    }
    return released;
  }

  #laneOf({ isFolded }: Search): Lane {
    return (isFolded ? this.#folded : this.#plain) as Lane;
  }

  /** The place before which all matches are known. */
  #decided(isEnd: boolean): number {
    const end = this.#released + this.#text.length;
    if (isEnd) return end;
    return this.#searches.reduce((least, search) => Math.min(least, search.decided(this.#laneOf(search))), end);
  }

  #release(decided: number, isEnd: boolean): string {
    const groups = merged(this.#matches);
    const open = groups.find(({ end }) => end > decided);
    let text = '';
    for (const { start, end, by } of groups) {
      if (end > decided || (open !== undefined && start >= open.start)) break;
      const { name, replace = () => placeholder(name) } = this.#patterns[by] as Pattern;
      text += this.#cut(start);
      text += replace(this.#cut(end));
    }
    // Kept in the order in which they were found: a later match may change which of them are merged.
    this.#matches = open === undefined ? [] : this.#matches.filter(({ start }) => start >= open.start);
    const until = Math.max(this.#released, Math.min(decided, open?.start ?? decided)) - this.#released;
    // A cut must not leave half a character.
    const isHalf = !isEnd && until > 0 && (this.#text.charCodeAt(until - 1) & 0xfc00) === 0xd800;
    return text + this.#cut(this.#released + until - (isHalf ? 1 : 0));
  }

  /** Takes the text up to a place out of the held text. */
  #cut(end: number): string {
    const cut = this.#text.slice(0, end - this.#released);
    this.#text = this.#text.slice(end - this.#released);
    this.#released = end;
    return cut;
  }

  /** Drops the text that no matcher reads any more. */
  #forget(): void {
    for (const lane of [this.#plain, this.#folded]) {
      if (lane === null) continue;
      const searches = this.#searches.filter((search) => this.#laneOf(search) === lane);
      lane.forget(searches.reduce((least, search) => Math.min(least, search.needs(lane)), lane.text.length));
    }
  }
}

/** Merges matches that overlap. */
function merged(matches: readonly Match[]): readonly Match[] {
  if (matches.length < 2) return matches;
  const groups: Match[] = [];
  for (const match of matches.toSorted((a, b) => a.start - b.start || a.by - b.by)) {
    const last = groups.at(-1);
    if (last === undefined || match.start >= last.end) groups.push(match);
    else if (match.end > last.end) groups[groups.length - 1] = { ...last, end: match.end };
  }
  return groups;
}
