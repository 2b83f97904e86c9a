import { isObject, type Loose } from '../../base/values.ts';
import type { OutputItem } from '../../call/output-item.ts';
import type { Logprobs, ReasoningDetail } from '../../schema/chat/chat.ts';
import type { ChunkDelta } from '../../schema/chat/chunk.ts';
import { argumentsText, badResponse, toolCallIds } from '../shared/values.ts';
import { annotationOf, imageOf, logprobsOf } from './shapes.ts';

/** An addition to the message, in our wire shape. */
export interface Addition {
  delta: ChunkDelta;
  /** The probabilities of the text in `delta`. */
  logprobs?: NonNullable<Logprobs['content']>;
  /** The item that it is a part of, where the client speaks Responses. */
  item?: OutputItem;
}

/**
 * The kind of an item's text:
 * - `text`, `refusal`: parts of a message
 * - `summary`, `thought`: parts of a reasoning item
 * - `arguments`: of a call
 */
export type TextKind = 'text' | 'refusal' | 'summary' | 'thought' | 'arguments';

/** Reads output items, complete or piece by piece. Does not add anything twice. */
export interface OutputReader {
  /** Begins an item. */
  open(index: number, item: Loose): Addition[];
  /** Adds text of a part of an item. */
  more(index: number, kind: TextKind, part: number, text: string, logprobs?: unknown): Addition[];
  /** Takes the complete text of a part: adds the missing rest. */
  complete(index: number, kind: TextKind, part: number, text: unknown, logprobs?: unknown): Addition[];
  /** Adds a note on the text of a part. */
  annotate(index: number, part: number, annotation: unknown): Addition[];
  /** Takes the complete item: adds the missing rest. */
  close(index: number, item: Loose): Addition[];
  /**
   * true: a complete response holds more of an item than its own events did. The item was begun and not completed, or
   * there are more items than were seen.
   * @param total  the number of items
   */
  lacks(index: number, total: number): boolean;
  /** true: the model calls a tool of the caller's. */
  hasCalls(): boolean;
  /** Returns the number of the provider's searches of the web. */
  searches(): number;
  /** Takes an event of an item that no field of a chat completion can hold. */
  event?(index: number, event: Loose): Addition[];
  /** Ends the items that were begun and never completed. */
  end?(): Addition[];
}

interface Part {
  /** The number of characters that were added. */
  sent: number;
  /** The number of notes that were added. */
  annotations: number;
  /** For `text`, the place where it starts in the content. For `summary` and `thought`, the index of its detail. */
  at: number;
}

interface Item {
  id: string | null;
  isClosed: boolean;
  /** The index of the tool call; null: none, or its name is not known yet. */
  call: number | null;
  /** The number of characters of its text that were added. */
  length: number;
  parts: Map<string, Part>;
}

/** The gap between messages, and between thoughts, which would read as one word without it. */
const gap = '\n\n';
const callTypes: readonly unknown[] = ['function_call', 'custom_tool_call'];

/** true: an item is a call of a tool of the caller's. */
export function isCall(type: unknown): boolean {
  return callTypes.includes(type);
}

/**
 * @param format   the `format` of reasoning details
 * @param isApart  true: the client gets items, so that no gap has to stand between their texts, and places in a text
 *   count from the beginning of the item
 */
