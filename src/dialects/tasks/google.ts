import { readDataUrl } from '../../base/data-url.ts';
import { isIndex, isObject, type Loose } from '../../base/values.ts';
import { badResponse } from '../shared/values.ts';
import {
  type EmbeddingItem,
  type EmbeddingPart,
  type EmbeddingsBatch,
  type EmbeddingsCodec,
  type EncodedTask,
  jsonTask,
  type TaskUsage,
  type Vector,
} from './contract.ts';
import { floatsOf } from './vectors.ts';

/** The quirk of a provider of Google's interface. */
interface GoogleTaskQuirks {
  embeddings?: 'batch' | 'predict' | undefined;
}

/** The words of Google for the usual uses of vectors. */
const taskTypes: Readonly<Record<string, string>> = {
  search_query: 'RETRIEVAL_QUERY',
  search_document: 'RETRIEVAL_DOCUMENT',
  classification: 'CLASSIFICATION',
  clustering: 'CLUSTERING',
};

/** The most items of a request of each form. */
const most = { batch: 100, predict: 250, single: 1 };
const mostTokensOfPredict = 18_000;

type Form = keyof typeof most;

/** Vertex AI takes one item at a time for models of Gemini: the first of them by `predict`, the later by `embedContent`. */
function formOf(model: string, { embeddings }: GoogleTaskQuirks): Form {
  if (embeddings !== 'predict') return 'batch';
  return /gemini-embedding-(?!001)/.test(model) ? 'single' : 'predict';
}

/**
 * Embeddings of Gemini: of the Gemini API, and of Vertex AI.
 * @see https://ai.google.dev/api/embeddings
 * @see https://docs.cloud.google.com/vertex-ai/generative-ai/docs/model-reference/text-embeddings-api
 */
export const googleEmbeddings: EmbeddingsCodec<GoogleTaskQuirks> = {
  limits(model, quirks) {
    const form = formOf(model, quirks);
    if (form !== 'predict') return { items: most[form] };
    return { items: /gemini-embedding/.test(model) ? 1 : most.predict, tokens: mostTokensOfPredict };
  },
  lacks({ items, upstreamModel, quirks }) {
    const takesParts = formOf(upstreamModel, quirks) !== 'predict';
    for (const [at, item] of items.entries()) {
      if (item.kind === 'tokens') return { path: `input[${at}]`, expected: 'a text: it takes no token ids' };
      if (item.kind !== 'parts') continue;
      if (!takesParts) return { path: `input[${at}]`, expected: 'a text: it takes no parts' };
      if (item.parts.some((part) => partOf(part) === null))
        return { path: `input[${at}]`, expected: 'parts of type text, or image_url with a data URL' };
    }
    return null;
  },
  encode: (batch) => encoders[formOf(batch.upstreamModel, batch.quirks)](batch),
  decode(body, _, batch) {
    if (!isObject(body)) throw badResponse('The provider responded with something that holds no vectors.');
    const found = readers[formOf(batch.upstreamModel, batch.quirks)](body);
    if (!Array.isArray(found) || found.length !== batch.items.length)
      throw badResponse('The provider responded with another number of vectors than the request has items.');
    const vectors = found.map((one) => floatsOf(isObject(one) ? one.values : null));
    // A shortened vector comes as it was cut. Its length must be 1, as that of any other.
    return { vectors: batch.dimensions === null ? vectors : vectors.map(normalised), usage: usageIn(body, found) };
  },
};

const encoders: Readonly<Record<Form, (batch: EmbeddingsBatch<GoogleTaskQuirks>) => EncodedTask>> = {
  batch: (batch) =>
    jsonTask(
      `${modelPath(batch.upstreamModel)}:batchEmbedContents`,
      {
        requests: batch.items.map((item) => ({
          model: modelPath(batch.upstreamModel).slice(1),
          content: { parts: partsOf(item) },
          ...settingsOf(batch, 'taskType', 'outputDimensionality'),
        })),
      },
      droppedOf(batch),
    ),
  single: (batch) =>
    jsonTask(
      `${modelPath(batch.upstreamModel)}:embedContent`,
      {
        content: { parts: partsOf(batch.items[0] as EmbeddingItem) },
        embedContentConfig: { ...settingsOf(batch, 'taskType', 'outputDimensionality'), autoTruncate: false },
      },
      droppedOf(batch),
    ),
  predict: (batch) => {
    const { dimensions } = batch;
    return jsonTask(
      `${modelPath(batch.upstreamModel)}:predict`,
      {
        instances: batch.items.map((item) => ({
          content: item.kind === 'text' ? item.text : '',
          ...settingsOf({ ...batch, dimensions: null }, 'task_type', ''),
        })),
        parameters: { autoTruncate: false, ...(dimensions === null ? {} : { outputDimensionality: dimensions }) },
      },
      droppedOf(batch),
    );
  },
};

const readers: Readonly<Record<Form, (body: Loose) => unknown>> = {
  batch: ({ embeddings }) => embeddings,
  single: ({ embedding }) => [embedding],
  predict: ({ predictions }) =>
    Array.isArray(predictions) ? predictions.map((one) => (isObject(one) ? one.embeddings : null)) : null,
};

/** Returns the path of a model, to which `:` and a method are added. */
export function modelPath(model: string): string {
  return `/models/${encodeURIComponent(model.replace(/^models\//, ''))}`;
}

function settingsOf(
  { inputType, dimensions }: EmbeddingsBatch<GoogleTaskQuirks>,
  ofTask: string,
  ofLength: string,
): Loose {
  const word = inputType === null ? null : Object.hasOwn(taskTypes, inputType) ? taskTypes[inputType] : inputType;
  return {
    ...(word === null ? {} : { [ofTask]: word }),
    ...(dimensions === null ? {} : { [ofLength]: dimensions }),
  };
}

function droppedOf({ user }: Pick<EmbeddingsBatch, 'user'>): readonly string[] {
  return user === null ? [] : ['user'];
}

function partsOf(item: EmbeddingItem): (Loose | null)[] {
  if (item.kind === 'text') return [{ text: item.text }];
  return item.kind === 'parts' ? item.parts.map(partOf) : [];
}

function partOf(part: EmbeddingPart): Loose | null {
  if (part.type === 'text' && typeof part.text === 'string') return { text: part.text };
  if (part.type !== 'image_url') return null;
  const url =
    typeof part.image_url === 'string' ? part.image_url : isObject(part.image_url) ? part.image_url.url : null;
  const data = typeof url === 'string' ? readDataUrl(url) : null;
  return data === null ? null : { inlineData: { mimeType: data.mediaType, data: data.base64 } };
}

function normalised(vector: readonly number[]): Vector {
  let squares = 0;
  for (const number of vector) squares += number * number;
  const length = Math.sqrt(squares);
  return length === 0 ? vector : vector.map((number) => number / length);
}

/** Reads the tokens: of the whole response, or those of each item. Most responses of the Gemini API have none. */
function usageIn({ usageMetadata }: Loose, found: readonly unknown[]): TaskUsage | null {
  if (isObject(usageMetadata) && isIndex(usageMetadata.promptTokenCount))
    return { promptTokens: usageMetadata.promptTokenCount };
  let tokens = 0;
  for (const one of found) {
    const count = isObject(one) && isObject(one.statistics) ? one.statistics.token_count : null;
    if (!isIndex(count)) return null;
    tokens += count;
  }
  return { promptTokens: tokens };
}
