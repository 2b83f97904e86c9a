import * as z from 'zod';
import { lazily } from '../base/lazily.ts';
import { jsonObject, list } from './bounded.ts';
import { choiceErrorSchema, finishReasonSchema, logprobsSchema } from './chat-result.ts';
import { serviceMetadataSchema } from './envelope.ts';
import { audioOutputSchema, imageOutputSchema, reasoningDetailSchema } from './message.ts';
import { count, integer, optionalText, text, textOrNull } from './scalars.ts';
import { usageSchema } from './usage.ts';

/** A fragment of the tool call with this `index`. Other chunks hold the absent fields; no field is null. */
export const chunkToolCallSchema = lazily(() =>
  z.looseObject({
    index: count(),
    id: optionalText(),
    type: z.literal('function').optional(),
    function: z.looseObject({ name: optionalText(), arguments: optionalText() }).optional(),
  }),
);
export interface ChunkToolCall extends z.infer<ReturnType<typeof chunkToolCallSchema>> {}

export const chunkDeltaSchema = lazily(() =>
  z.looseObject({
    role: z.literal('assistant').optional(),
    content: textOrNull(),
    reasoning: textOrNull(),
    reasoning_details: list(reasoningDetailSchema()).optional(),
    refusal: textOrNull(),
    tool_calls: list(chunkToolCallSchema()).optional(),
    audio: audioOutputSchema().optional(),
    images: list(imageOutputSchema()).optional(),
    annotations: list(z.looseObject({ type: text() })).optional(),
  }),
);
export interface ChunkDelta extends z.infer<ReturnType<typeof chunkDeltaSchema>> {}

export const chunkChoiceSchema = lazily(() =>
  z.looseObject({
    index: count(),
    delta: chunkDeltaSchema(),
    /** null until the last chunk of the choice. */
    finish_reason: finishReasonSchema().nullable(),
    native_finish_reason: textOrNull(),
    logprobs: logprobsSchema().nullish(),
  }),
);
export interface ChunkChoice extends z.infer<ReturnType<typeof chunkChoiceSchema>> {}

/**
 * One event of a streamed chat completion. `system_fingerprint`, `usage` and `error` are left out rather than null:
 * known clients break on a null there.
 */
export const chatChunkSchema = lazily(() =>
  z.looseObject({
    id: text(),
    object: z.literal('chat.completion.chunk'),
    /** Unix timestamp in seconds. */
    created: integer(),
    model: text(),
    /** Display name of the provider that serves. */
    provider: optionalText(),
    choices: list(chunkChoiceSchema()),
    system_fingerprint: optionalText(),
    service_tier: textOrNull(),
    /** On the usage chunk only, whose `choices` are empty. */
    usage: usageSchema().optional(),
    /** On the last chunk of a stream that failed after its first event. */
    error: choiceErrorSchema().optional(),
    /** On the debug chunk only. */
    debug: z.looseObject({ echo_upstream_body: jsonObject().optional() }).optional(),
    service_metadata: serviceMetadataSchema().optional(),
  }),
);
export interface ChatChunk extends z.infer<ReturnType<typeof chatChunkSchema>> {}
