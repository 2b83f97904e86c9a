import { UpstreamError } from '../../../base/http/upstream-error.ts';
import type { ChatChoice, ChatResult, FinishReason, Usage } from '../../../schema/chat/chat.ts';
import type { ChatChunk, ChunkChoice, ChunkDelta } from '../../../schema/chat/chunk.ts';
import type { DecodedResult, StreamPart } from '../../dialect.ts';

/** The reason why a response ended, in our word and in the provider's. */
export interface Finish {
  finish_reason: FinishReason;
  native_finish_reason: string | null;
}

/** Fields of a response beside its choices, such as `service_tier`. */
export type Head = Pick<ChatChunk, 'service_tier'> & { created?: number; warnings?: string[] };

/** Makes a chunk of these choices. `id`, `model` and `provider` are set later. */
export function chunkOf(choices: ChunkChoice[], head: Head = {}): ChatChunk {
  return { id: '', object: 'chat.completion.chunk', created: 0, model: '', choices, ...head };
}

/** Makes a part of a stream that adds to the message of the only choice. */
export function deltaPart(delta: ChunkDelta, logprobs: ChunkChoice['logprobs'] = null, head?: Head): StreamPart {
  const choice: ChunkChoice = { index: 0, delta, finish_reason: null };
  if (logprobs !== null) choice.logprobs = logprobs;
  return { kind: 'chunk', chunk: chunkOf([choice], head) };
}

/** Makes parts that add to the message of the only choice, one after the other. */
export function deltaParts(deltas: readonly ChunkDelta[]): StreamPart[] {
  return deltas.map((delta) => deltaPart(delta));
}

/** Makes the part of a stream that ends its only choice. */
export function finishPart(finish: Finish, head?: Head): StreamPart {
  return { kind: 'chunk', chunk: chunkOf([{ index: 0, delta: {}, ...finish }], head) };
}

/** Makes a complete response of these choices. `id`, `model` and `provider` are set later. */
export function resultOf(choices: ChatChoice[], head: Head = {}): ChatResult {
  return { id: '', object: 'chat.completion', created: 0, model: '', choices, system_fingerprint: null, ...head };
}

/**
 * Decodes a complete response and its usage. A response that is of no use may have been paid for: an error that
 * `decode` throws holds the usage too.
 * @param usageOf  called once, after `decode`
 */
export function decodedResult(decode: () => ChatResult, usageOf: () => Usage | null): DecodedResult {
  let result: ChatResult;
  try {
    result = decode();
  } catch (error) {
    const usage = usageOf();
    throw usage && error instanceof UpstreamError ? error.with({ usage }) : error;
  }
  return { result, usage: usageOf() };
}
