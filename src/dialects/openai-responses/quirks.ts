import * as z from 'zod';
import { lazily } from '../../base/lazily.ts';

/** The differences that a provider that speaks Responses may have. */
export const responsesQuirks = lazily(() =>
  z.strictObject({
    /** Fields, of the chat request or of the provider's body, that the provider refuses; they are not sent. */
    dropParams: z.array(z.string()).optional(),
    /**
     * The smallest largest output that the provider accepts, in tokens; the gateway raises a smaller value to it.
     * @default 16
     */
    minMaxTokens: z.int().min(1).optional(),
    /**
     * The `format` of its reasoning details. Only details of this format are sent back to the provider: it cannot read
     * those that another has encrypted.
     * @default `openai-responses-v1`
     */
    reasoningFormat: z.string().min(1).max(64).optional(),
    /**
     * true: the provider is asked for reasoning that it can read when it comes back. A model that does not reason
     * refuses that.
     * @default by the model's name
     */
    encryptedReasoning: z.boolean().optional(),
    /**
     * false: no summary of the reasoning is asked for, unless the request itself does. OpenAI refuses it to
     * organizations that it has not verified.
     * @default true
     */
    reasoningSummaries: z.boolean().optional(),
    /**
     * true: the provider takes explicit marks of parts to cache (GPT-5.6 and later).
     * @default false
     */
    cacheBreakpoints: z.boolean().optional(),
    /**
     * true: reasoning counts beside `max_output_tokens`, and only the context limits it. A number: at most so many
     * tokens. false: `max_output_tokens` limits reasoning and response together.
     * @default false
     */
    reasoningBeside: z.union([z.boolean(), z.int().min(1)]).optional(),
    /**
     * true: the provider shortens a conversation by itself, at `/responses/compact` and after a `compaction_trigger`.
     * @default false
     */
    compacts: z.boolean().optional(),
    /**
     * true: the provider counts the tokens of a request, at `/responses/input_tokens`.
     * @default false
     */
    countsInput: z.boolean().optional(),
    /**
     * true: the provider honours `detail: "low"` of an image, so that less money is held for it.
     * @default false
     */
    lowDetail: z.boolean().optional(),
    /**
     * true: the provider goes on generating, and charges for it, after a stream was closed: a client that leaves then
     * costs all that was held for it.
     * @default false
     */
    generatesOn: z.boolean().optional(),
  }),
);
/** The quirks of a provider in the dialect `openai-responses`. */
export interface ResponsesQuirks extends z.infer<ReturnType<typeof responsesQuirks>> {}

/** The least `max_output_tokens`: OpenAI refuses a smaller one. */
const usualLeast = 16;

export function leastMaxTokens({ minMaxTokens }: ResponsesQuirks): number {
  return minMaxTokens ?? usualLeast;
}

/** Returns the `format` of reasoning details that this provider has written, and can read. */
export function formatOf({ reasoningFormat }: ResponsesQuirks): string {
  return reasoningFormat ?? 'openai-responses-v1';
}
