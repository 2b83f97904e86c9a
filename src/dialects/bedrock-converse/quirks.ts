import * as z from 'zod';
import { lazily } from '../../base/lazily.ts';
import { families } from './model.ts';

/** What a provider that speaks Converse may do differently. */
export const converseQuirks = lazily(() =>
  z.strictObject({
    /**
     * The family of the models whose id does not name one, such as the ARN of an inference profile: how they are asked
     * to reason, and what they take. Not known: what is special to a family is left out.
     * @default not known
     */
    family: z.enum(families).optional(),
    /**
     * true: addresses in S3 (`s3://`) pass. Whoever may call the model can then have read to them what the provider's
     * credential can read.
     * @default false
     */
    s3: z.boolean().optional(),
    /**
     * true: the provider goes on generating, and charges for it, after a stream was closed: a client that leaves then
     * costs all that was held for it.
     * @default false
     */
    generatesOn: z.boolean().optional(),
  }),
);
/** How a provider differs in the dialect `bedrock-converse`. */
export interface ConverseQuirks extends z.infer<ReturnType<typeof converseQuirks>> {}
