import * as z from 'zod';
import { lazily } from '../../base/lazily.ts';

/** The differences that a provider that speaks Anthropic's messages may have. */
export const messagesQuirks = lazily(() =>
  z.strictObject({
    /**
     * The service that serves the models. `vertex`: Claude at Google Cloud, where the model is part of the path, the
     * version is part of the body, and images and files are not fetched from addresses.
     * @default anthropic
     */
    host: z.enum(['anthropic', 'vertex']).optional(),
    /** Request fields that the provider refuses; the gateway does not send them. */
    dropParams: z.array(z.string()).optional(),
    /**
     * The largest output where the caller names none: this wire requires one.
     * @default the largest that every model of the generation takes: 32,000 tokens for Claude 4 and later, 4,096 or
     * 8,192 before
     */
    defaultMaxTokens: z.int().min(1).optional(),
    /**
     * The way in which the models think. `none`: not at all. `budget`: with a budget of tokens. `adaptive`: as much as
     * they find right, steered by an effort. `either`: both.
     * @default by the model's name
     */
    thinking: z.enum(['none', 'budget', 'either', 'adaptive']).optional(),
    /**
     * The way in which output of a schema is asked for: by `output_config.format`, by a tool that must be called, or by
     * an instruction in the prompt.
     * @default by the model's name
     */
    structuredOutput: z.enum(['native', 'tool', 'instruction']).optional(),
    /**
     * true: the provider goes on generating, and charges for it, after a stream was closed: a client that leaves then
     * costs all that was held for it.
     * @default false
     */
    generatesOn: z.boolean().optional(),
    /** Features under trial to switch on: values of the header `anthropic-beta`. */
    betas: z.array(z.string()).optional(),
  }),
);
/** The quirks of a provider in the dialect `anthropic-messages`. */
export interface MessagesQuirks extends z.infer<ReturnType<typeof messagesQuirks>> {}
