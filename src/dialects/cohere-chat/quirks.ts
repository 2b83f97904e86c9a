import * as z from 'zod';
import { lazily } from '../../base/lazily.ts';

/** The differences that a server that speaks Cohere's chat may have. */
export const cohereQuirks = lazily(() =>
  z.strictObject({
    /** Request fields, by their names here, that the server refuses; the gateway does not send them. */
    dropParams: z.array(z.string()).optional(),
    /**
     * The count of a response that is its usage. `billed`: `billed_units`, which Cohere charges. `processed`: `tokens`,
     * with the instructions that the provider adds itself.
     * @default `billed`
     */
    usage: z.enum(['billed', 'processed']).optional(),
    /**
     * true: reasoning counts beside `max_tokens`, and only the context limits it. A number: at most so many tokens.
     * false: `max_tokens` limits reasoning and response together.
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
/** The quirks of a provider in the dialect `cohere-chat`. */
export interface CohereQuirks extends z.infer<ReturnType<typeof cohereQuirks>> {}
