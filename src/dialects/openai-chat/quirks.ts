import * as z from 'zod';
import { lazily } from '../../base/lazily.ts';
import { taskQuirks } from '../tasks/task-quirks.ts';

/** The fields of an assistant message that may hold the earlier thoughts of the model. */
export const reasoningFields = ['reasoning_content', 'reasoning', 'reasoning_details'] as const;
export type ReasoningField = (typeof reasoningFields)[number];

/** The places in which providers take earlier thoughts; `content`: as parts of it, as Mistral has them. */
export const thoughtPlaces = [...reasoningFields, 'content'] as const;
export type ThoughtPlace = (typeof thoughtPlaces)[number];

/** The forms in which a request tells how much to reason. */
export const reasoningStyles = [
  'effort',
  'object',
  'object_effort',
  'enabled',
  'thinking',
  'thinking_budget',
  'enable_thinking',
  'enable_thinking_budget',
  'chat_template',
] as const;
export type ReasoningStyle = (typeof reasoningStyles)[number];

/** The places where a request may mark parts to cache. */
export const cachePlaces = ['request', 'messages', 'tools'] as const;
export type CachePlace = (typeof cachePlaces)[number];

/** The fields that other models add to an assistant message beside its text. */
export const addedMessageFields = ['annotations', 'images'] as const;
export type AddedMessageField = (typeof addedMessageFields)[number];

/** The order of messages that a provider accepts. */
export const messageOrders = ['any', 'turns', 'bridged_turns'] as const;
/** The ids of tool calls that a provider accepts. */
export const callIdForms = ['up_to_40', 'any', 'nine'] as const;

/** The differences that a provider that speaks plain chat completions may have. */
export const chatQuirks = lazily(() =>
  z.strictObject({
    /** Request fields that the provider refuses; the gateway does not send them. */
    dropParams: z.array(z.string()).optional(),
    /**
     * true: the path is `/deployments/<model>/chat/completions`, as in dated versions of Azure's API.
     * @default false
     */
    modelInPath: z.boolean().optional(),
    /**
     * The provider's field for the largest output.
     * @default `max_tokens`
     */
    maxTokensField: z.enum(['max_tokens', 'max_completion_tokens']).optional(),
    /**
     * The provider's field for `seed`.
     * @default `seed`
     */
    seedField: z.string().min(1).optional(),
    /** The smallest largest output that the provider accepts, in tokens; the gateway raises a smaller value to it. */
    minMaxTokens: z.int().min(1).optional(),
    /**
     * true: reasoning counts beside `max_tokens`, and only the context limits it. A number: at most so many tokens.
     * false: `max_tokens` limits reasoning and response together, as in vLLM, SGLang and llama.cpp. Not known: where
     * money is limited, as true for models that list `reasoning` (docs/budgets.md#what-is-held-for-a-request).
     * @default not known
     */
    reasoningBeside: z.union([z.boolean(), z.int().min(1)]).optional(),
    /**
     * true: the provider honours `detail: "low"` of an image, so that less money is held for it.
     * @default false
     */
    lowDetail: z.boolean().optional(),
    /**
     * true: the provider searches the web for every request, so that money is held for searches.
     * @default by the model's name
     */
    alwaysSearches: z.boolean().optional(),
    /**
     * true: the provider accepts `developer` messages; false: they are sent as `system`.
     * @default false
     */
    developerRole: z.boolean().optional(),
    /**
     * The order of messages that the provider accepts. `any`: instructions at any place, and roles in any order. `turns`:
     * instructions are one message at the beginning, then a user and the assistant take turns, and messages that say
     * nothing are left out. `bridged_turns`: the same, and a user does not speak right behind results of tools.
     * @default `turns`, which every server accepts; `bridged_turns` for Mistral's models, by their names
     */
    messageOrder: z.enum(messageOrders).optional(),
    /**
     * The ids of tool calls that the provider accepts: up to 40 characters, any, or nine letters and digits. The gateway
     * gives other calls an id of that form.
     * @default `up_to_40`, which every server accepts; `nine` for Mistral's models, by their names
     */
    callIds: z.enum(callIdForms).optional(),
    /**
     * false: the provider refuses `stream_options`.
     * @default true
     */
    streamOptions: z.boolean().optional(),
    /**
     * true: the provider goes on generating, and charges for it, after a stream was closed: a client that leaves then
     * costs all that was held for it.
     * @default false
     */
    generatesOn: z.boolean().optional(),
    /**
     * true: a response of the provider is complete without a `finish_reason`, a stream with `[DONE]` alone.
     * @default false
     */
    finishesWithoutReason: z.boolean().optional(),
    /**
     * The field of an assistant message in which the provider accepts earlier reasoning, whichever of the three the
     * caller sent; `content`: as parts of type `thinking` there; null: the provider accepts none, and the reasoning is
     * left out.
     * @default the field in which the provider has sent its reasoning, where it has sent any
     */
    reasoningField: z.enum(thoughtPlaces).nullable().optional(),
    /**
     * The `format` of the provider's own `reasoning_details`, where these are the field. It gets only the text of
     * details of another format: signatures and encrypted parts are for the provider that made them.
     * @default any: the provider takes the details of others too, as a router does
     */
    reasoningFormat: z.string().optional(),
    /**
     * The form in which a request tells how much to reason. `effort`: as `reasoning_effort`; a number of tokens becomes
     * the least effort whose share of the largest output covers it. `object`: in the object `reasoning`, with `effort`
     * or `max_tokens`, and `summary`. `object_effort`: the same with `effort` alone. `enabled`: `reasoning: { enabled
     * }` and `reasoning_effort`. `thinking`: `thinking: { type }` and `reasoning_effort`. `thinking_budget`: as
     * `effort`, but a number of tokens goes into `thinking: { type, budget_tokens }`. `enable_thinking`: by that switch
     * alone. `enable_thinking_budget`: by that switch and `thinking_budget`; an effort becomes its share of the largest
     * output, or of 32,768 tokens. `chat_template`: by the switch `chat_template_kwargs.enable_thinking` alone.
     * @default `effort`
     */
    reasoningStyle: z.enum(reasoningStyles).optional(),
    /**
     * The places where the provider takes `cache_control`: on the request, in messages and their parts, on tools.
     * @default nowhere: it is left out
     */
    cacheControl: z.array(z.enum(cachePlaces)).optional(),
    /**
     * The fields that the provider takes of an assistant message that another model wrote, beside its text and tool
     * calls.
     * @default nothing
     */
    assistantFields: z.array(z.enum(addedMessageFields)).optional(),
    /**
     * false: the provider knows `response_format: json_object` and no schemas. A schema then goes into an instruction
     * in the prompt.
     * @default true
     */
    jsonSchema: z.boolean().optional(),
    ...taskQuirks(),
  }),
);
/** The quirks of a provider in the dialect `openai-chat`. */
export interface ChatQuirks extends z.infer<ReturnType<typeof chatQuirks>> {}
