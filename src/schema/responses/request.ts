import * as z from 'zod';
import { lazily } from '../../base/lazily.ts';
import { jsonObject, list, mapOf, textUpTo } from '../bounded.ts';
import { cacheControlSchema } from '../chat/part.ts';
import { reasoningEffortSchema } from '../chat/request.ts';
import { samplingFields } from '../chat/sampling.ts';
import { gatewayShape } from '../gateway-shape.ts';
import { madeFields } from '../late-fields.ts';
import { countOrNull, flagOrNull, number, positive, text, textOrNull } from '../scalars.ts';
import { inputItemSchema } from './items.ts';
import { responsesToolChoiceSchema, responsesToolSchema } from './tools.ts';

const formatSchema = lazily(() =>
  z.discriminatedUnion('type', [
    z.looseObject({ type: z.literal('text') }),
    z.looseObject({ type: z.literal('json_object') }),
    z.looseObject({
      /** The kind of form. */
      type: z.literal('json_schema'),
      /** Name of the schema. */
      name: textUpTo(64),
      /** The purpose of the response. */
      description: textOrNull(),
      /** The JSON Schema. */
      schema: jsonObject().nullish(),
      /** true: the response follows the schema exactly. */
      strict: flagOrNull(),
    }),
  ]),
);
export type TextFormat = z.infer<ReturnType<typeof formatSchema>>;

const textSettingsSchema = lazily(() =>
  z.looseObject({
    /** The form of the response, such as JSON. */
    format: formatSchema().nullish(),
    /** The length of the response. */
    verbosity: z.enum(['low', 'medium', 'high', 'xhigh', 'max']).nullish(),
  }),
);

const reasoningSchema = lazily(() =>
  z.looseObject({
    /** The effort of the model's thinking. */
    effort: reasoningEffortSchema().nullish(),
    /** The detail of the summaries of thoughts. */
    summary: z.enum(['auto', 'concise', 'detailed']).nullish(),
    /** Older name of `summary`. */
    generate_summary: z.enum(['auto', 'concise', 'detailed']).nullish(),
    /** Alternative to `effort`. */
    max_tokens: countOrNull(),
    /** true: the model reasons, but the response does not contain the reasoning. */
    exclude: flagOrNull(),
    /** true without another field means medium effort. */
    enabled: flagOrNull(),
  }),
);

/**
 * The schema of a flag that `responsesIssues` refuses with a message of its own. This tells it to readers of the
 * interface.
 */
const refusedFlag = lazily(() =>
  z
    .boolean()
    .nullish()
    .meta({ enum: [false, null] }),
);

/**
 * A Responses request. Unknown fields pass, in the request itself and in items, parts and tools. The gateway converts
 * the parsed value, so the schema must not fill in defaults or rewrite values. Input items are checked, not copied.
 * @see interface document, "POST /responses (beta)"
 */
export const responsesRequestSchema = lazily(() =>
  z.looseObject({
    /** The input of the model: a text, or items, oldest first. */
    input: z.union([text(), list(inputItemSchema()).min(1)]),
    /** Slug of the model. */
    model: textOrNull(),
    /** Fallback models in order; `model`, if present, comes before them. */
    models: list(text()).nullish(),
    /** A system message before the input. */
    instructions: textOrNull(),
    /** Tools that the model may call. */
    tools: list(responsesToolSchema()).nullish(),
    /** The tool that the model may or must call. */
    tool_choice: responsesToolChoiceSchema().nullish(),
    /** true: the model may call several tools at once. */
    parallel_tool_calls: flagOrNull(),
    /** The largest output, in tokens; reasoning counts. */
    max_output_tokens: positive().nullish(),
    /** The most calls of its own tools that the provider may make. */
    max_tool_calls: positive().nullish(),
    ...madeFields(samplingFields),
    /** Form and length of the text. */
    text: textSettingsSchema().nullish(),
    /** Settings of the model's thinking. */
    reasoning: reasoningSchema().nullish(),
    /** The additional parts of the response, such as `message.output_text.logprobs`. */
    include: list(text()).nullish(),
    /** true: the response is kept, where the workspace keeps responses; elsewhere it is refused. Default false. */
    store: flagOrNull(),
    /** Id of a kept response that the input goes on from. */
    previous_response_id: textOrNull(),
    /** The conversation that the input goes on from, and that input and output are added to: its id, or an object with it. */
    conversation: z.union([text(), z.looseObject({ id: text() })]).nullish(),
    /** true is refused. */
    background: refusedFlag(),
    /** `auto`: the provider may leave out the oldest items where the input is too long. */
    truncation: z.enum(['auto', 'disabled']).nullish(),
    /** Rules by which the provider shortens the conversation by itself. */
    context_management: z.array(jsonObject()).nullish(),
    /** The tier that is asked for. */
    service_tier: z.enum(['auto', 'default', 'flex', 'priority', 'scale']).nullish(),
    /** The caller's own texts, by name. */
    metadata: mapOf(textUpTo(512), { maxKeys: 16, maxKeyLength: 64 }).nullish(),
    /** The client's own texts about itself. */
    client_metadata: jsonObject().nullish(),
    /** The caller's own id of its user. */
    user: textUpTo(256).nullish(),
    /** The same, for the provider's abuse monitoring. */
    safety_identifier: textOrNull(),
    /** Requests with the same key share the provider's cache; stands in for `session_id`. */
    prompt_cache_key: textOrNull(),
    /** The time for which the provider keeps the cache. */
    prompt_cache_retention: textOrNull(),
    /** The kinds of content of the response. */
    modalities: list(z.enum(['text', 'image'])).nullish(),
    /** Settings for the making of images. */
    image_config: mapOf(z.union([text(), number(), z.array(z.unknown())])).nullish(),
    /** Asks the provider to cache the prompt. */
    cache_control: cacheControlSchema().nullish(),
    ...gatewayShape(),
    /** Default false. */
    stream: flagOrNull(),
    /** Settings of the stream. */
    stream_options: jsonObject().nullish(),
  }),
);
/** The body of `POST /responses`. */
export interface ResponsesRequest extends z.infer<ReturnType<typeof responsesRequestSchema>> {}
