import { LiteralSet } from '../matching/literals.ts';
import { contextChars, type Matcher, type TextMatcher } from '../matching/matcher.ts';
import type { Lane } from './lane.ts';
import type { Pausing, Work } from './pace.ts';

/** Called for a match, with its place in the whole text and the number of its pattern. */
export type Note = (start: number, end: number, by: number) => void;
/** Called when a pattern has too many matches and is not searched any further. */
export type NoteTooMany = (by: number) => void;

/** The search for one pattern, or for several at once, in one text that comes in pieces. */
export interface Search {
  readonly isFolded: boolean;
  /** Searches the text that has come so far. */
  look(lane: Lane, isEnd: boolean, pausing: Pausing): Work<void>;
  /** The place in the lane from which the search needs the text. */
  needs(lane: Lane): number;
  /** The place in the whole text before which every match is known. */
  decided(lane: Lane): number;
}

export interface Notes {
  note: Note;
  tooMany: NoteTooMany;
}

/** The searches for patterns, prepared once. */
export type SearchPlan = readonly ((notes: Notes) => Search)[];

/** Plans the searches. All literals are one search, in the place of the first of them. */
export function planSearches(matchers: readonly Matcher[]): SearchPlan {
  const plan: ((notes: Notes) => Search)[] = [];
  const literals = new Map<boolean, { literal: string; by: number }[]>();
  for (const [by, matcher] of matchers.entries()) {
    if (matcher.kind === 'text') {
      plan.push((notes) => new MatcherSearch(matcher, by, notes));
      continue;
    }
    const known = literals.get(matcher.ignoresCase);
    if (known !== undefined) known.push({ literal: matcher.literal, by });
    else literals.set(matcher.ignoresCase, [{ literal: matcher.literal, by }]);
  }
  for (const [ignoresCase, of] of literals) {
    const set = new LiteralSet(of, ignoresCase);
    plan.unshift((notes) => new LiteralSearch(set, notes));
  }
  return plan;
}

class MatcherSearch implements Search {
  readonly isFolded: boolean;
  readonly #matcher: TextMatcher;
  readonly #by: number;
  readonly #notes: Notes;
  /** The place in the lane at which the search goes on. */
  #at = 0;
  #count = 0;

  constructor(matcher: TextMatcher, by: number, notes: Notes) {
    this.#matcher = matcher;
    this.isFolded = matcher.isFolded === true;
    this.#by = by;
    this.#notes = notes;
  }

  *look(lane: Lane, isEnd: boolean, pausing: Pausing): Work<void> {
    const { maxMatches = Number.POSITIVE_INFINITY } = this.#matcher;
    const { text, base } = lane;
    let at = this.#at - base;
    while (at < text.length) {
      if (pausing.isOver) yield;
      if (this.#count >= maxMatches) {
        at = text.length;
        break;
      }
      const found = this.#matcher.next(text, at, isEnd);
      if (found.kind !== 'match') {
        at = Math.max(at, Math.min(found.decided, text.length));
        if (found.kind === 'more') continue;
        break;
      }
      const { start, end } = found;
      at = Math.max(end, start + 1);
      this.#count++;
      if (this.#count === maxMatches) this.#notes.tooMany(this.#by);
      if (end > start) this.#notes.note(lane.startOf(start), lane.endOf(end), this.#by);
    }
    this.#at = base + at;
  }

  needs({ base }: Lane): number {
    return this.#at - base - contextChars;
  }

  decided(lane: Lane): number {
    return lane.startOf(this.#at - lane.base);
  }
}

class LiteralSearch implements Search {
  readonly isFolded = false;
  readonly #set: LiteralSet;
  readonly #notes: Notes;
  /** By literal: the end of its last match. Matches of one literal do not overlap. */
  readonly #until = new Map<number, number>();
  #node = 0;
  /** The place up to which the text was searched. */
  #at = 0;
  #isEnd = false;

  constructor(set: LiteralSet, notes: Notes) {
    this.#set = set;
    this.#notes = notes;
  }

  *look({ text, base }: Lane, isEnd: boolean, pausing: Pausing): Work<void> {
    if (pausing.isOver) yield;
    this.#node = this.#set.walk(text, this.#at - base, this.#node, ({ literal, by }, end) => {
      const start = base + end - literal.length;
      if (start < (this.#until.get(by) ?? 0)) return;
      this.#until.set(by, base + end);
      this.#notes.note(start, base + end, by);
    });
    this.#at = base + text.length;
    this.#isEnd = isEnd;
  }

  needs({ base }: Lane): number {
    return this.#at - base;
  }

  decided(): number {
    return this.#isEnd ? this.#at : this.#at - this.#set.openAt(this.#node);
  }
}
