import type { Clock } from '../../base/clock.ts';
import { GatewayError } from '../../base/errors.ts';
import type { NativeObject } from '../../call/native.ts';
import { outputDeltasOf, outputItemOf } from '../../call/output-item.ts';
import type { ResponseEncoder } from '../../call/response-encoder.ts';
import type { AssistantMessage, ChatResult } from '../../schema/chat/chat.ts';
import { responsesUsage } from './encoder/usage.ts';
import { packCompaction } from './packed-compaction.ts';

export interface CompactionEncoderInput {
  /** The brand, which names the metadata field. */
  brand: string;
  /** The input items that the caller has sent; a text is a message of the user. */
  items: readonly NativeObject[];
  clock: Clock;
}

/** The characters of user messages together, the latest ones, that stay beside the summary. */
const keptChars = 80_000;

/**
 * Writes the body of a compaction: a shorter conversation to go on with. Where the upstream compacts by itself, these
 * are its items; otherwise the latest messages of the user, and the summary that a model has written. It is never
 * streamed.
 * @see https://platform.openai.com/docs/api-reference/responses/compact
 */
export function compactionEncoder({ brand, items, clock }: CompactionEncoderInput): ResponseEncoder {
  return {
    format: 'responses',
    keepAlive: '',
    check: checkSummary,
    result(head, result, end) {
      return {
        id: head.id,
        object: 'response.compaction',
        created_at: Math.floor(clock.now() / 1000),
        output: compactedItems(result, head.id, items),
        usage: responsesUsage(end.usage),
        ...(end.metadata === undefined ? {} : { [`${brand}_metadata`]: end.metadata }),
      };
    },
    chunk: neverStreamed,
    debug: neverStreamed,
    finish: neverStreamed,
    fail: neverStreamed,
  };
}

function neverStreamed(): never {
  throw new Error('A compaction is never streamed');
}

function compactedItems(result: ChatResult, id: string, items: readonly NativeObject[]): NativeObject[] {
  const message = result.choices[0]?.message;
  const native = message === undefined ? [] : nativeItems(message);
  if (native.length > 0) return native;
  return [...latestOfUser(items, id), summaryItem(summaryOf(message?.content), id)];
}

/** @throws GatewayError upstream_failed (502): the conversation must not be replaced by nothing */
export function checkSummary({ choices }: ChatResult): void {
  const message = choices[0]?.message;
  if (message !== undefined && nativeItems(message).length > 0) return;
  if (summaryOf(message?.content) === '') throw new GatewayError('upstream_failed', noSummary);
}

/** Returns the text of a summary; `''`: there is none. */
export function summaryOf(content: unknown): string {
  return typeof content === 'string' ? content.trim() : '';
}

/**
 * Makes the item that stands for a conversation from now on.
 * @param summary  the text that a model has written
 * @param id       the id of the response
 */
export function summaryItem(summary: string, id: string): NativeObject {
  return { type: 'compaction', id: `cmp_${id}`, encrypted_content: packCompaction(summary) };
}

export const noSummary = 'The model has written no summary of the conversation';

/** Returns the items that the upstream has made of the conversation itself; `[]`: a model has written a summary. */
export function nativeItems(message: AssistantMessage): NativeObject[] {
  const items = (outputDeltasOf(message) ?? []).flatMap(({ delta }) => {
    const of = outputItemOf(delta);
    return of?.isOpaque === true && of.isDone === true ? [of.item] : [];
  });
  return items.some(({ type }) => type === 'compaction' || type === 'compaction_summary') ? items : [];
}

/** @param responseId  makes the ids of messages that have none */
function latestOfUser(items: readonly NativeObject[], responseId: string): NativeObject[] {
  const kept: NativeObject[] = [];
  let left = keptChars;
  for (let at = items.length - 1; at >= 0; at--) {
    const item = items[at] as NativeObject;
    if (item.role !== 'user') continue;
    const full = inFullForm(item, `msg_${responseId}_${at}`);
    left -= JSON.stringify(full).length;
    if (left < 0) break;
    kept.push(full);
  }
  return kept.reverse();
}

/**
 * Returns an item in its full form. A client may have written the easy form, and clients that read strictly know only
 * the full one.
 */
function inFullForm({ content, ...item }: NativeObject, id: string): NativeObject {
  return {
    ...item,
    id: item.id ?? id,
    type: 'message',
    status: item.status ?? 'completed',
    content: typeof content === 'string' ? [{ type: 'input_text', text: content }] : content,
  };
}
