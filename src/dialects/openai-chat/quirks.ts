import * as z from 'zod';
import { lazily } from '../../base/lazily.ts';

/** Where an assistant message holds what the model thought before. */
export const reasoningFields = ['reasoning_content', 'reasoning', 'reasoning_details'] as const;
export type ReasoningField = (typeof reasoningFields)[number];

/** What a provider that speaks plain chat completions may do differently. */
export const chatQuirks = lazily(() =>
  z.strictObject({
    /** Request fields that the provider refuses; the gateway does not send them. */
    dropParams: z.array(z.string()).optional(),
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
     * Whether reasoning counts beside `max_tokens`. true: only the context limits reasoning. A number: at most so
     * many tokens. false: `max_tokens` limits reasoning and response together, as in vLLM, SGLang and llama.cpp. Not
     * known: where money is limited, as true for models that list `reasoning`
     * (docs/storage.md#what-is-held-for-a-request).
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
     * caller sent; null: the provider accepts none, and the reasoning is left out.
     * @default null
     */
    reasoningField: z.enum(reasoningFields).nullable().optional(),
  }),
);
export interface ChatQuirks extends z.infer<ReturnType<typeof chatQuirks>> {}
