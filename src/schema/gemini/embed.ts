import * as z from 'zod';
import { lazily } from '../../base/lazily.ts';
import { jsonObject, list } from '../bounded.ts';
import { taskFields } from '../task-fields.ts';

/** Settings of a vector. */
const settings = lazily(() => ({
  /** The use of the vector, such as `RETRIEVAL_QUERY`. */
  taskType: z.string().max(128).nullish(),
  /** The title of a document. No provider gets it. */
  title: z.string().nullish(),
  /** The length of the vector, for models that can shorten it. */
  outputDimensionality: z.int().min(1).max(65_536).nullish(),
}));

const item = lazily(() => ({
  /** The model, as in the path. */
  model: z.string().nullish(),
  /** The parts of which the vector is made: texts, or pictures as `inlineData`. */
  content: z.looseObject({ parts: list(jsonObject()).min(1) }),
  ...settings(),
}));

const ofGateway = lazily(() => {
  const { model: _, ...fields } = taskFields();
  return fields;
});

/** The body of POST /models/{model}:embedContent. A field may also be written with underscores. */
export const embedContentSchema = lazily(() =>
  z.strictObject({
    ...item(),
    /** The same settings, as newer clients write them. */
    embedContentConfig: z.strictObject(settings()).nullish(),
    ...ofGateway(),
  }),
);
export interface EmbedContentRequest extends z.infer<ReturnType<typeof embedContentSchema>> {}

/** The body of POST /models/{model}:batchEmbedContents. A field may also be written with underscores. */
export const batchEmbedContentsSchema = lazily(() =>
  z.strictObject({
    /** An item for each vector. Their settings are the same. */
    requests: list(z.strictObject(item())).min(1),
    ...ofGateway(),
  }),
);
export interface BatchEmbedContentsRequest extends z.infer<ReturnType<typeof batchEmbedContentsSchema>> {}

const vector = lazily(() => z.looseObject({ values: list(z.number()) }));
const usage = lazily(() => z.object({ promptTokenCount: z.int().min(0) }));

/** The response of POST /models/{model}:embedContent. */
export const embedContentResultSchema = lazily(() =>
  z.looseObject({
    /** The vector. */
    embedding: vector(),
    /** The tokens that were paid for. */
    usageMetadata: usage(),
  }),
);

/** The response of POST /models/{model}:batchEmbedContents. */
export const batchEmbedContentsResultSchema = lazily(() =>
  z.looseObject({
    /** A vector for each item, in their order. */
    embeddings: list(vector()),
    /** The tokens that were paid for. */
    usageMetadata: usage(),
  }),
);
