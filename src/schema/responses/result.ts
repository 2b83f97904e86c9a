import * as z from 'zod';
import { lazily } from '../../base/lazily.ts';
import { jsonObject, list } from '../bounded.ts';
import { reasoningDetailSchema } from '../chat/message.ts';
import { count, integer, number, numberOrNull, optionalText, text, textOrNull } from '../scalars.ts';

/** The details of a reasoning item, as `encrypted_content` may hold them packed. */
export const reasoningDetailsSchema = lazily(() => list(reasoningDetailSchema()));

const itemStatus = lazily(() => z.enum(['in_progress', 'completed', 'incomplete']));
const logprobs = lazily(() =>
  list(
    z.looseObject({
      /** The token as text. */
      token: text(),
      /** Natural logarithm of its probability. */
      logprob: number(),
      /** The token in UTF-8. */
      bytes: list(integer()),
      /** The most likely tokens at this place. */
      top_logprobs: list(z.looseObject({ token: text(), logprob: number(), bytes: list(integer()) })),
    }),
  ),
);

/** A note on a text. Unlike in chat, its fields stand beside `type`; places count from the start of the part. */
export const responsesAnnotationSchema = lazily(() => z.looseObject({ type: text() }));

export const outputTextPartSchema = lazily(() =>
  z.looseObject({
    /** The kind of the part. */
    type: z.literal('output_text'),
    /** The text. */
    text: text(),
    /** Notes on the text, such as citations. */
    annotations: list(responsesAnnotationSchema()),
    /** Probabilities of its tokens, where they were asked for. */
    logprobs: logprobs(),
  }),
);
const refusalPart = lazily(() => z.looseObject({ type: z.literal('refusal'), refusal: text() }));
const summaryPart = lazily(() => z.looseObject({ type: z.literal('summary_text'), text: text() }));
const thoughtPart = lazily(() => z.looseObject({ type: z.literal('reasoning_text'), text: text() }));

export const messageItemSchema = lazily(() =>
  z.looseObject({
    type: z.literal('message'),
    /** Unique in the response. */
    id: text(),
    /** Role of the speaker. */
    role: z.literal('assistant'),
    /** Status of the message. */
    status: itemStatus(),
    /** Texts and refusals. */
    content: list(z.discriminatedUnion('type', [outputTextPartSchema(), refusalPart()])),
    /** The phase of the message: the answer, or a text on the way to it. */
    phase: textOrNull(),
  }),
);

export const reasoningItemSchema = lazily(() =>
  z.looseObject({
    type: z.literal('reasoning'),
    /** Unique in the response; what is encrypted may be bound to it. */
    id: text(),
    /** Status of the item. */
    status: itemStatus(),
    /** Summaries of what the model thought. */
    summary: list(summaryPart()),
    /** The model's thoughts. */
    content: list(thoughtPart()).optional(),
    /** The data to send back, so that the provider knows its reasoning again. */
    encrypted_content: textOrNull(),
    /** Proves to the provider that the thought is its own. */
    signature: textOrNull(),
    /** Format of the reasoning, as the provider names it. */
    format: textOrNull(),
  }),
);

const callFields = lazily(() => ({
  /** Unique in the response. */
  id: text(),
  /** The item with the output names it. */
  call_id: text(),
  /** Status of the call. */
  status: itemStatus(),
}));

export const functionCallItemSchema = lazily(() =>
  z.looseObject({
    type: z.literal('function_call'),
    ...callFields(),
    /** Name of the function. */
    name: text(),
    /** Namespace of the function. */
    namespace: optionalText(),
    /** The model's text: usually JSON, but without guarantee. */
    arguments: text(),
  }),
);
export const customToolCallItemSchema = lazily(() =>
  z.looseObject({
    type: z.literal('custom_tool_call'),
    ...callFields(),
    /** Name of the tool. */
    name: text(),
    /** Namespace of the tool. */
    namespace: optionalText(),
    /** Free text. */
    input: text(),
  }),
);
export const localShellCallItemSchema = lazily(() =>
  z.looseObject({
    type: z.literal('local_shell_call'),
    ...callFields(),
    /** The command and its place. */
    action: z.looseObject({
      type: z.literal('exec'),
      command: list(text()),
      env: jsonObject(),
      timeout_ms: numberOrNull(),
      working_directory: textOrNull(),
      user: textOrNull(),
    }),
  }),
);
export const imageGenerationCallItemSchema = lazily(() =>
  z.looseObject({
    type: z.literal('image_generation_call'),
    /** Unique in the response. */
    id: text(),
    /** Status of the image. */
    status: text(),
    /** The image: base64, or its address. */
    result: text().nullable(),
    /** The subtype of its media type, such as `png`. */
    output_format: optionalText(),
  }),
);

