import * as z from 'zod';
import { choiceErrorSchema, finishReasonSchema, logprobsSchema } from './chat-result.ts';
import { serviceMetadataSchema } from './envelope.ts';
import { audioOutputSchema, imageOutputSchema, reasoningDetailSchema } from './message.ts';
import { usageSchema } from './usage.ts';

/** A piece of a tool call; `index` says which. What is absent was said before or comes later; nothing is null. */
export const chunkToolCallSchema = z.looseObject({
  index: z.int().nonnegative(),
  id: z.string().optional(),
  type: z.literal('function').optional(),
  function: z.looseObject({ name: z.string().optional(), arguments: z.string().optional() }).optional(),
});
export interface ChunkToolCall extends z.infer<typeof chunkToolCallSchema> {}

export const chunkDeltaSchema = z.looseObject({
  role: z.literal('assistant').optional(),
  content: z.string().nullish(),
  reasoning: z.string().nullish(),
  reasoning_details: z.array(reasoningDetailSchema).optional(),
  refusal: z.string().nullish(),
  tool_calls: z.array(chunkToolCallSchema).optional(),
  audio: audioOutputSchema.optional(),
  images: z.array(imageOutputSchema).optional(),
  annotations: z.array(z.looseObject({ type: z.string() })).optional(),
});
export interface ChunkDelta extends z.infer<typeof chunkDeltaSchema> {}

export const chunkChoiceSchema = z.looseObject({
  index: z.int().nonnegative(),
  delta: chunkDeltaSchema,
  /** null until the last chunk of the choice. */
  finish_reason: finishReasonSchema.nullable(),
  native_finish_reason: z.string().nullish(),
  logprobs: logprobsSchema.nullish(),
});
export interface ChunkChoice extends z.infer<typeof chunkChoiceSchema> {}

/**
 * One event of a streamed chat completion. `system_fingerprint`, `usage` and `error` are left out rather than null:
 * known clients break on a null there.
 */
export const chatChunkSchema = z.looseObject({
  id: z.string(),
  object: z.literal('chat.completion.chunk'),
  /** Unix timestamp in seconds. */
  created: z.int(),
  model: z.string(),
  /** Display name of the provider that serves. */
  provider: z.string().optional(),
  choices: z.array(chunkChoiceSchema),
  system_fingerprint: z.string().optional(),
  service_tier: z.string().nullish(),
  /** On the usage chunk only, whose `choices` are empty. */
  usage: usageSchema.optional(),
  /** On the last chunk of a stream that failed after its first event. */
  error: choiceErrorSchema.optional(),
  /** On the debug chunk only. */
  debug: z.looseObject({ echo_upstream_body: z.record(z.string(), z.unknown()).optional() }).optional(),
  service_metadata: serviceMetadataSchema.optional(),
});
export interface ChatChunk extends z.infer<typeof chatChunkSchema> {}
