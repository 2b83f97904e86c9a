import type { CallForm } from '../../src/call/native.ts';
import type { OutputDelta } from '../../src/call/output-item.ts';
import type { ReportedEnd, ResponseEncoder, ResponseHead } from '../../src/call/response-encoder.ts';
import { responsesEncoder } from '../../src/formats/responses/encoder/index.ts';
import type { ChatResult, FinishReason } from '../../src/schema/chat/chat.ts';
import type { ChatChunk, ChunkDelta } from '../../src/schema/chat/chunk.ts';

/** Encodes chat results and chunks as responses, for the tests of the encoder. */

export const head: ResponseHead = {
  id: 'gen-1790000000-be0c41a7d90123456789',
  created: 1_790_000_000,
  model: 'acme/large',
  provider: 'Acme',
};
export const end: ReportedEnd = { usage: { prompt_tokens: 12, completion_tokens: 5, total_tokens: 17 } };
export const nowMs = 1_790_000_007_900;

export function newEncoder(
  request: Readonly<Record<string, unknown>> = {},
  forms: Readonly<Record<string, CallForm>> = {},
): ResponseEncoder {
  return responsesEncoder({
    brand: 'service',
    request: { model: 'acme/large', input: 'Hello', ...request },
    callForms: new Map(Object.entries(forms)),
    clock: { now: () => nowMs },
    isWhole: true,
  });
}

export function chunkOf(
  delta: ChunkDelta,
  reason: FinishReason | null = null,
  logprobs: OutputDelta['logprobs'] = null,
): ChatChunk {
  const { id, created, model, provider } = head;
  const choice = { index: 0, delta, finish_reason: reason, ...(logprobs ? { logprobs: { content: logprobs } } : {}) };
  return { id, object: 'chat.completion.chunk', created, model, provider, choices: [choice] } as unknown as ChatChunk;
}

/** A complete stream of these deltas. */
export function streamOf(
  deltas: readonly ChunkDelta[],
  reason: FinishReason | null = 'stop',
  encoder: ResponseEncoder = newEncoder(),
): string {
  const chunks = [...deltas.map((delta) => chunkOf(delta)), chunkOf({}, reason)];
  return chunks.map((chunk) => encoder.chunk(chunk)).join('') + encoder.finish(head, end);
}

/** A chat result with this message. */
export function resultOf(message: Record<string, unknown>, reason: FinishReason | null = 'stop'): ChatResult {
  return {
    id: '',
    object: 'chat.completion',
    created: 0,
    model: '',
    system_fingerprint: null,
    choices: [
      { index: 0, message: { role: 'assistant', content: null, refusal: null, ...message }, finish_reason: reason },
    ],
  } as ChatResult;
}

/** Deltas of one call, its arguments cut into pieces. */
export function callDeltas(index: number, name: string, pieces: readonly string[]): ChunkDelta[] {
  return [
    { tool_calls: [{ index, id: `call_${name}_${index}`, type: 'function', function: { name, arguments: '' } }] },
    ...pieces.map((text) => ({ tool_calls: [{ index, function: { arguments: text } }] })),
  ];
}
