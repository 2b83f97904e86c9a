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
    /** The kind of the item. */
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
    /** The kind of the item. */
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
    /** The kind of the item. */
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
    /** The kind of the item. */
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
    /** The kind of the item. */
    type: z.literal('local_shell_call'),
    ...callFields(),
    /** The command and its place. */
    action: z.looseObject({
      /** The kind of the action. */
      type: z.literal('exec'),
      /** The program and its arguments. */
      command: list(text()),
      /** Variables of its environment. */
      env: jsonObject(),
      /** The time limit. */
      timeout_ms: numberOrNull(),
      /** The folder in which it runs. */
      working_directory: textOrNull(),
      /** The user who runs it. */
      user: textOrNull(),
    }),
  }),
);
export const imageGenerationCallItemSchema = lazily(() =>
  z.looseObject({
    /** The kind of the item. */
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
        /** USD at the provider, together. */
        upstream_inference_cost: numberOrNull(),
        /** USD for the prompt. */
        upstream_inference_input_cost: number(),
        /** USD for the response. */
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
    /** Always `response`. */
    object: z.literal('response'),
    /** Unix seconds. */
    created_at: integer(),
    /** Slug of the model that serves. */
    model: text(),
    /** The state of the response. */
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
    /** The instructions for the model. */
    instructions: z.unknown(),
    /** The caller's own texts, by name. */
    metadata: jsonObject().nullable(),
    /** The tools that the model may call. */
    tools: z.array(z.unknown()),
    /** The tool that the model may or must call. */
    tool_choice: z.union([text(), jsonObject()]),
    /** true: the model may call several tools at once. */
    parallel_tool_calls: z.boolean(),
    /** The randomness of the response. */
    temperature: number(),
    /** Only the most likely tokens whose probabilities add up to this. */
    top_p: number(),
    /** Makes a token less likely once it has occurred. */
    presence_penalty: number(),
    /** Makes a token less likely the more often it has occurred. */
    frequency_penalty: number(),
    /** The largest output, in tokens. */
    max_output_tokens: integer().nullable(),
    /** The most calls of tools. */
    max_tool_calls: integer().nullable(),
    /** The number of most likely tokens that are listed at each place. */
    top_logprobs: integer(),
    /** The value of the request. */
    background: z.boolean(),
    /** Settings of the model's thinking. */
    reasoning: jsonObject(),
    /** The form of the text. */
    text: jsonObject(),
    /** The treatment of a prompt that is too long. */
    truncation: text(),
    /** Key for the prompt cache. */
    prompt_cache_key: text().nullable(),
    /** The caller's own id of its user. */
    safety_identifier: text().nullable(),
    /** Id of the response that this one continues. */
    previous_response_id: textOrNull(),
    /** true: the response is kept. While it is on its way: it is to be kept, and the last event says whether it is. */
    store: z.boolean(),
    /** The conversation that the response is added to; null: it was asked for, and the response is not added. Absent: none. */
    conversation: z.looseObject({ id: text() }).nullish(),
  }),
);
/** A response of the Responses operation. */
export interface ResponsesResult extends z.infer<ReturnType<typeof responsesResultSchema>> {}
