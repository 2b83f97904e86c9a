import type { Findings } from './findings.ts';
import { isJsonText, jsonTokens, saidBy } from './json-text.ts';
import { type Pausing, unpaced, type Work } from './pace.ts';
import type { CompiledPattern, SplitPatterns } from './patterns.ts';
import { type OnMatch, type Place, placeholder, Scanner } from './scanner.ts';
import { type Kind, Walk } from './walk.ts';

/** The levels of JSON in strings of JSON that are checked as JSON. */
const jsonLevels = 4;
/** The most short texts that are remembered as clean, and their greatest length. */
const mostKnown = 1_000;
const mostKnownChars = 64;
/** The number of JSON tokens between two checks of the time. */
const tokensAtOnce = 256;

/** Searches for patterns in complete texts, at any place in a value. */
export class Texts {
  readonly #patterns: SplitPatterns;
  readonly #findings: Findings;
  readonly #pausing: Pausing;
  readonly #tooLong: (() => Error) | null;
  /** The characters that may still be checked. */
  #left: number;
  /** Short texts without a match: names of members, and numbers, repeat with every item of a list. */
  readonly #clean = new Set<string>();
  #tokens = 0;

  /** @param limit  the most characters to check, and the error for more. Absent: any number */
  constructor(
    patterns: SplitPatterns,
    findings: Findings,
    pausing: Pausing = unpaced,
    limit?: { chars: number; tooLong: () => Error },
  ) {
    this.#patterns = patterns;
    this.#findings = findings;
    this.#pausing = pausing;
    this.#left = limit?.chars ?? Number.POSITIVE_INFINITY;
    this.#tooLong = limit?.tooLong ?? null;
  }

  /** true: the work should pause now. */
  get isOver(): boolean {
    return this.#pausing.isOver;
  }

  /**
   * Redacts a text. JSON stays JSON, and a text in it is checked as its reader gets it, without escapes.
   * @returns the redacted text
   */
  *text(text: string): Work<string> {
    this.#count(text);
    return yield* this.#said(text, jsonLevels);
  }

  /** Checks a text that cannot be rewritten: a match that would be redacted is blocked. @param place  of the text */
  *fixed(text: string, place: () => string): Work<void> {
    this.#count(text);
    yield* this.#unchanged(text, place, jsonLevels);
  }

  /**
   * Checks everything in a value.
   * @param member  the name that the value has in its object
   * @param at      its place, for messages
   * @returns the same value if nothing in it changes; else a copy
   */
  *value<T>(
    value: T,
    member = '',
    kind: Kind = 'wire',
    at: readonly (string | number)[] = member ? [member] : [],
  ): Work<T> {
    return (yield* new Walk(this, at).value(value, member, kind)) as T;
  }

  /**
   * Checks a value that repeats a checked one: only findings that the other did not have count.
   * @returns the same value if nothing in it changes; else a copy
   */
  *again<T>(value: T, member: string): Work<T> {
    const findings = this.#findings.another();
    const left = yield* new Texts(this.#patterns, findings, this.#pausing).value(value, member);
    this.#findings.addMissing(findings);
    return left;
  }

  readonly #note = (pattern: CompiledPattern, isTooMany: boolean) => this.#findings.note(pattern, isTooMany);

  #count({ length }: string): void {
    this.#left -= length;
    if (this.#left < 0 && this.#tooLong !== null) throw this.#tooLong();
  }

  #remember(text: string): void {
    if (text.length <= mostKnownChars && this.#clean.size < mostKnown) this.#clean.add(text);
  }

  /** Called for each token: tells whether to pause. */
  #isTime(): boolean {
    this.#tokens++;
    return this.#tokens % tokensAtOnce === 0 && this.#pausing.isOver;
  }

  *#said(text: string, levels: number): Work<string> {
    if (this.#clean.has(text)) return text;
    if (levels > 0 && isJsonText(text)) return yield* this.#json(text, levels - 1);
    const { flagging, acting } = this.#patterns;
    let isClean = true;
    const note = (pattern: CompiledPattern, isTooMany: boolean) => {
      isClean = false;
      this.#note(pattern, isTooMany);
    };
    if (flagging.length > 0) yield* this.#scan(flagging, text, note);
    const left = acting.length === 0 ? text : yield* this.#scan(acting, text, note);
    if (isClean) this.#remember(text);
    return left;
  }

  *#unchanged(text: string, place: () => string, levels: number): Work<void> {
    if (this.#clean.has(text)) return;
    const { flagging, acting } = this.#patterns;
    let isClean = true;
    const note = (pattern: CompiledPattern) => {
      isClean = false;
      this.#findings.noteFixed(pattern, place());
    };
    for (const patterns of [flagging, acting]) if (patterns.length > 0) yield* this.#scan(patterns, text, note);
    if (levels > 0 && isJsonText(text))
      for (const { start, end } of jsonTokens(text)) {
        if (this.#isTime()) yield;
        const token = text.slice(start, end);
        // Without escapes, the token is the same text that was checked.
        for (const said of saidBy(token).spellings)
          if (!token.includes(said)) yield* this.#unchanged(said, place, levels - 1);
      }
    else if (isClean) this.#remember(text);
  }

  *#scan(patterns: readonly CompiledPattern[], text: string, onMatch: OnMatch<CompiledPattern>): Work<string> {
    return yield* new Scanner(patterns, onMatch, this.#pausing).end(text);
  }

  *#json(text: string, levels: number): Work<string> {
    let written = '';
    let at = 0;
    for (const { start, end } of jsonTokens(text)) {
      if (this.#isTime()) yield;
      const token = text.slice(start, end);
      written += text.slice(at, start) + (yield* this.#token(token, levels));
      at = end;
    }
    written += text.slice(at);
    // Finds matches that reach beyond a single string or number.
    const places = yield* this.#places(written);
    const [first] = places;
    if (first === undefined) return written;
    const without = withoutTokens(written, places);
    if ((yield* this.#places(without)).length === 0) return without;
    return JSON.stringify({ redacted: placeholder(first.pattern.name) });
  }

  /** Checks a token. A number that has to be redacted becomes a string. */
  *#token(token: string, levels: number): Work<string> {
    const { isNumber, spellings } = saidBy(token);
    for (const said of spellings) {
      const left = isNumber ? yield* this.#said(said, 0) : yield* this.#said(said, levels);
      if (left !== said) return JSON.stringify(left);
    }
    return token;
  }

  /** The places of matches that may not pass. */
  *#places(text: string): Work<readonly NamedPlace[]> {
    const places: NamedPlace[] = [];
    const { acting } = this.#patterns;
    if (acting.length > 0)
      yield* this.#scan(acting, text, (pattern, isTooMany, place) => {
        this.#note(pattern, isTooMany);
        if (place !== null) places.push({ ...place, pattern });
      });
    return places.sort((a, b) => a.start - b.start);
  }
}

interface NamedPlace extends Place {
  readonly pattern: CompiledPattern;
}

/** Redacts JSON: each string and each number that a match touches is replaced as a whole. */
function withoutTokens(text: string, places: readonly NamedPlace[]): string {
  let left = '';
  let at = 0;
  let next = 0;
  for (const { start, end } of jsonTokens(text)) {
    // A match that began before may reach this far.
    while (next < places.length && (places[next] as NamedPlace).end <= start) next++;
    const place = places[next];
    if (place === undefined) break;
    if (place.start >= end) continue;
    left += `${text.slice(at, start)}"${placeholder(place.pattern.name)}"`;
    at = end;
  }
  return left + text.slice(at);
}
