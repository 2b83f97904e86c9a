import * as z from 'zod';
import { lazily } from '../../base/lazily.ts';
import { jsonObject, list, mapOf, textUpTo } from '../bounded.ts';
import { checkByFields, type LateFields, madeFields } from '../late-fields.ts';
import {
  countOrNull,
  flagOrNull,
  integer,
  number,
  optionalFlag,
  optionalText,
  optionalTexts,
  positive,
  text,
} from '../scalars.ts';
import { chatMessageSchema } from './message.ts';
import { cacheControlSchema } from './part.ts';
import { pluginSchema } from './plugins.ts';
import { providerPreferencesSchema } from './preferences.ts';
import { samplingFields } from './sampling.ts';
import { chatToolSchema, toolChoiceSchema } from './tool.ts';

const responseFormatSchema = lazily(() =>
  z.discriminatedUnion('type', [
    z.looseObject({ type: z.literal('text') }),
    z.looseObject({ type: z.literal('json_object') }),
    z.looseObject({
      /** The kind of form. */
      type: z.literal('json_schema'),
      /** The schema that the response follows. */
      json_schema: z.looseObject({
        /** Name of the schema. */
        name: textUpTo(64),
        /** The purpose of the response. */
        description: optionalText(),
        /** The JSON Schema. */
        schema: jsonObject().optional(),
        /** true: the response follows the schema exactly. */
        strict: flagOrNull(),
      }),
    }),
    z.looseObject({ type: z.literal('grammar'), grammar: text() }),
    z.looseObject({ type: z.literal('python') }),
  ]),
);
export type ResponseFormat = z.infer<ReturnType<typeof responseFormatSchema>>;

export const reasoningEffortSchema = lazily(() => z.enum(['max', 'xhigh', 'high', 'medium', 'low', 'minimal', 'none']));
export type ReasoningEffort = z.infer<ReturnType<typeof reasoningEffortSchema>>;

const reasoningSchema = lazily(() =>
  z.looseObject({
    /** The effort of the model's thinking. */
    effort: reasoningEffortSchema().nullish(),
    /** The detail of the summaries of thoughts. */
    summary: z.enum(['auto', 'concise', 'detailed']).nullish(),
    /** Alternative to `effort`. */
    max_tokens: countOrNull(),
    /** Default false; true: the model reasons, but the response does not contain the reasoning. */
    exclude: optionalFlag(),
    /** true without another field means medium effort. */
    enabled: optionalFlag(),
  }),
);

export const stopConditionSchema = lazily(() =>
  z.discriminatedUnion('type', [
    z.looseObject({ type: z.literal('step_count_is'), step_count: integer() }),
    z.looseObject({ type: z.literal('has_tool_call'), tool_name: text().min(1) }),
    z.looseObject({ type: z.literal('max_tokens_used'), max_tokens: integer() }),
    z.looseObject({ type: z.literal('max_cost'), max_cost_in_dollars: number() }),
    z.looseObject({ type: z.literal('finish_reason_is'), reason: text().min(1) }),
  ]),
);
export type StopCondition = z.infer<ReturnType<typeof stopConditionSchema>>;

export const traceSchema = lazily(() =>
  z.looseObject({
    /** Id of the trace. */
    trace_id: optionalText(),
    /** Name of the trace. */
    trace_name: optionalText(),
    /** Name of the span. */
    span_name: optionalText(),
    /** Name of the generation. */
    generation_name: optionalText(),
    /** Id of the span above. */
    parent_span_id: optionalText(),
  }),
);

const outputTokens = lazily(() => positive().nullish());

/** The fields of a chat completion request. */
const chatRequestFields = {
  /** The conversation, oldest first. */
  messages: () => list(chatMessageSchema()).min(1),
  /** Slug of the model. */
  model: optionalText,
  /** Fallback models in order; `model`, if present, comes before them. */
  models: optionalTexts,
  /** Default false. */
  stream: optionalFlag,
  /** `include_usage` has no effect: usage is always sent. */
  stream_options: () => z.looseObject({ include_usage: optionalFlag() }).nullish(),
  /** Deprecated in favour of `max_completion_tokens`. */
  max_tokens: outputTokens,
  /** The largest output, in tokens. */
  max_completion_tokens: outputTokens,
  ...samplingFields,
  /** true: the response has the probabilities of its tokens. */
  logprobs: flagOrNull,
  /** Tools that the model may call. */
  tools: () => list(chatToolSchema()).optional(),
  /** The tool that the model may or must call. */
  tool_choice: () => toolChoiceSchema().optional(),
  /** true: the model may call several tools at once. */
  parallel_tool_calls: flagOrNull,
  /** The form of the response, such as JSON. */
  response_format: () => responseFormatSchema().optional(),
  /** The kinds of content of the response. */
  modalities: () => list(z.enum(['text', 'image', 'audio'])).optional(),
  /** Settings for the making of images. */
  image_config: () => mapOf(z.union([text(), number(), z.array(z.unknown())])).optional(),
  /** Settings of the model's thinking. */
  reasoning: () => reasoningSchema().optional(),
  /** Short form of `reasoning.effort`; the two must not differ. */
  reasoning_effort: () => reasoningEffortSchema().nullish(),
  /** The tier that is asked for. */
  service_tier: () => z.enum(['auto', 'default', 'flex', 'priority', 'scale']).nullish(),
  /** Key for sticky routing and for grouping. */
  session_id: () => textUpTo(256).optional(),
  /** The caller's own id of its user. */
  user: optionalText,
  /** The caller's own texts, by name. */
  metadata: () => mapOf(textUpTo(512), { maxKeys: 16, maxKeyLength: 64 }).optional(),
  /** Asks the provider to cache the prompt. */
  cache_control: () => cacheControlSchema().optional(),
  /** Affects streams only. */
  debug: () => z.looseObject({ echo_upstream_body: optionalFlag() }).optional(),
  /** The plugins that act on the request. */
  plugins: () => list(pluginSchema()).optional(),
  /** The providers that may serve, and their order. */
  provider: () => providerPreferencesSchema().nullish(),
  /** Deprecated in favour of `provider.sort.partition`. */
  route: () => z.union([z.enum(['fallback', 'sort']), jsonObject()]).nullish(),
  /** Any of the conditions ends the loop of server tools. */
  stop_server_tools_when: () => z.union([list(stopConditionSchema()).min(1), stopConditionSchema()]).optional(),
  /** The caller's own names for tracing. */
  trace: () => traceSchema().optional(),
} satisfies LateFields;

/**
 * A chat completion request. Unknown fields pass, in the request itself and in messages, parts and tools. The gateway
 * forwards the parsed value, so the schema must not fill in defaults or rewrite values.
 * @see interface document, "POST /chat/completions"
 */
export const chatRequestSchema = lazily(() => z.looseObject(madeFields(chatRequestFields)));
/** The body of `POST /chat/completions`. */
export interface ChatRequest extends z.infer<ReturnType<typeof chatRequestSchema>> {}

/** Checks chat requests by the parts of the schema that they need. */
export const chatRequestParts = lazily(() =>
  checkByFields<ChatRequest>(chatRequestFields, ['messages'], chatRequestSchema),
);
