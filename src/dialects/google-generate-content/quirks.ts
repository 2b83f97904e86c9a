import * as z from 'zod';
import { lazily } from '../../base/lazily.ts';

/** The differences that a provider that speaks Google's generateContent may have. */
export const googleQuirks = lazily(() =>
  z.strictObject({
    /** Request fields that the provider refuses; the gateway does not send them. */
    dropParams: z.array(z.string()).optional(),
    /**
     * The place where the provider takes the service tier: in the body, as the Gemini API does, or in a header, as
     * Vertex AI does.
     * @default `body`
     */
    serviceTier: z.enum(['body', 'header']).optional(),
    /**
     * The operation for embeddings: `batchEmbedContents`, as the Gemini API has it, or `predict`, as Vertex AI has it.
     * @default `batch`
     */
    embeddings: z.enum(['batch', 'predict']).optional(),
    /**
     * false: models of Gemini 2.5 refuse `presence_penalty` and `frequency_penalty`, which are left out for them.
     * @default true
     */
    penaltiesIn25: z.boolean().optional(),
    /**
     * false: the provider refuses the ids of calls, as Vertex AI does. It then tells results apart by their order.
     * @default true
     */
    callIds: z.boolean().optional(),
    /**
     * true: addresses of Cloud Storage (`gs://`) pass. A caller of the model can then have everything read to it that
     * the provider's credential can read.
     * @default false
     */
    cloudStorage: z.boolean().optional(),
    /**
     * true: a count of tokens takes the parts of a request side by side, as Vertex AI does, and not the request in one
     * field.
     * @default false
     */
    countsParts: z.boolean().optional(),
    /**
     * true: callers of the Gemini API may name what is stored in the account of the operator's credential: caches
     * (`cachedContent`), files, stores of files and of documents. Each caller can then use what any other has stored.
     * @default false
     */
    storedContent: z.boolean().optional(),
    /**
     * true: the provider goes on generating, and charges for it, after a stream was closed: a client that leaves then
     * costs all that was held for it.
     * @default false
     */
    generatesOn: z.boolean().optional(),
  }),
);
/** The quirks of a provider in the dialect `google-generate-content`. */
export interface GoogleQuirks extends z.infer<ReturnType<typeof googleQuirks>> {}
