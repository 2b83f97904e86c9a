import * as z from 'zod';
import { lazily } from '../../base/lazily.ts';
import { list } from '../bounded.ts';
import { count } from '../scalars.ts';
import { taskCostFields } from '../task-usage.ts';

/** The response of POST /rerank. */
export const rerankResultSchema = lazily(() =>
  z.looseObject({
    /** `gen-…`, as in the record. */
    id: z.string(),
    /** The slug of the model that served. */
    model: z.string(),
    /** Display name of the provider that served. */
    provider: z.string(),
    /** The documents, the best first. */
    results: list(
      z.object({
        /** The place of the document in the request. */
        index: count(),
        /** The score, higher is better. Scores of two models cannot be compared. */
        relevance_score: z.number(),
        /** The document, where the request asks for it. */
        document: z.object({ text: z.string(), image: z.string().optional() }).optional(),
      }),
    ),
    /** `list`, where the request has `top_k`. */
    object: z.literal('list').optional(),
    /** The results again, each document as a text, where the request has `top_k`. */
    data: list(
      z.object({
        /** The place of the document in the request. */
        index: count(),
        /** The score, higher is better. */
        relevance_score: z.number(),
        /** The document, where the request asks for it. */
        document: z.string().optional(),
      }),
    ).optional(),
    /** The tokens or units again, where clients of Cohere look for them. */
    meta: z.looseObject({
      billed_units: z.looseObject({ input_tokens: count().optional(), search_units: count().optional() }),
    }),
    usage: z.looseObject({
      /** Tokens that the provider counted; 0: it sells by search units. */
      total_tokens: count(),
      /** Queries with up to 100 documents each, where the provider sells by them. */
      search_units: count().optional(),
      ...taskCostFields(),
    }),
  }),
);
export interface RerankResult extends z.infer<ReturnType<typeof rerankResultSchema>> {}
