import * as z from 'zod';
import { lazily } from '../../base/lazily.ts';

/** The settings of an AI SDK language model that its common settings have no word for. */
export const aiSdkQuirks = lazily(() =>
  z.strictObject({
    /** Options for the model's own provider, sent with every call, such as `{ openai: { store: false } }`. */
    providerOptions: z.record(z.string(), z.record(z.string(), z.unknown())).optional(),
    /**
     * The name under which the model's provider reads `cacheControl`, such as `anthropic`. Marks of parts to cache are
     * then sent; else they are left out.
     * @default none
     */
    cacheControl: z.string().min(1).optional(),
    /**
     * true: reasoning counts beside the largest output, and only the context limits it. A number: at most so many
     * tokens. false: the largest output limits reasoning and response together. It depends on the model's provider:
     * that of Anthropic adds the budget of reasoning to the largest output.
     * @default not known
     */
    reasoningBeside: z.union([z.boolean(), z.int().min(1)]).optional(),
    /**
     * true: the model's provider goes on generating, and charges for it, after a stream was closed, as Google and Amazon
     * Bedrock do: a client that leaves then costs all that was held for it.
     * @default false
     */
    generatesOn: z.boolean().optional(),
  }),
);
/** The quirks of a provider in the dialect `ai-sdk`. */
export interface AiSdkQuirks extends z.infer<ReturnType<typeof aiSdkQuirks>> {}
