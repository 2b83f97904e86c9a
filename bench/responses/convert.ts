import { responsesEncoder } from '../../src/formats/responses/encoder/index.ts';
import type { ChatChunk, ChunkDelta } from '../../src/schema/chat/chunk.ts';

/** Converts a stream as the pipeline does for a client that speaks Responses. */

/** Chunks of the stream that is converted. */
export const chunksPerStream = 200;

const head = { id: 'gen-1790000000-be0c41a7d90123456789', created: 1_790_000_000, model: 'bench/model-25' };
const usage = { prompt_tokens: 412, completion_tokens: 200, total_tokens: 612 };

/** Reasoning, text, and a call of a tool, a few letters each. */
export function benchChunks(): ChatChunk[] {
  const deltas: ChunkDelta[] = [{ role: 'assistant', content: '' }];
  for (let at = 0; at < 40; at++) deltas.push(thought(` thought ${at}`));
  for (let at = 0; at < 138; at++) deltas.push({ content: ` word ${at}\n` });
  deltas.push({
    tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: { name: 'read', arguments: '' } }],
  });
  while (deltas.length < chunksPerStream - 1)
    deltas.push({ tool_calls: [{ index: 0, function: { arguments: ` ${deltas.length},` } }] });
  const chunks = deltas.map((delta) => chunkOf(delta, null));
  return [...chunks, chunkOf({}, 'tool_calls')];
}

function thought(text: string): ChunkDelta {
  const detail = { type: 'reasoning.text' as const, text, format: 'anthropic-claude-v1', index: 0 };
  return { reasoning: text, reasoning_details: [detail] };
}

function chunkOf(delta: ChunkDelta, reason: 'tool_calls' | null): ChatChunk {
  const choices = [{ index: 0, delta, finish_reason: reason }];
  return { ...head, object: 'chat.completion.chunk', provider: 'Bench', choices };
}

const tool = { type: 'function', name: 'read', parameters: { type: 'object', properties: {} }, strict: false };
const request = { model: 'bench/model-25', input: 'Hello', instructions: 'Be brief. '.repeat(100), tools: [tool] };

/** All frames of the stream. */
export function convert(chunks: readonly ChatChunk[]): number {
  const encoder = responsesEncoder({
    brand: 'service',
    request,
    callForms: new Map(),
    clock: { now: () => 0 },
    isWhole: true,
  });
  const bytes = new TextEncoder();
  let length = 0;
  for (const chunk of chunks) length += bytes.encode(encoder.chunk(chunk)).length;
  return length + bytes.encode(encoder.finish({ ...head, provider: 'Bench' }, { usage })).length;
}
