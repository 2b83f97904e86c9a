import type { NativeObject } from '../../call/native.ts';
import { outputItemOf, withOutputDeltas, withOutputItem } from '../../call/output-item.ts';
import type { ResponseEncoder } from '../../call/response-encoder.ts';
import type { AssistantMessage, ChatResult } from '../../schema/chat/chat.ts';
import type { ChatChunk, ChunkDelta } from '../../schema/chat/chunk.ts';
import { checkSummary, nativeItems, noSummary, summaryItem, summaryOf } from './compaction-encoder.ts';

/**
 * Writes the text of a model as one `compaction` item: the response to a request that ends with a `compaction_trigger`.
 * Clients read nothing else of it. Where the upstream has made the item itself, its response stays as it is. Keeps
 * state: one encoder serves one call.
 * @param encoder  the encoder of Responses
 */
export function compactionItemEncoder(encoder: ResponseEncoder): ResponseEncoder {
  const texts: string[] = [];
  let isOfUpstream = false;

  function told(choice: ChunkChoice, id: string): ChunkChoice {
    const { index, delta, finish_reason: reason } = choice;
    if (outputItemOf(delta)?.item.type === 'compaction') {
      isOfUpstream = true;
      return choice;
    }
    if (index === 0 && delta.content) texts.push(delta.content);
    const silent: ChunkChoice = { ...choice, delta: {}, logprobs: null };
    if (index !== 0 || reason === null || reason === 'error' || isOfUpstream) return silent;
    const summary = summaryOf(texts.join(''));
    if (summary !== '') return { ...silent, delta: itemDelta(summaryItem(summary, id)) };
    return { ...silent, finish_reason: 'error', error: { code: 502, message: noSummary } };
  }

  return {
    ...encoder,
    check: checkSummary,
    chunk: (chunk) => encoder.chunk({ ...chunk, choices: chunk.choices.map((one) => told(one, chunk.id)) }),
    result: (head, result, end) => encoder.result(head, summarised(result, head.id), end),
  };
}

function summarised(result: ChatResult, id: string): ChatResult {
  const [choice, ...others] = result.choices;
  if (choice === undefined || nativeItems(choice.message).length > 0) return result;
  const item = summaryItem(summaryOf(choice.message.content), id);
  const message: AssistantMessage = { role: 'assistant', content: null };
  return {
    ...result,
    choices: [{ ...choice, message: withOutputDeltas(message, [{ delta: itemDelta(item) }]) }, ...others],
  };
}

type ChunkChoice = ChatChunk['choices'][number];

const itemDelta = (item: NativeObject): ChunkDelta =>
  withOutputItem({}, { index: 0, item, isOpaque: true, isDone: true });
