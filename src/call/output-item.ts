import type { ChunkDelta } from '../schema/chat/chunk.ts';
import type { NativeObject } from './native.ts';

/**
 * The output item that a delta of a Responses upstream is a part of, where the client speaks Responses too: chat
 * completions have no place for it.
 */
export interface OutputItem {
  /** `output_index` in the upstream's response. */
  readonly index: number;
  /**
   * The item as it was announced, with its `type`, its `id` and its other fields, such as `phase`, `namespace` or
   * `call_id`; its texts, such as `content` and `arguments`, are in the deltas. For an `opaque` item, the complete
   * item.
   */
  readonly item: NativeObject;
  /** true: the delta is the last of the item. */
  readonly isDone?: boolean;
  /**
   * true: no field of a delta can hold the item, such as a `web_search_call`. It is passed on as it is. `item` is the
   * announced item, and with `isDone` the complete one.
   */
  readonly isOpaque?: boolean;
  /**
   * The event of an opaque item that has events of its own, such as `response.web_search_call.searching`, as it came.
   */
  readonly event?: NativeObject;
}

/**
 * The symbol of the field. No JSON has it, so no upstream can make one up, and no client of chat completions gets it.
 */
const outputItem = Symbol('output item');
/** The deltas of each message, by its identity: a changed copy has none. */
const outputDeltas = new WeakMap<object, { deltas: readonly OutputDelta[]; texts: readonly string[] }>();

/** Returns the delta, with the item that it is a part of. */
export function withOutputItem<Delta extends object>(delta: Delta, item: OutputItem): Delta {
  return Object.assign(delta, { [outputItem]: item });
}

/** Returns the item of a delta; null: the upstream does not speak Responses, or the client does not. */
export function outputItemOf(delta: object): OutputItem | null {
  return (delta as { [outputItem]?: OutputItem })[outputItem] ?? null;
}

/** A step of a response: a delta, and the probabilities of the tokens in its text. */
export interface OutputDelta {
  readonly delta: ChunkDelta;
  readonly logprobs?: readonly unknown[] | null;
}

/** Returns a complete message, with the deltas that a stream would have sent of it, each with its output item. */
export function withOutputDeltas<Message extends object>(message: Message, deltas: readonly OutputDelta[]): Message {
  outputDeltas.set(message, { deltas, texts: textsIn(message) });
  return message;
}

/**
 * Returns the deltas of a message; null: the message was not made of output items, or a plugin has replaced or changed
 * it since.
 */
export function outputDeltasOf(message: object): readonly OutputDelta[] | null {
  const made = outputDeltas.get(message);
  if (made === undefined) return null;
  const texts = textsIn(message);
  const isUnchanged = texts.length === made.texts.length && texts.every((text, at) => text === made.texts[at]);
  return isUnchanged ? made.deltas : null;
}

/** Returns all texts of a message, which a guardrail may change in place. */
function textsIn(value: unknown, texts: string[] = []): string[] {
  if (typeof value === 'string') texts.push(value);
  else if (typeof value === 'object' && value !== null) for (const inner of Object.values(value)) textsIn(inner, texts);
  return texts;
}
