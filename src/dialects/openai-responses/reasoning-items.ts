import type { Loose } from '../../base/values.ts';
import type { ReasoningDetail } from '../../schema/chat/chat.ts';
import { formatOf, type ResponsesQuirks } from './quirks.ts';

/** A reasoning item and its place. */
export interface PlacedItem {
  /** The number of the message's other items before it. */
  before: number;
  item: Loose;
}

/** The details of one item while they are read. */
interface OpenItem {
  id: string | null;
  before: number;
  /** The texts by the index of their detail: a stream cuts them into several. */
  summary: Map<number | object, string>;
  content: Map<number | object, string>;
  encrypted: string | null;
}

/**
 * Makes the provider's reasoning items of the details that it once gave. Clients may have kept the details of a stream
 * as they came, a few letters each.
 *
 * The indices of details leave out a number for each other item of the response, a message or a call. So a gap shows
 * that reasoning went on after that item.
 * @returns isPartial: some details are of another provider, or of no use to this one
 */
export function itemsOfDetails(
  details: readonly ReasoningDetail[],
  quirks: ResponsesQuirks,
): { items: PlacedItem[]; isPartial: boolean } {
  const format = formatOf(quirks);
  const open: OpenItem[] = [];
  const indices = new Set<number>();
  let isPartial = false;
  for (const detail of details) {
    const { index } = detail;
    const before = typeof index === 'number' ? Math.max(index - indices.size, 0) : 0;
    if (typeof index === 'number' && !indices.has(index)) indices.add(index);
    if (detail.format !== format) isPartial = true;
    else addDetail(detail, before, open);
  }
  const items = open.filter(isReadable);
  return {
    items: items.map((one) => ({ before: one.before, item: itemOf(one) })),
    isPartial: isPartial || items.length < open.length,
  };
}

function addDetail(detail: ReasoningDetail, before: number, open: OpenItem[]): void {
  const id = detail.id ?? null;
  let item = open.at(-1);
  if (item === undefined || item.encrypted !== null || beginsAnother(detail, id, item)) {
    item = { id, before, summary: new Map(), content: new Map(), encrypted: null };
    open.push(item);
  }
  const part = detail.index ?? {};
  if (detail.type === 'reasoning.summary') append(item.summary, part, detail.summary);
  else if (detail.type === 'reasoning.text') append(item.content, part, detail.text ?? '');
  else {
    // Some servers give an item another id in each event. The last id goes with the encrypted part.
    item.id = id ?? item.id;
    item.encrypted = detail.data;
  }
}

function beginsAnother({ type }: ReasoningDetail, id: string | null, item: OpenItem): boolean {
  if (id === null || item.id === null || id === item.id) return false;
  return type !== 'reasoning.encrypted' || item.content.size > 0;
}

function append(texts: Map<number | object, string>, part: number | object, text: string): void {
  texts.set(part, (texts.get(part) ?? '') + text);
}

/** true: the provider can read the item. Nothing is stored, so a summary alone would mean nothing to it. */
function isReadable({ encrypted, content }: OpenItem): boolean {
  return encrypted !== null || content.size > 0;
}

function itemOf({ id, summary, content, encrypted }: OpenItem): Loose {
  const item: Loose = { type: 'reasoning' };
  if (id !== null) item.id = id;
  item.summary = [...summary.values()].map((text) => ({ type: 'summary_text', text }));
  if (content.size > 0) item.content = [...content.values()].map((text) => ({ type: 'reasoning_text', text }));
  if (encrypted !== null) item.encrypted_content = encrypted;
  return item;
}
