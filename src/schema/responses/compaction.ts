import * as z from 'zod';
import { lazily } from '../../base/lazily.ts';
import { list } from '../bounded.ts';
import { integer, text } from '../scalars.ts';
import { responsesUsageSchema } from './result.ts';

/** The result of a compaction: items to go on with in place of the conversation. */
export const compactionSchema = lazily(() =>
  z.looseObject({
    /** `gen-…`. */
    id: text(),
    /** Always `response.compaction`. */
    object: z.literal('response.compaction'),
    /** Unix seconds. */
    created_at: integer(),
    /** Messages of the user, and an item of type `compaction`. */
    output: list(z.looseObject({ type: text() })),
    /** Tokens and cost of the call that wrote it. */
    usage: responsesUsageSchema(),
  }),
);