/** Items that pass as the provider made them have other types. */
export const outputItemSchema = lazily(() => {
  const known = [
    messageItemSchema(),
    reasoningItemSchema(),
    functionCallItemSchema(),
    customToolCallItemSchema(),
    localShellCallItemSchema(),
    imageGenerationCallItemSchema(),
  ] as const;
  const types = known.map(({ shape }) => [...shape.type.values][0] as string);
  return z.union([...known, z.looseObject({ id: text(), type: text().refine((type) => !types.includes(type)) })]);
});

export const responsesUsageSchema = lazily(() =>
  z.looseObject({
    /** Tokens of the prompt, cached ones included. */
    input_tokens: count(),
    /** Tokens of the prompt, by kind. */
    input_tokens_details: z.looseObject({ cached_tokens: count() }),
    /** Tokens of the response, reasoning included. */
    output_tokens: count(),
    /** Tokens of the response, by kind. */
    output_tokens_details: z.looseObject({ reasoning_tokens: count() }),
    /** Both together. */
    total_tokens: count(),
    /** The cost of the request, in USD. */
    cost: numberOrNull(),
    /** true: a workspace's own provider credential served. */
    is_byok: z.boolean().optional(),
    /** The cost by part, in USD. */
    cost_details: z
      .looseObject({
        upstream_inference_cost: numberOrNull(),
        upstream_inference_input_cost: number(),
        upstream_inference_output_cost: number(),
      })
      .optional(),
  }),
);
export interface ResponsesUsage extends z.infer<ReturnType<typeof responsesUsageSchema>> {}

/** A response of the Responses operation, complete or on the way. */
export const responsesResultSchema = lazily(() =>
  z.looseObject({
    /** `gen-…`. */
    id: text(),
    object: z.literal('response'),
    /** Unix seconds. */
    created_at: integer(),
    /** Slug of the model that serves. */
    model: text(),
    status: z.enum(['in_progress', 'completed', 'incomplete', 'failed']),
    /** Unix seconds; null: it is not complete. */
    completed_at: integer().nullable(),
    /** The error of a failed response. */
    error: z.looseObject({ code: text(), message: text() }).nullable(),
    /** The gateway's own word for the error. */
    error_type: optionalText(),
    /** The reason for an early end. */
    incomplete_details: z.looseObject({ reason: z.enum(['max_output_tokens', 'content_filter']) }).nullable(),
    /** The items that the model made, in its order. */
    output: list(outputItemSchema()),
    /** Tokens and cost; null as long as they are not known. */
    usage: responsesUsageSchema().nullable(),
    /** The tier that serves; `default` where the provider does not say. */
    service_tier: text(),
    // What follows repeats the request. What it did not say is the default of the interface.
    instructions: z.unknown(),
    metadata: jsonObject().nullable(),
    tools: z.array(z.unknown()),
    tool_choice: z.union([text(), jsonObject()]),
    parallel_tool_calls: z.boolean(),
    temperature: number(),
    top_p: number(),
    presence_penalty: number(),
    frequency_penalty: number(),
    max_output_tokens: integer().nullable(),
    max_tool_calls: integer().nullable(),
    top_logprobs: integer(),
    background: z.boolean(),
    reasoning: jsonObject(),
    text: jsonObject(),
    truncation: text(),
    prompt_cache_key: text().nullable(),
    safety_identifier: text().nullable(),
    previous_response_id: textOrNull(),
    store: z.literal(false),
  }),
);
export interface ResponsesResult extends z.infer<ReturnType<typeof responsesResultSchema>> {}
