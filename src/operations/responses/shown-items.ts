import { refusal } from '../../base/refusal.ts';
import type { Loose } from '../../base/values.ts';
import type { InputItemList, InputItemsQuery } from '../../schema/responses/stored.ts';

/** An item as it is shown, with its id. */
export type ShownItem = Loose & { id: string };

/**
 * Returns a page of items.
 * @param items  all of them, oldest first
 * @param of     the thing that the items are of, such as `this response`
 * @throws GatewayError invalid_request (400): `after` is the id of no item
 */
export function pageOfItems(
  items: readonly ShownItem[],
  { limit, order, after }: InputItemsQuery,
  of: string,
): InputItemList {
  const ordered = order === 'desc' ? items.toReversed() : items;
  const begin = after === undefined ? 0 : ordered.findIndex((item) => item.id === after) + 1;
  if (after !== undefined && begin === 0)
    throw refusal('invalid_request', [{ path: 'after', message: `expected the id of an item of ${of}` }]);
  return listOfItems(ordered.slice(begin, begin + limit), begin + limit < ordered.length);
}

/** Returns a list of items as the interface has it. */
export function listOfItems(data: ShownItem[], hasMore: boolean): InputItemList {
  return {
    object: 'list',
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: hasMore,
  };
}

/** Items of clients may be without what the interface demands of an item that is shown. */
const defaults: Readonly<Record<string, Loose>> = {
  function_call: { status: 'completed' },
  function_call_output: { status: 'completed' },
  reasoning: { summary: [] },
};

/** An item of a message is listed with its type, and its text as a part. */
export function shownItem(item: Loose, id: string): ShownItem {
  const { role, content } = item;
  if ('type' in item && item.type !== 'message') return { ...defaults[String(item.type)], ...item, id };
  const type = role === 'assistant' ? 'output_text' : 'input_text';
  const part = type === 'output_text' ? { type, text: content, annotations: [] } : { type, text: content };
  return { status: 'completed', ...item, type: 'message', id, content: typeof content === 'string' ? [part] : content };
}

/** The beginnings of the ids of the usual items; the ids of others begin with `item`. */
const prefixes: Readonly<Record<string, string>> = {
  message: 'msg',
  reasoning: 'rs',
  function_call: 'fc',
  compaction: 'cmp',
};

/** Returns the beginning of the id of an item. */
export function prefixOf({ type }: Loose): string {
  if (type === undefined) return 'msg';
  return prefixes[String(type)] ?? 'item';
}
