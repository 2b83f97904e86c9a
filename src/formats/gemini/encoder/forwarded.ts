import { keepExact, stringifyExact } from '../../../base/exact-json.ts';
import { stringEnd } from '../../../base/json.ts';
import { isObject, type Loose } from '../../../base/values.ts';
import type { ResponseHead } from '../../../call/response-encoder.ts';

/** The field of a call with its arguments, whose numbers keep their digits. */
const argumentFields: ReadonlySet<string> = new Set(['args']);

/** The facts of a response that stand in each of its events. */
type Head = Pick<ResponseHead, 'id' | 'model'>;

/**
 * The events of an upstream that speaks this wire, on their way to the client as they came: the name of the model and the id
 * are replaced. An event with a call, or with the end of a candidate, waits until the response is known to be complete, and
 * so do those behind it.
 */
export class ForwardedEvents {
  readonly #held: string[] = [];
  /** The candidates of which an event waits. */
  readonly #waiting = new Set<number>();
  readonly #ended = new Set<number>();
  /** true: the last event that was read has both facts itself, not in something inside. Others of its stream have too. */
  #isHeaded = false;

  /** @returns the event as one line of JSON; null: it waits */
  take(data: string, head: Head): string | null {
    const isPlain = this.#isHeaded && this.#held.length === 0 && !/"(?:functionCall|finishReason)"/.test(data);
    const fast = isPlain ? replaced(data, head) : null;
    if (fast !== null) return fast;
    const event = JSON.parse(data) as Loose;
    this.#isHeaded = typeof event.modelVersion === 'string' && typeof event.responseId === 'string';
    const json = this.#written(event, data, head);
    if (!this.#mustWait(event)) return json;
    this.#held.push(json);
    return null;
  }

  /** true: the end of a candidate is among the events that wait. */
  hasEnd(index: number): boolean {
    return this.#ended.has(index);
  }

  /** @returns the events that have waited. @param more  fields of the gateway's own, for the last one */
  end(more: Loose): string[] {
    const last = this.#held.at(-1);
    if (last === undefined || Object.keys(more).length === 0) return this.#held;
    // Each event is an object with fields.
    return [...this.#held.slice(0, -1), `${last.trimEnd().slice(0, -1)},${JSON.stringify(more).slice(1)}`];
  }

  #written(event: Loose, data: string, head: Head): string {
    const own = this.#isHeaded ? replaced(data, head) : null;
    if (own !== null) return own;
    keepExact(event, data, argumentFields);
    return stringifyExact({ ...event, modelVersion: head.model, responseId: head.id });
  }

  #mustWait({ candidates }: Loose): boolean {
    const all = Array.isArray(candidates) ? candidates.filter(isObject) : [];
    if (all.length === 0) return this.#held.length > 0;
    let mustWait = false;
    for (const [position, candidate] of all.entries()) {
      const index = typeof candidate.index === 'number' ? candidate.index : position;
      const ends = candidate.finishReason !== undefined && candidate.finishReason !== null;
      if (ends) this.#ended.add(index);
      if (ends || hasCall(candidate)) this.#waiting.add(index);
      if (this.#waiting.has(index)) mustWait = true;
    }
    return mustWait;
  }
}

function hasCall({ content }: Loose): boolean {
  const parts = isObject(content) ? content.parts : null;
  return Array.isArray(parts) && parts.some((part) => isObject(part) && part.functionCall !== undefined);
}

/**
 * Replaces the name of the model and the id of a response, and nothing else: the bytes around them stay.
 * @param data  valid JSON
 * @returns null: one of them does not stand there exactly once, as a text
 */
function replaced(data: string, { id, model }: Head): string | null {
  const ofModel = textBehind(data, '"modelVersion"');
  const ofId = textBehind(data, '"responseId"');
  if (ofModel < 0 || ofId < 0) return null;
  return ofModel < ofId ? withTexts(data, ofModel, model, ofId, id) : withTexts(data, ofId, id, ofModel, model);
}

/** Replaces two texts. They are joined once: a text of many pieces is made flat by whoever reads it next. */
function withTexts(data: string, at: number, text: string, laterAt: number, later: string): string {
  const between = data.slice(stringEnd(data, at + 1) + 1, laterAt);
  const behind = data.slice(stringEnd(data, laterAt + 1) + 1);
  return data.slice(0, at) + JSON.stringify(text) + between + JSON.stringify(later) + behind;
}

const colon = /\s*:\s*/y;

/**
 * The place of the text behind a name; -1: the name stands there never, several times, or before another value.
 * @param name  in quotes, which are escaped inside a text: so it never stands in one
 */
function textBehind(data: string, name: string): number {
  let found = -1;
  for (let at = data.indexOf(name); at >= 0; at = data.indexOf(name, at + name.length)) {
    colon.lastIndex = at + name.length;
    // A text may be the same as the name.
    if (!colon.test(data)) continue;
    if (data[colon.lastIndex] !== '"' || found >= 0) return -1;
    found = colon.lastIndex;
  }
  return found;
}
