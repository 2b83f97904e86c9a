import * as z from 'zod';
import { lazily } from '../../base/lazily.ts';
import { families } from './model.ts';

/** The differences that a provider that speaks Converse may have. */
export const converseQuirks = lazily(() =>
  z.strictObject({
    /**
     * The family of the models whose id does not name one, such as the ARN of an inference profile. It decides how they
     * are asked to reason, and which features they take. Not known: features of a family are left out.
     * @default not known
     */
    family: z.enum(families).optional(),
    /**
     * true: addresses in S3 (`s3://`) pass. A caller of the model can then have everything read to it that the
     * provider's credential can read.
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
/** The quirks of a provider in the dialect `bedrock-converse`. */
export interface ConverseQuirks extends z.infer<ReturnType<typeof converseQuirks>> {}
