import * as z from 'zod';
import { lazily } from '../../base/lazily.ts';
import { list } from '../bounded.ts';
import { inputUsageSchema } from '../task-usage.ts';

/** The response of POST /embeddings. */
export const embeddingsResultSchema = lazily(() =>
  z.looseObject({
    /** `gen-…`, as in the record. */
    id: z.string(),
    object: z.literal('list'),
    /** The slug of the model that served. */
    model: z.string(),
    /** A vector for each item, in the order of the items. */
    data: list(
      z.object({
        object: z.literal('embedding'),
        /** The place of the item in `input`. */
        index: z.int().min(0),
        /** Numbers; or base64 of the numbers as float32, little-endian. */
        embedding: z.union([list(z.number()), z.string()]),
      }),
    ),
    usage: inputUsageSchema(),
  }),
);
export interface EmbeddingsResult extends z.infer<ReturnType<typeof embeddingsResultSchema>> {}
