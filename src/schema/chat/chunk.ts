import * as z from 'zod';
import { lazily } from '../../base/lazily.ts';
import { jsonObject, list } from '../bounded.ts';
import { count, integer, optionalText, text, textOrNull } from '../scalars.ts';
import { serviceMetadataSchema } from './envelope.ts';
import { audioOutputSchema, imageOutputSchema, reasoningDetailSchema } from './message.ts';
import { choiceErrorSchema, finishReasonSchema, logprobsSchema } from './result.ts';
import { usageSchema } from './usage.ts';

/** A fragment of the tool call with this `index`. Other chunks hold the absent fields; no field is null. */
export const chunkToolCallSchema = lazily(() =>
  z.looseObject({
    /** Index of the call, from 0. */
    index: count(),
    /** Id of the call, in its first chunk. */
    id: optionalText(),
    /** Always `function`. */
    type: z.literal('function').optional(),
    /** More of the function. */
    function: z.looseObject({ name: optionalText(), arguments: optionalText() }).optional(),
  }),
);
export interface ChunkToolCall extends z.infer<ReturnType<typeof chunkToolCallSchema>> {}

export const chunkDeltaSchema = lazily(() =>
  z.looseObject({
    /** Role of the speaker. */
    role: z.literal('assistant').optional(),
    /** More text. */
    content: textOrNull(),
    /** More of what the model thinks. */
    reasoning: textOrNull(),
    /** More of what the model thinks, in parts that can be sent back. */
    reasoning_details: list(reasoningDetailSchema()).optional(),
    /** More of why the model refuses to respond. */
    refusal: textOrNull(),
    /** More of the calls of tools. */
    tool_calls: list(chunkToolCallSchema()).optional(),
    /** More sound. */
    audio: audioOutputSchema().optional(),
    /** Images that the model made. */
    images: list(imageOutputSchema()).optional(),
    /** Notes on the text, such as citations. */
    annotations: list(z.looseObject({ type: text() })).optional(),
  }),
);
export interface ChunkDelta extends z.infer<ReturnType<typeof chunkDeltaSchema>> {}

export const chunkChoiceSchema = lazily(() =>
  z.looseObject({
    /** Index of the choice, from 0. */
    index: count(),
    /** The new part of the message. */
    delta: chunkDeltaSchema(),
    /** null until the last chunk of the choice. */
    finish_reason: finishReasonSchema().nullable(),
    /** The reason why the response ended, as the provider named it. */
    native_finish_reason: textOrNull(),
    /** Probabilities of the new tokens, where they were asked for. */
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
    /** `gen-…`, the same in every chunk. */
    id: text(),
    /** Always `chat.completion.chunk`. */
    object: z.literal('chat.completion.chunk'),
    /** Unix timestamp in seconds. */
    created: integer(),
    /** Slug of the model that serves. */
    model: text(),
    /** Display name of the provider that serves. */
    provider: optionalText(),
    /** The new part of each choice. */
    choices: list(chunkChoiceSchema()),
    /** The provider's mark of its configuration. */
    system_fingerprint: optionalText(),
    /** The tier that serves. */
    service_tier: textOrNull(),
    /** On the usage chunk only, whose `choices` are empty. */
    usage: usageSchema().optional(),
    /** On the last chunk of a stream that failed after its first event. */
    error: choiceErrorSchema().optional(),
    /** On the debug chunk only. */
    debug: z.looseObject({ echo_upstream_body: jsonObject().optional() }).optional(),
    /** The routing of the request, if the caller asked for it. */
    service_metadata: serviceMetadataSchema().optional(),
  }),
);
/** One event of a streamed response. */
export interface ChatChunk extends z.infer<ReturnType<typeof chatChunkSchema>> {}
