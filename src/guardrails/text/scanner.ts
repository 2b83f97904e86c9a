import { contextChars, type Found, type Matcher } from '../matching/matcher.ts';

/** A pattern that is looked for, and what stands in the place of its matches. */
export interface ScannedPattern {
  /** Shown as `error.metadata.patterns`, and in stages. */
  readonly name: string;
  readonly matcher: Matcher;
}

/**
 * Is told of every match, once.
 * @param isTooMany  true: the text has more matches than are looked for, and what follows is not known
 * @throws to refuse the text: nothing of the match has been released
 */
export type OnMatch<Pattern extends ScannedPattern> = (pattern: Pattern, isTooMany: boolean) => void;

interface Searched<Pattern> {
  readonly pattern: Pattern;
  /** Where to look from. */
  at: number;
  count: number;
}

interface Match {
  readonly start: number;
  readonly end: number;
  /** The place of its pattern in the list. */
  readonly by: number;
}

/**
 * Replaces the matches of patterns in a text that comes in pieces. What is released is the same wherever the text was
 * cut: a match is held back until it is known where it ends, and so is what could become one. Matches that overlap are
 * replaced together, by the name of the first; of those that begin together, the first of the patterns.
 */
export class Scanner<Pattern extends ScannedPattern> {
  readonly #searched: Searched<Pattern>[];
  readonly #onMatch: OnMatch<Pattern>;
  /** The end of the whole text: what was not released, with a little before it. */
  #text = '';
  /** How much of it was released. */
  #released = 0;
  #matches: Match[] = [];

  constructor(patterns: readonly Pattern[], onMatch: OnMatch<Pattern>) {
    this.#searched = patterns.map((pattern) => ({ pattern, at: 0, count: 0 }));
    this.#onMatch = onMatch;
  }

  /** Takes more text. @returns what is released now */
  push(text: string): string {
    if (text === '') return '';
    this.#text += text;
    return this.#search(false);
  }

  /** The last text comes. @returns it, with all that was held back */
  end(text = ''): string {
    this.#text += text;
    return this.#search(true);
  }

  /** Whether something is held back. */
  get holds(): boolean {
    return this.#released < this.#text.length;
  }

  #search(isEnd: boolean): string {
    let decided = this.#text.length;
    for (const [by, searched] of this.#searched.entries()) {
      this.#searchOne(searched, by, isEnd);
      decided = Math.min(decided, searched.at);
    }
    const released = this.#release(decided, isEnd);
    this.#forget();
    return released;
  }

  #searchOne(searched: Searched<Pattern>, by: number, isEnd: boolean): void {
    const { matcher } = searched.pattern;
    const { maxMatches = Number.POSITIVE_INFINITY } = matcher;
    while (searched.at < this.#text.length) {
      const found = searched.count < maxMatches ? matcher.next(this.#text, searched.at, isEnd) : nothingMore;
      if (found.kind === 'none') {
        searched.at = Math.max(searched.at, Math.min(found.decided, this.#text.length));
        return;
      }
      const { start, end } = found;
      searched.at = Math.max(end, start + 1);
      searched.count++;
      if (searched.count === maxMatches) this.#onMatch(searched.pattern, true);
      if (end === start) continue;
      this.#onMatch(searched.pattern, false);
      this.#matches.push({ start, end, by });
    }
  }

  /** @param decided  no match that is not known yet begins before */
  #release(decided: number, isEnd: boolean): string {
    const groups = merged(this.#matches);
    const open = groups.find(({ end }) => end > decided);
    let text = '';
    for (const { start, end, by } of groups) {
      if (end > decided || (open !== undefined && start >= open.start)) break;
      text += `${this.#text.slice(this.#released, start)}[REDACTED:${this.#searched[by]?.pattern.name}]`;
      this.#released = end;
    }
    // As they were found: what is found later may change which of them go together.
    this.#matches = open === undefined ? [] : this.#matches.filter(({ start }) => start >= open.start);
    let until = Math.max(this.#released, Math.min(decided, open?.start ?? decided));
    // Half a character is nothing that can be shown.
    if (!isEnd && until > this.#released && (this.#text.charCodeAt(until - 1) & 0xfc00) === 0xd800) until--;
    text += this.#text.slice(this.#released, until);
    this.#released = until;
    return text;
  }

  /** What was released is kept only as far as a matcher looks back. */
  #forget(): void {
    const from = this.#searched.reduce((least, { at }) => Math.min(least, at), this.#released) - contextChars;
    if (from <= 0) return;
    this.#text = this.#text.slice(from);
    this.#released -= from;
    for (const searched of this.#searched) searched.at -= from;
    this.#matches = this.#matches.map((match) => ({ ...match, start: match.start - from, end: match.end - from }));
  }
}

const nothingMore: Found = { kind: 'none', decided: Number.POSITIVE_INFINITY };

/** Matches that overlap, as one. */
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
