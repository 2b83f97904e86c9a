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
    /** true: takes `developer` messages; else they are sent as `system`, which every server takes. */
    developerRole: z.boolean().optional(),
    /** false: the provider refuses `stream_options`, and sends usage, if at all, unasked. */
    streamOptions: z.boolean().optional(),
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
