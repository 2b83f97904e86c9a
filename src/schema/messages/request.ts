import * as z from 'zod';
import { lazily } from '../../base/lazily.ts';
import { jsonObject, list } from '../bounded.ts';
import { cacheControlSchema } from '../chat/part.ts';
import { gatewayShape } from '../gateway-shape.ts';
import { countOrNull, flagOrNull, number, positive, text, textOrNull } from '../scalars.ts';

/** A block of content. What each type holds is checked by `messagesIssues`; types that are not known pass. */
export const messagesBlockSchema = lazily(() =>
  z.looseObject({
    /** The kind of the block, such as `text`, `image`, `tool_use` or `tool_result`. */
    type: text(),
  }),
);
export interface MessagesBlock extends z.infer<ReturnType<typeof messagesBlockSchema>> {}

const content = lazily(() => z.union([text(), list(messagesBlockSchema())]));

export const messagesMessageSchema = lazily(() =>
  z.looseObject({
    /** Role of the speaker. `system` may stand in the middle of the conversation. */
    role: z.enum(['user', 'assistant', 'system']),
    /** The content: a text, or blocks. */
    content: content().nullish(),
  }),
);
export interface MessagesMessage extends z.infer<ReturnType<typeof messagesMessageSchema>> {}

export const messagesToolSchema = lazily(() =>
  z.looseObject({
    /** The kind of tool: absent or `custom` for one of the caller's own. */
    type: textOrNull(),
    /** Name of the tool. */
    name: textOrNull(),
    /** Description of the tool, for the model. */
    description: textOrNull(),
    /** JSON Schema of the input. */
    input_schema: jsonObject().nullish(),
  }),
);
export interface MessagesTool extends z.infer<ReturnType<typeof messagesToolSchema>> {}

/**
 * A request of the Messages wire. Unknown fields pass, in the request itself and in messages, blocks and tools: a new
 * capability is a field that this list does not have yet.
 * @see https://platform.claude.com/docs/en/api/messages/create
 */
export const messagesRequestSchema = lazily(() =>
  z.looseObject({
    /** Slug of the model. */
    model: textOrNull(),
    /** Fallback models in order; `model`, if present, comes before them. */
    models: list(text()).nullish(),
    /** The conversation, oldest first. */
    messages: list(messagesMessageSchema()).min(1),
    /** Instructions: a text, or text blocks. */
    system: content().nullish(),
    /** The largest output, in tokens. More than an endpoint allows is lowered to what it allows. */
    max_tokens: positive().nullish(),
    /** Default false. */
    stream: flagOrNull(),
    /** Texts at which the model stops. */
    stop_sequences: list(text()).nullish(),
    /** Randomness, from 0. */
    temperature: number().nullish(),
    /** The part of the probability mass from which tokens are chosen. */
    top_p: number().nullish(),
    /** The number of tokens from which one is chosen. */
    top_k: countOrNull(),
    /** Tools that the model may call. */
    tools: list(messagesToolSchema()).nullish(),
    /** The tool that the model may or must call. */
    tool_choice: z
      .looseObject({
        /** `tool`: the one of this `name`. */
        type: z.enum(['auto', 'any', 'tool', 'none']),
        /** Name of the tool that must be called. */
        name: textOrNull(),
        /** true: at most one call. */
        disable_parallel_tool_use: flagOrNull(),
      })
      .nullish(),
    /** The model's thinking. */
    thinking: z
      .looseObject({
        /** `adaptive`, `enabled`, `disabled` or `between_tools`. */
        type: text(),
        /** The most tokens of thoughts, with `enabled`. */
        budget_tokens: countOrNull(),
        /** `omitted`: the text of thoughts is not sent. */
        display: textOrNull(),
      })
      .nullish(),
    /** Effort and form of the output. */
    output_config: z
      .looseObject({
        /** The effort: `low`, `medium`, `high`, `xhigh` or `max`. */
        effort: textOrNull(),
        /** The form: `{"type": "json_schema", "schema": …}`. */
        format: jsonObject().nullish(),
      })
      .nullish(),
    /** Asks the provider to cache the prompt. */
    cache_control: cacheControlSchema().nullish(),
    /** `user_id`: the caller's own id of its user. */
    metadata: z.looseObject({ user_id: textOrNull() }).nullish(),
    /** `auto` or `standard_only`. */
    service_tier: textOrNull(),
    /** The caller's own id of its user; stands before `metadata.user_id`. */
    user: textOrNull(),
    ...gatewayShape(),
  }),
);
/** The body of `POST /messages`. */
export interface MessagesRequest extends z.infer<ReturnType<typeof messagesRequestSchema>> {}
