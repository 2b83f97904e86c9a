import type { NativeObject } from '../../../call/native.ts';
import type { ReasoningDetail } from '../../../schema/chat/chat.ts';
import type { ReasoningItem } from '../../../schema/responses/responses.ts';
import { unpackReasoning } from '../packed-reasoning.ts';
import { isResponsesFormat } from '../reasoning-format.ts';

/** The format of raw `encrypted_content`, where the item names no other. */
const usualFormat = 'openai-responses-v1';

/** The next index of a detail. Messages and calls take a number too: see `itemsOfDetails` of the dialect. */
export interface Places {
  next: number;
}

/** A reasoning item for both kinds of upstream. */
export interface ConvertedReasoning {
  details: readonly ReasoningDetail[];
  /** null: the item means nothing to an upstream that speaks Responses. */
  item: NativeObject | null;
}

/** Reads a reasoning item. Details that were packed in another format are unpacked unchanged. */
export function convertReasoning(item: ReasoningItem, places: Places): ConvertedReasoning {
  const packed = item.encrypted_content ? unpackReasoning(item.encrypted_content) : null;
  if (packed === null) return { details: detailsOf(item, places), item: nativeItem(item) };
  for (const { index } of packed) if (typeof index === 'number') places.next = Math.max(places.next, index + 1);
  return { details: packed, item: unpackedItem(item, packed) };
}

function detailsOf({ id, summary, content, encrypted_content, signature, format }: ReasoningItem, places: Places) {
  const details: ReasoningDetail[] = [];
  // A signature without a format is of a provider that nobody names.
  const named = format ?? (signature && !encrypted_content ? null : usualFormat);
  const common = () => ({ ...(id ? { id } : {}), ...(named === null ? {} : { format: named }), index: places.next++ });
  const own = (content ?? []).filter(({ text }) => text);
  const shown = (summary ?? []).filter(({ text }) => text);
  // Clients show summaries, so the encoder puts thoughts there. Only a thought has a signature.
  const isSignedThought = Boolean(signature) && own.length === 0;
  const texts = isSignedThought ? shown : own;
  if (!isSignedThought)
    for (const { text } of shown) details.push({ type: 'reasoning.summary', summary: text, ...common() });
  for (const [at, { text }] of texts.entries()) {
    const signed = signature && at === texts.length - 1 ? { signature } : {};
    details.push({ type: 'reasoning.text', text, ...signed, ...common() });
  }
  // The provider does not show this thought.
  if (signature && texts.length === 0) details.push({ type: 'reasoning.text', signature, ...common() });
  if (encrypted_content) details.push({ type: 'reasoning.encrypted', data: encrypted_content, ...common() });
  return details;
}

/**
 * Returns the item for a provider, without `signature` and `format`: gateways write them, and a provider refuses fields
 * that it does not know.
 */
function nativeItem(item: ReasoningItem): NativeObject | null {
  if (item.format && !isResponsesFormat(item.format)) return null;
  if (!('signature' in item || 'format' in item)) return item;
  const { signature: _signature, format: _format, ...others } = item;
  return others;
}

/** Returns the item that the packed details were made of, where it was from an upstream that speaks Responses. */
function unpackedItem({ id }: ReasoningItem, details: readonly ReasoningDetail[]): NativeObject | null {
  if (details.length === 0 || !details.every(({ format }) => isResponsesFormat(format))) return null;
  const summary: NativeObject[] = [];
  const content: NativeObject[] = [];
  let encrypted: string | null = null;
  let ownId = id ?? null;
  for (const detail of details) {
    ownId = detail.id ?? ownId;
    if (detail.type === 'reasoning.summary') summary.push({ type: 'summary_text', text: detail.summary });
    else if (detail.type === 'reasoning.encrypted') encrypted = detail.data;
    else content.push({ type: 'reasoning_text', text: detail.text ?? '' });
  }
  return {
    type: 'reasoning',
    ...(ownId === null ? {} : { id: ownId }),
    summary,
    ...(content.length > 0 ? { content } : {}),
    ...(encrypted === null ? {} : { encrypted_content: encrypted }),
  };
}
