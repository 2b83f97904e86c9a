import * as z from 'zod';
import { lazily } from '../../base/lazily.ts';

/** What a server that speaks Cohere's chat may do differently. */
export const cohereQuirks = lazily(() =>
  z.strictObject({
    /** Request fields, by their names here, that the server refuses; the gateway does not send them. */
    dropParams: z.array(z.string()).optional(),
    /**
     * Which of the two counts of a response is its usage. `billed`: `billed_units`, which is what Cohere charges.
     * `processed`: `tokens`, with the instructions that the provider adds itself.
     * @default `billed`
     */
    usage: z.enum(['billed', 'processed']).optional(),
    /**
     * Whether reasoning counts beside `max_tokens`. true: only the context limits reasoning. A number: at most so
     * many tokens. false: `max_tokens` limits reasoning and response together.
     * @default not known: Cohere does not document it
     */
    reasoningBeside: z.union([z.boolean(), z.int().min(1)]).optional(),
    /**
     * true: the server goes on generating, and charges for it, after a stream was closed.
     * @default false
     */
    generatesOn: z.boolean().optional(),
  }),
);
/** How a provider differs in the dialect `cohere-chat`. */
export interface CohereQuirks extends z.infer<ReturnType<typeof cohereQuirks>> {}
