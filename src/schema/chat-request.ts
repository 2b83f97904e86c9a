import * as z from 'zod';
import { lazily } from '../base/lazily.ts';
import { jsonObject, list, mapOf, textUpTo } from './bounded.ts';
import { chatMessageSchema } from './message.ts';
import { cacheControlSchema } from './part.ts';
import { pluginSchema } from './plugins.ts';
import { providerPreferencesSchema } from './preferences.ts';
import {
  countOrNull,
  flagOrNull,
  integer,
  integerOrNull,
  number,
  numberOrNull,
  optionalFlag,
  optionalText,
  optionalTexts,
  positive,
  text,
} from './scalars.ts';
import { chatToolSchema, toolChoiceSchema } from './tool.ts';

const responseFormatSchema = lazily(() =>
  z.discriminatedUnion('type', [
    z.looseObject({ type: z.literal('text') }),
    z.looseObject({ type: z.literal('json_object') }),
    z.looseObject({
      type: z.literal('json_schema'),
      json_schema: z.looseObject({
        name: textUpTo(64),
        description: optionalText(),
        schema: jsonObject().optional(),
        strict: flagOrNull(),
      }),
    }),
    z.looseObject({ type: z.literal('grammar'), grammar: text() }),
    z.looseObject({ type: z.literal('python') }),
  ]),
);
export type ResponseFormat = z.infer<ReturnType<typeof responseFormatSchema>>;

const reasoningEffortSchema = lazily(() => z.enum(['max', 'xhigh', 'high', 'medium', 'low', 'minimal', 'none']));
export type ReasoningEffort = z.infer<ReturnType<typeof reasoningEffortSchema>>;

const reasoningSchema = lazily(() =>
  z.looseObject({
    effort: reasoningEffortSchema().nullish(),
    summary: z.enum(['auto', 'concise', 'detailed']).nullish(),
    /** Alternative to `effort`. */
    max_tokens: countOrNull(),
    /** Default false; true: the model reasons, but the response does not contain the reasoning. */
    exclude: optionalFlag(),
    /** true without another field means medium effort. */
    enabled: optionalFlag(),
  }),
);

const stopConditionSchema = lazily(() =>
  z.discriminatedUnion('type', [
    z.looseObject({ type: z.literal('step_count_is'), step_count: integer() }),
    z.looseObject({ type: z.literal('has_tool_call'), tool_name: text().min(1) }),
    z.looseObject({ type: z.literal('max_tokens_used'), max_tokens: integer() }),
    z.looseObject({ type: z.literal('max_cost'), max_cost_in_dollars: number() }),
    z.looseObject({ type: z.literal('finish_reason_is'), reason: text().min(1) }),
  ]),
);
export type StopCondition = z.infer<ReturnType<typeof stopConditionSchema>>;

const traceSchema = lazily(() =>
  z.looseObject({
    trace_id: optionalText(),
    trace_name: optionalText(),
    span_name: optionalText(),
    generation_name: optionalText(),
    parent_span_id: optionalText(),
  }),
);

const outputTokens = lazily(() => positive().nullish());
const penalty = lazily(() => z.number().min(-2).max(2).nullish());

/**
 * A chat completion request. Unknown fields pass, in the request itself and in messages, parts and tools. The gateway
 * forwards the parsed value, so the schema must not fill in defaults or rewrite values.
 * @see interface document, "POST /chat/completions"
 */
export const chatRequestSchema = lazily(() =>
  z.looseObject({
    messages: list(chatMessageSchema()).min(1),
    model: optionalText(),
    /** Fallback models in order; `model`, if present, comes before them. */
    models: optionalTexts(),
    /** Default false. */
    stream: optionalFlag(),
    /** `include_usage` has no effect: usage is always sent. */
    stream_options: z.looseObject({ include_usage: optionalFlag() }).nullish(),
    /** Deprecated in favour of `max_completion_tokens`. */
    max_tokens: outputTokens(),
    max_completion_tokens: outputTokens(),
    temperature: z.number().min(0).max(2).nullish(),
    top_p: z.number().min(0).max(1).nullish(),
    top_k: integerOrNull(),
    min_p: numberOrNull(),
    top_a: numberOrNull(),
    frequency_penalty: penalty(),
    presence_penalty: penalty(),
    repetition_penalty: numberOrNull(),
    logit_bias: mapOf(number()).nullish(),
    logprobs: flagOrNull(),
    top_logprobs: integer().min(0).max(20).nullish(),
    seed: integerOrNull(),
    stop: z.union([text(), list(text()).max(4)]).nullish(),
    tools: list(chatToolSchema()).optional(),
    tool_choice: toolChoiceSchema().optional(),
    parallel_tool_calls: flagOrNull(),
    response_format: responseFormatSchema().optional(),
    modalities: list(z.enum(['text', 'image', 'audio'])).optional(),
    image_config: mapOf(z.union([text(), number(), z.array(z.unknown())])).optional(),
    reasoning: reasoningSchema().optional(),
    /** Short form of `reasoning.effort`; the two must not differ. */
    reasoning_effort: reasoningEffortSchema().nullish(),
    service_tier: z.enum(['auto', 'default', 'flex', 'priority', 'scale']).nullish(),
    /** Key for sticky routing and for grouping. */
    session_id: textUpTo(256).optional(),
    user: optionalText(),
    metadata: mapOf(textUpTo(512), { maxKeys: 16, maxKeyLength: 64 }).optional(),
    cache_control: cacheControlSchema().optional(),
    /** Affects streams only. */
    debug: z.looseObject({ echo_upstream_body: optionalFlag() }).optional(),
    plugins: list(pluginSchema()).optional(),
    provider: providerPreferencesSchema().nullish(),
    /** Deprecated in favour of `provider.sort.partition`. */
    route: z.union([z.enum(['fallback', 'sort']), jsonObject()]).nullish(),
    /** Any of the conditions ends the loop of server tools. */
    stop_server_tools_when: z.union([list(stopConditionSchema()).min(1), stopConditionSchema()]).optional(),
    trace: traceSchema().optional(),
  }),
);
export interface ChatRequest extends z.infer<ReturnType<typeof chatRequestSchema>> {}
