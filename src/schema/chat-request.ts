import * as z from 'zod';
import { chatMessageSchema } from './message.ts';
import { cacheControlSchema } from './part.ts';
import { pluginSchema } from './plugins.ts';
import { providerPreferencesSchema } from './preferences.ts';
import { jsonObject, textUpTo } from './text.ts';
import { chatToolSchema, toolChoiceSchema } from './tool.ts';

const responseFormatSchema = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('text') }),
  z.looseObject({ type: z.literal('json_object') }),
  z.looseObject({
    type: z.literal('json_schema'),
    json_schema: z.looseObject({
      name: textUpTo(64),
      description: z.string().optional(),
      schema: jsonObject.optional(),
      strict: z.boolean().nullish(),
    }),
  }),
  z.looseObject({ type: z.literal('grammar'), grammar: z.string() }),
  z.looseObject({ type: z.literal('python') }),
]);
export type ResponseFormat = z.infer<typeof responseFormatSchema>;

const reasoningEffortSchema = z.enum(['max', 'xhigh', 'high', 'medium', 'low', 'minimal', 'none']);
export type ReasoningEffort = z.infer<typeof reasoningEffortSchema>;

const reasoningSchema = z.looseObject({
  effort: reasoningEffortSchema.nullish(),
  summary: z.enum(['auto', 'concise', 'detailed']).nullish(),
  /** Alternative to `effort`. */
  max_tokens: z.int().nonnegative().nullish(),
  /** Default false; true: think, but leave the reasoning out of the answer. */
  exclude: z.boolean().optional(),
  /** true alone means medium effort. */
  enabled: z.boolean().optional(),
});

const stopConditionSchema = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('step_count_is'), step_count: z.int() }),
  z.looseObject({ type: z.literal('has_tool_call'), tool_name: z.string().min(1) }),
  z.looseObject({ type: z.literal('max_tokens_used'), max_tokens: z.int() }),
  z.looseObject({ type: z.literal('max_cost'), max_cost_in_dollars: z.number() }),
  z.looseObject({ type: z.literal('finish_reason_is'), reason: z.string().min(1) }),
]);
export type StopCondition = z.infer<typeof stopConditionSchema>;

const traceSchema = z.looseObject({
  trace_id: z.string().optional(),
  trace_name: z.string().optional(),
  span_name: z.string().optional(),
  generation_name: z.string().optional(),
  parent_span_id: z.string().optional(),
});

const metadataSchema = z.record(textUpTo(64), textUpTo(512)).check((payload) => {
  if (Object.keys(payload.value).length <= 16) return;
  payload.issues.push({ code: 'too_big', origin: 'object', maximum: 16, inclusive: true, input: payload.value });
});

const outputTokens = z.int().min(1).nullish();
const number = z.number().nullish();
const penalty = z.number().min(-2).max(2).nullish();

/**
 * A chat completion request. What we do not know passes, in the request itself and in messages, parts and tools; the
 * parsed value is what is forwarded, so that nothing here fills in a default or rewrites a value.
 * @see interface document, "POST /chat/completions"
 */
export const chatRequestSchema = z.looseObject({
  messages: z.array(chatMessageSchema).min(1),
  model: z.string().optional(),
  /** Tried in order, after `model` when that is given too. */
  models: z.array(z.string()).optional(),
  /** Default false. */
  stream: z.boolean().optional(),
  /** `include_usage` has no effect: usage is always sent. */
  stream_options: z.looseObject({ include_usage: z.boolean().optional() }).nullish(),
  /** Deprecated in favour of `max_completion_tokens`. */
  max_tokens: outputTokens,
  max_completion_tokens: outputTokens,
  temperature: z.number().min(0).max(2).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  top_k: z.int().nullish(),
  min_p: number,
  top_a: number,
  frequency_penalty: penalty,
  presence_penalty: penalty,
  repetition_penalty: number,
  logit_bias: z.record(z.string(), z.number()).nullish(),
  logprobs: z.boolean().nullish(),
  top_logprobs: z.int().min(0).max(20).nullish(),
  seed: z.int().nullish(),
  stop: z.union([z.string(), z.array(z.string()).max(4)]).nullish(),
  tools: z.array(chatToolSchema).optional(),
  tool_choice: toolChoiceSchema.optional(),
  parallel_tool_calls: z.boolean().nullish(),
  response_format: responseFormatSchema.optional(),
  modalities: z.array(z.enum(['text', 'image', 'audio'])).optional(),
  image_config: z.record(z.string(), z.union([z.string(), z.number(), z.array(z.unknown())])).optional(),
  reasoning: reasoningSchema.optional(),
  /** Short for `reasoning.effort`; must not differ from it. */
  reasoning_effort: reasoningEffortSchema.nullish(),
  service_tier: z.enum(['auto', 'default', 'flex', 'priority', 'scale']).nullish(),
  /** Key of sticky routing and of grouping. */
  session_id: textUpTo(256).optional(),
  user: z.string().optional(),
  metadata: metadataSchema.optional(),
  cache_control: cacheControlSchema.optional(),
  /** Acts on streams only. */
  debug: z.looseObject({ echo_upstream_body: z.boolean().optional() }).optional(),
  plugins: z.array(pluginSchema).optional(),
  provider: providerPreferencesSchema.nullish(),
  /** Deprecated: `provider.sort.partition` says the same. */
  route: z.union([z.enum(['fallback', 'sort']), jsonObject]).nullish(),
  /** Any of the conditions ends the loop of server tools. */
  stop_server_tools_when: z.union([z.array(stopConditionSchema).min(1), stopConditionSchema]).optional(),
  trace: traceSchema.optional(),
});
export interface ChatRequest extends z.infer<typeof chatRequestSchema> {}
