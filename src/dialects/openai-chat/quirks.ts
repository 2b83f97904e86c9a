import * as z from 'zod';
import { lazily } from '../../base/lazily.ts';

/** Where an assistant message holds what the model thought before. */
export const reasoningFields = ['reasoning_content', 'reasoning', 'reasoning_details'] as const;
export type ReasoningField = (typeof reasoningFields)[number];

/** What a provider that speaks plain chat completions may do differently. */
export const chatQuirks = lazily(() =>
  z.strictObject({
    /** Request fields the provider refuses; they are left out. */
    dropParams: z.array(z.string()).optional(),
    /** The field for the largest output. Default `max_tokens`, which nearly every server takes. */
    maxTokensField: z.enum(['max_tokens', 'max_completion_tokens']).optional(),
    /** The provider refuses a smaller `max_tokens`; a smaller one is raised to it. */
    minMaxTokens: z.int().min(1).optional(),
    /**
     * Whether the provider counts reasoning beside `max_tokens`, so that this does not limit it. true: only the context
     * limits reasoning. A number: at most so many tokens. false: `max_tokens` limits both together. Default: not known;
     * where money is limited, that counts as true for models that list `reasoning` among their parameters.
     */
    reasoningBeside: z.union([z.boolean(), z.int().min(1)]).optional(),
    /** true: honours `detail: "low"` of an image, and then counts it as at most 3,000 tokens. Many providers do not. */
    lowDetail: z.boolean().optional(),
    /** true: searches the web for every request. Default: for models whose name says so, such as `sonar`. */
    alwaysSearches: z.boolean().optional(),
    /** true: takes `developer` messages; else they are sent as `system`, which every server takes. */
    developerRole: z.boolean().optional(),
    /** false: the provider refuses `stream_options`, and sends usage, if at all, unasked. */
    streamOptions: z.boolean().optional(),
    /** true: the provider goes on generating, and charges for it, after the connection of a stream was closed. */
    generatesOn: z.boolean().optional(),
    /** true: its complete responses have no finish_reason; its streams end with `[DONE]` alone. */
    finishesWithoutReason: z.boolean().optional(),
    /**
     * The field of an assistant message in which the provider wants earlier reasoning back. Default null: the provider
     * takes none, and it is left out.
     */
    reasoningField: z.enum(reasoningFields).nullable().optional(),
  }),
);
export interface ChatQuirks extends z.infer<ReturnType<typeof chatQuirks>> {}
