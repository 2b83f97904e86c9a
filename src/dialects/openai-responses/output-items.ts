import { type Loose, without } from '../../base/values.ts';
import type { OutputItem } from '../../call/output-item.ts';
import type { Reading } from '../dialect.ts';
import { type Addition, isCall, type OutputReader, outputReader, type TextKind } from './output.ts';
import { formatOf, type ResponsesQuirks } from './quirks.ts';

/**
 * Makes the reader of one response. For a client that speaks Responses, each addition names the item that it is a part
 * of.
 */
export function readerFor(quirks: ResponsesQuirks, reading: Reading | undefined): OutputReader {
  const format = formatOf(quirks);
  return reading?.outputItems === true ? withItems(outputReader(format, true)) : outputReader(format);
}

/** An item as the client is told of it. */
interface Told {
  /** The type of the item, or `call`: it tells the item from others of the same index. */
  readonly kind: string;
  /** The number of the item in the order in which the items were begun. The client's indices are made of it. */
  readonly number: number;
  item: Loose;
  readonly isOpaque: boolean;
  isDone: boolean;
}

const texts: Readonly<Record<TextKind, string>> = {
  text: 'message',
  refusal: 'message',
  summary: 'reasoning',
  thought: 'reasoning',
  arguments: 'call',
};
/** The most kinds of items that an index may have; a provider gives one. */
const mostKinds = 4;
/** The fields of an item that deltas hold. */
const inDeltas: readonly string[] = ['content', 'summary', 'encrypted_content', 'arguments', 'input'];

/**
 * Adds to everything that a reader reads the item that it is a part of. An item is told apart by its index and its
 * kind, and keeps the id with which it was announced. So one that comes under two ids, or as two kinds, is never two
 * halves of an item to the client. One that was not announced is announced, and each ends exactly once.
 */
function withItems(reader: OutputReader): OutputReader {
  const byIndex = new Map<number, Told[]>();
  let count = 0;

  function find(index: number, kind: string): Told | undefined {
    const known = byIndex.get(index);
    if (known === undefined) return undefined;
    return known.find((one) => one.kind === kind) ?? (known.length < mostKinds ? undefined : known.at(-1));
  }

  function tell(index: number, kind: string, raw: Loose): Told {
    const isOpaque = kind !== 'message' && kind !== 'reasoning' && kind !== 'call';
    const told: Told = {
      kind,
      number: count++,
      item: isOpaque ? raw : without(inDeltas, raw),
      isOpaque,
      isDone: false,
    };
    const others = byIndex.get(index);
    if (others === undefined) byIndex.set(index, [told]);
    else others.push(told);
    return told;
  }

  function itemOf({ number, item, isOpaque }: Told, more: Partial<OutputItem> = {}): OutputItem {
    return { index: number, item, ...(isOpaque ? { isOpaque } : {}), ...more };
  }

  function mark(told: Told, additions: readonly Addition[]): Addition[] {
    if (told.isDone) return [];
    const item = itemOf(told);
    return additions.map((addition) => ({ ...addition, item }));
  }

  /** Reads a text of an item. The text announces an item that was not announced. */
  function ofText(index: number, kind: TextKind, additions: readonly Addition[]): Addition[] {
    if (additions.length === 0) return [];
    const type = texts[kind];
    const told = find(index, type) ?? tell(index, type, type === 'message' ? { type, role: 'assistant' } : { type });
    return mark(told, additions);
  }

  function open(index: number, raw: Loose): Addition[] {
    const kind = kindOf(raw);
    const additions = reader.open(index, raw);
    if (kind === null) return [];
    const known = find(index, kind);
    if (known !== undefined) return mark(known, additions);
    // A call is not announced before its name is known.
    if (kind === 'call' && additions.length === 0) return [];
    const told = tell(index, kind, raw);
    return mark(told, told.isOpaque || additions.length === 0 ? [{ delta: {} }] : additions);
  }

  function close(index: number, raw: Loose): Addition[] {
    const kind = kindOf(raw);
    const additions = reader.close(index, raw);
    const others = (byIndex.get(index) ?? []).filter((one) => one.kind !== kind);
    if (kind === null) return others.flatMap(done);
    const told = find(index, kind) ?? tell(index, kind, raw);
    const { id } = told.item;
    const whole = told.isOpaque ? raw : without(inDeltas, raw);
    const added = told.isOpaque ? [] : mark(told, additions);
    if (!told.isDone) told.item = { ...told.item, ...whole, ...(id === undefined ? {} : { id }) };
    // The other items that the index stood for end first.
    return [...others.flatMap(done), ...ended(told, added)];
  }

  /** Returns the additions, of which the last one ends the item. */
  function ended(told: Told, additions: Addition[]): Addition[] {
    if (told.isDone) return [];
    told.isDone = true;
    const last = additions.pop() ?? { delta: {} };
    return [...additions, { ...last, item: itemOf(told, { isDone: true }) }];
  }

  function done(told: Told): Addition[] {
    return ended(told, []);
  }

  return {
    open,
    close,
    more: (index, kind, part, text, logprobs) => ofText(index, kind, reader.more(index, kind, part, text, logprobs)),
    complete: (index, kind, part, text, logprobs) =>
      ofText(index, kind, reader.complete(index, kind, part, text, logprobs)),
    annotate: (index, part, annotation) => ofText(index, 'text', reader.annotate(index, part, annotation)),
    lacks: (index, total) => reader.lacks(index, total),
    hasCalls: () => reader.hasCalls(),
    searches: () => reader.searches(),
    event(index, event) {
      // The complete item holds the text of these pieces. A key that an upstream repeats could not be taken out of
      // pieces.
      if (typeof event.type !== 'string' || event.type.endsWith('.delta')) return [];
      const told = byIndex.get(index)?.find((one) => one.isOpaque && !one.isDone);
      if (told === undefined) return [];
      const { id } = told.item;
      const own = { ...event, output_index: told.number, ...(typeof id === 'string' ? { item_id: id } : {}) };
      return [{ delta: {}, item: itemOf(told, { event: own }) }];
    },
    end: () => [...byIndex.values()].flat().flatMap(done),
  };
}

/** @returns null: the announced object is no item */
function kindOf({ type }: Loose): string | null {
  if (typeof type !== 'string') return null;
  return isCall(type) ? 'call' : type;
}
