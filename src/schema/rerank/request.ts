import * as z from 'zod';
import { lazily } from '../../base/lazily.ts';
import { list } from '../bounded.ts';
import { expectation } from '../chat/expectations.ts';
import { taskFields } from '../task-fields.ts';

/** A document: a text, or an object with a text, and a picture where there is one. */
const document = lazily(() =>
  z.union([
    z.string(),
    z.strictObject({
      /** The text. */
      text: z.string().optional(),
      /** A picture, as a URL or a data URL. */
      image: z.string().min(1).optional(),
    }),
  ]),
);

/** The body of POST /rerank. */
export const rerankRequestSchema = lazily(() =>
  z.strictObject({
    /** The question that the documents are ranked by. */
    query: z.string().min(1, expectation('expected a text that is not empty')),
    /** The documents. */
    documents: list(document()).min(1),
    ...taskFields(),
    /** The most results. Default: all. */
    top_n: z.int().min(1).nullish(),
    /** The same, by the name that Voyage AI has for it: the response then has `data` too. */
    top_k: z.int().min(1).nullish(),
    /** true: each result has its document. Default false. */
    return_documents: z.boolean().nullish(),
  }),
);
export interface RerankRequest extends z.infer<ReturnType<typeof rerankRequestSchema>> {}
