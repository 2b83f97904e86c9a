import * as z from 'zod';
import { lazily } from '../../base/lazily.ts';
import { list, textUpTo } from '../bounded.ts';
import { expectation } from '../chat/expectations.ts';
import { taskFields } from '../task-fields.ts';

const item = lazily(() => z.string().min(1, expectation('expected a text that is not empty')));
const token = lazily(() => z.int().min(0));
const tokens = lazily(() => list(token()).min(1));

/** An item of several parts: texts, pictures, sounds, videos, files. */
const parts = lazily(() =>
  z.looseObject({
    /** The parts. */
    content: list(
      z.looseObject({
        /** `text`, `image_url`, `input_audio`, `input_video` or `input_file`. */
        type: z.string(),
      }),
    ).min(1),
  }),
);

/** The body of POST /embeddings. */
export const embeddingsRequestSchema = lazily(() =>
  z.strictObject({
    /** The items: a text, texts, token ids, lists of token ids, or objects of parts. */
    input: z.union([item(), list(item()).min(1), tokens(), list(tokens()).min(1), list(parts()).min(1)]),
    ...taskFields(),
    /** The length of each vector, for models that can shorten them. */
    dimensions: z.int().min(1).max(65_536).nullish(),
    /** The form of the vectors. Default `float`. */
    encoding_format: z.enum(['float', 'base64']).nullish(),
    /** The use of the vectors, such as `search_query` or `search_document`. */
    input_type: textUpTo(128).nullish(),
  }),
);
export interface EmbeddingsRequest extends z.infer<ReturnType<typeof embeddingsRequestSchema>> {}