export function outputReader(format: string, isApart = false): OutputReader {
  const items = new Map<number, Item>();
  const ids = toolCallIds();
  let contentLength = 0;
  let contentItem = -1;
  let thoughtPart: Part | null = null;
  /** The place of the next detail. Messages and calls take a number too: see `itemsOfDetails`. */
  let place = 0;
  let hasMessage = false;
  let calls = 0;
  let searches = 0;

  function itemAt(index: number): Item {
    let item = items.get(index);
    if (item === undefined) {
      item = { id: null, isClosed: false, call: null, length: 0, parts: new Map() };
      items.set(index, item);
    }
    return item;
  }

  function partOf(item: Item, kind: TextKind, number: number): Part {
    const key = `${kind} ${number}`;
    let part = item.parts.get(key);
    if (part === undefined) {
      const isThought = kind === 'summary' || kind === 'thought';
      part = { sent: 0, annotations: 0, at: isThought ? place++ : -1 };
      item.parts.set(key, part);
    }
    return part;
  }

  function open(index: number, raw: Loose): Addition[] {
    const item = itemAt(index);
    if (typeof raw.id === 'string') item.id ??= raw.id;
    if (raw.type === 'message' && !hasMessage) {
      hasMessage = true;
      place++;
    }
    if (!isCall(raw.type) || item.call !== null || typeof raw.name !== 'string') return [];
    item.call = calls++;
    place++;
    const call = {
      index: item.call,
      id: ids.take(raw.call_id) ?? ids.make(item.call),
      type: 'function' as const,
      function: { name: raw.name, arguments: '' },
    };
    return [{ delta: { tool_calls: [call] } }];
  }

  function more(index: number, kind: TextKind, number: number, text: string, logprobs?: unknown): Addition[] {
    const item = itemAt(index);
    if (text === '' || item.isClosed) return [];
    if (kind === 'arguments') return moreArguments(item, text);
    const part = partOf(item, kind, number);
    const isFirst = part.sent === 0;
    part.sent += text.length;
    if (kind === 'refusal') return [{ delta: { refusal: text } }];
    if (kind !== 'text') return [{ delta: thought(item, kind, part, text) }];
    const content = contentItem !== index && contentLength > 0 && !isApart ? gap + text : text;
    contentItem = index;
    if (isFirst) part.at = (isApart ? item.length : contentLength) + content.length - text.length;
    contentLength += content.length;
    item.length += text.length;
    const entries = logprobsOf(logprobs);
    return [{ delta: { content }, ...(entries === null ? {} : { logprobs: entries }) }];
  }

  function thought(item: Item, kind: TextKind, part: Part, text: string): ChunkDelta {
    const isNext = thoughtPart !== null && thoughtPart !== part && !isApart;
    thoughtPart = part;
    const detail: ReasoningDetail =
      kind === 'summary' ? { type: 'reasoning.summary', summary: text } : { type: 'reasoning.text', text };
    return { reasoning: isNext ? gap + text : text, reasoning_details: [withPlace(detail, item.id, part.at)] };
  }

  function withPlace(detail: ReasoningDetail, id: string | null, at: number): ReasoningDetail {
    return { ...detail, ...(id === null ? {} : { id }), format, index: at };
  }

  function moreArguments(item: Item, text: string): Addition[] {
    // The call that the arguments belong to is not known yet: the complete item tells it.
    if (item.call === null) return [];
    partOf(item, 'arguments', 0).sent += text.length;
    return [{ delta: { tool_calls: [{ index: item.call, function: { arguments: text } }] } }];
  }

  function complete(index: number, kind: TextKind, number: number, text: unknown, logprobs?: unknown): Addition[] {
    if (typeof text !== 'string' || text === '') return [];
    const { sent } = partOf(itemAt(index), kind, number);
    return text.length > sent ? more(index, kind, number, text.slice(sent), sent === 0 ? logprobs : undefined) : [];
  }

  function annotate(index: number, number: number, raw: unknown): Addition[] {
    const item = itemAt(index);
    if (item.isClosed) return [];
    const part = partOf(item, 'text', number);
    part.annotations++;
    const annotation = annotationOf(raw, Math.max(part.at, 0));
    return annotation === null ? [] : [{ delta: { annotations: [annotation] } }];
  }

  function close(index: number, raw: Loose): Addition[] {
    const item = itemAt(index);
    if (item.isClosed) return [];
    const added = [...open(index, raw), ...rest(index, item, raw)];
    item.isClosed = true;
    return added;
  }

  function rest(index: number, item: Item, raw: Loose): Addition[] {
    if (raw.type === 'message') return restOfMessage(index, item, raw);
    if (raw.type === 'reasoning') return restOfReasoning(index, item, raw);
    if (isCall(raw.type)) return restOfCall(index, item, raw);
    if (raw.type === 'web_search_call' && isSearch(raw)) searches++;
    const image = raw.type === 'image_generation_call' ? imageOf(raw) : null;
    return image === null ? [] : [{ delta: { images: [image] } }];
  }

  function restOfMessage(index: number, item: Item, raw: Loose): Addition[] {
    return objectsIn(raw.content).flatMap((part, number) => {
      if (part.type === 'refusal') return complete(index, 'refusal', number, part.refusal);
      if (part.type !== 'output_text') return [];
      const added = complete(index, 'text', number, part.text, part.logprobs);
      const noted = partOf(item, 'text', number).annotations;
      const missing = Array.isArray(part.annotations) ? part.annotations.slice(noted) : [];
      for (const annotation of missing) added.push(...annotate(index, number, annotation));
      return added;
    });
  }

  function restOfReasoning(index: number, item: Item, raw: Loose): Addition[] {
    const added = objectsIn(raw.summary).flatMap(({ text }, number) => complete(index, 'summary', number, text));
    added.push(...objectsIn(raw.content).flatMap(({ text }, number) => complete(index, 'thought', number, text)));
    const { encrypted_content: data } = raw;
    if (typeof data !== 'string' || data === '') return added;
    // An encrypted part is bound to the id that comes with it.
    const id = typeof raw.id === 'string' ? raw.id : item.id;
    const detail = withPlace({ type: 'reasoning.encrypted', data }, id, place++);
    added.push({ delta: { reasoning_details: [detail] } });
    return added;
  }

  function restOfCall(index: number, item: Item, raw: Loose): Addition[] {
    if (item.call === null) throw badResponse('The provider responded with a tool call that names no function.');
    const isInput = raw.type === 'custom_tool_call';
    const text = argumentsText(isInput ? raw.input : raw.arguments);
    const added = complete(index, 'arguments', 0, text);
    if (isInput && isApart) return added;
    // Clients parse the arguments: those of a function without any are an empty object.
    return partOf(item, 'arguments', 0).sent === 0 ? moreArguments(item, '{}') : added;
  }

  return {
    open,
    more,
    complete,
    annotate,
    close,
    lacks(index, total) {
      const item = items.get(index);
      return item === undefined ? items.size < total : !item.isClosed;
    },
    hasCalls: () => calls > 0,
    searches: () => searches,
  };
}

/** true: the call is a search. Opening a page that was found is none. */
function isSearch({ action }: Loose): boolean {
  return !isObject(action) || action.type === undefined || action.type === 'search';
}

/** Returns the objects of a list. The places of the others are kept. */
function objectsIn(list: unknown): Loose[] {
  return Array.isArray(list) ? list.map((one) => (isObject(one) ? one : {})) : [];
}
