import * as z from 'zod';
import { lazily } from '../../base/lazily.ts';
import { list } from '../bounded.ts';

/** The response of POST /moderations. */
export const moderationsResultSchema = lazily(() =>
  z.looseObject({
    /** `gen-…`, as in the record. */
    id: z.string(),
    /** The slug of the model that served. */
    model: z.string(),
    /** A result for each text; one for parts. */
    results: list(
      z.looseObject({
        /** true: one of the categories applies. */
        flagged: z.boolean(),
        /** The categories of the provider: true, where one applies; null: the model does not know it. */
        categories: z.record(z.string(), z.boolean().nullable()),
        /** Scores of the categories, 0 to 1. */
        category_scores: z.record(z.string(), z.number().nullable()).optional(),
      }),
    ),
  }),
);
export interface ModerationsResult extends z.infer<ReturnType<typeof moderationsResultSchema>> {}
