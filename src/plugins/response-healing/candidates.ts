import { isSpace } from './quoted.ts';
import { type Reading, readLoose, type Unread } from './read-loose.ts';
import { type Guide, guideOf } from './schema-guide.ts';
import { type Steps, spend, spendQuick } from './steps.ts';

/** A text that may be the response that was asked for. */
export interface Candidate extends Reading {
  /** The text in which it stands: the response, or a string of the response. */
  source: string;
  isFenced: boolean;
}

/** The candidates in a text; `cut`: the last JSON of it ends too early. */
export interface Found {
  candidates: Candidate[];
  cut: string | null;
  isTooDeep: boolean;
}

const thoughtNames = 'think(?:ing)?|thoughts?|reason(?:ing)?|reflection|analysis|scratchpad|seed:think|inner_monologue';
/** The places where JSON may begin, fences, and the marks of thoughts. */
const marks = new RegExp(
  `[{[｛［]|\`\`\`|<(/?)(?:${thoughtNames})(?:\\s[^<>]{0,200})?>|\\[(/?)THINK\\]|([◁])(/?)think▷|<\\|(begin|end)_of_thought\\|>|<\\|channel\\|>(analysis|commentary|final)`,
  'gi',
);
const lastThoughtEnd = new RegExp(`</(?:${thoughtNames})>|\\[/THINK\\]|◁/think▷|<\\|end_of_thought\\|>`, 'gi');

/** Finds all JSON in a text, outside of thoughts, in order. Pauses after each one that was read. @throws OutOfSteps */
export function* candidatesIn(text: string, schema: object | null, steps: Steps): Generator<void, Found> {
  spendQuick(steps, text.length);
  // Some models write only the end mark of their thoughts.
  const from = /^\s*(?:[{[｛［"]|```)/.test(text) ? 0 : afterThoughts(text);
  const found = yield* scan(text, from, schema, steps);
  if (found.candidates.length > 0 || found.cut !== null || from === 0) return found;
  return yield* scan(text, 0, schema, steps);
}

function afterThoughts(text: string): number {
  let from = 0;
  for (const { 0: mark, index } of text.matchAll(lastThoughtEnd)) from = index + mark.length;
  return from;
}

function* scan(text: string, from: number, schema: object | null, steps: Steps): Generator<void, Found> {
  const guide = schema === null ? null : guideOf(schema, schema, steps);
  const implied = yield* impliedIn(text, from, guide, steps);
  if (implied !== null) return implied;
  let found: Found = { candidates: [], cut: null, isTooDeep: false };
  let isFenced = false;
  let isThought = false;
  const next = new RegExp(marks);
  next.lastIndex = from;
  for (let mark = next.exec(text); mark !== null; mark = next.exec(text)) {
    spend(steps, 1);
    const thought = thoughtOf(mark);
    if (thought !== null) {
      isThought = thought === 'begins';
      // The text before the end mark was a thought.
      if (thought === 'ends') found = { candidates: [], cut: null, isTooDeep: false };
    } else if (mark[0] === '```') isFenced = !isFenced;
    else if (!isThought) {
      const read = yield* readLoose(text, mark.index, null, steps);
      yield;
      if (isReading(read)) {
        found.candidates.push({ ...read, source: text, isFenced });
        if (read.brackets > 0 && guide !== null) {
          const guided = yield* readLoose(text, mark.index, guide, steps);
          if (isReading(guided)) found.candidates.push({ ...guided, source: text, isFenced });
        }
        next.lastIndex = Math.max(read.end, mark.index + 1);
      } else if (read === 'too deep') return { candidates: [], cut: null, isTooDeep: true };
      else if (read !== 'no JSON' && looksLikeJson(text, mark.index)) {
        found.cut = read.cut;
        // JSON within it is a part of the JSON that was cut. The end of a thought may follow.
        next.lastIndex = endOfThoughtAfter(text, mark.index);
      }
    }
  }
  if (isThought) found.cut ??= 'a thought';
  return found;
}

/** Reads an object without its first bracket, where the text begins with a name. */
function* impliedIn(text: string, from: number, guide: Guide | null, steps: Steps): Generator<void, Found | null> {
  const start = /^\s*(?:```\w*\s*)?(?=["'“][^"'“”\n]{1,100}["'”]\s*:)/.exec(text.slice(from))?.[0].length;
  if (start === undefined) return null;
  const read = yield* readLoose(text, from + start, null, steps, true);
  if (read === 'no JSON' || (isReading(read) && text.slice(read.end).trim() !== '')) return null;
  if (!isReading(read)) return { candidates: [], cut: cutOf(read), isTooDeep: read === 'too deep' };
  const guided = guide === null || read.brackets < 2 ? read : yield* readLoose(text, from + start, guide, steps, true);
  const readings = isReading(guided) && guided !== read ? [read, guided] : [read];
  return {
    candidates: readings.map((one) => ({ ...one, source: text, isFenced: false })),
    cut: null,
    isTooDeep: false,
  };
}

function thoughtOf(mark: RegExpExecArray): 'begins' | 'ends' | null {
  const [all, slash, square, triangle, triangleSlash, edge, channel] = mark;
  if (channel !== undefined) return channel.toLowerCase() === 'final' ? 'ends' : 'begins';
  if (edge !== undefined) return edge.toLowerCase() === 'end' ? 'ends' : 'begins';
  if (triangle !== undefined) return triangleSlash === '' ? 'begins' : 'ends';
  if (all.length < 4) return null;
  return (slash ?? square) === '' ? 'begins' : 'ends';
}

function endOfThoughtAfter(text: string, at: number): number {
  const ends = new RegExp(lastThoughtEnd);
  ends.lastIndex = at;
  const found = ends.exec(text);
  return found === null ? text.length : found.index;
}

function isReading(read: Reading | Unread): read is Reading {
  return typeof read === 'object' && 'tree' in read;
}

function cutOf(read: Unread): string | null {
  return typeof read === 'object' ? read.cut : null;
}

/** true: the text after a bracket may begin JSON. In prose, a word follows. */
function looksLikeJson(text: string, bracket: number): boolean {
  let at = bracket + 1;
  while (at < text.length && isSpace(text.charCodeAt(at))) at++;
  const rest = text.slice(at, at + 100);
  return text[bracket] === '[' || text[bracket] === '［'
    ? /^["'“„«「{[\d-]/.test(rest)
    : /^(?:["'“„«「]|[\w$]+\s*:|\/[/*]|$)/.test(rest);
}
