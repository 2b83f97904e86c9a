import { isIndex, isObject, type Loose } from '../../base/values.ts';
import { badResponse } from '../shared/values.ts';
import {
  type EmbeddingItem,
  type EmbeddingPart,
  type EmbeddingsBatch,
  type EmbeddingsCodec,
  jsonTask,
  type Lack,
  type RerankCodec,
  type TaskUsage,
  type Vector,
} from './contract.ts';
import { rankedIn } from './ranked.ts';
import { floatsOf } from './vectors.ts';

const mostItems = 96;

/** The uses of vectors that Cohere knows. The field is required. */
const inputTypes = ['search_document', 'search_query', 'classification', 'clustering', 'image'];
const usualInputType = 'search_document';

/**
 * Embeddings as Cohere defines them.
 * @see https://docs.cohere.com/reference/embed
 */
export const cohereEmbeddings: EmbeddingsCodec = {
  limits: () => ({ items: mostItems }),
  lacks: lackAtCohere,
  encode: (batch) =>
    jsonTask('/embed', { model: batch.upstreamModel, ...coherePayload(batch) }, droppedAtCohere(batch)),
  decode(body, _, batch) {
    if (!isObject(body)) throw badResponse('The provider responded with something that holds no vectors.');
    return { vectors: cohereVectors(body, batch), usage: billedIn(body) };
  },
};

/** Returns the first part of a request that Cohere cannot take. */
export function lackAtCohere({ items, inputType }: EmbeddingsBatch): Lack | null {
  if (inputType !== null && !inputTypes.includes(inputType))
    return { path: 'input_type', expected: `one of ${inputTypes.join(', ')}` };
  for (const [at, item] of items.entries()) {
    if (item.kind === 'tokens') return { path: `input[${at}]`, expected: 'a text: it takes no token ids' };
    if (item.kind === 'parts' && item.parts.some((part) => partOf(part) === null))
      return { path: `input[${at}]`, expected: 'parts of type text or image_url' };
  }
  return null;
}

/** Returns the fields that Cohere does not get. */
export function droppedAtCohere({ user }: EmbeddingsBatch): readonly string[] {
  return user === null ? [] : ['user'];
}

/** Returns the body of a request, without the model. Numbers alone are asked for: the gateway makes base64 of them. */
export function coherePayload({ items, inputType, dimensions }: EmbeddingsBatch): Loose {
  const texts = items.map((item) => (item.kind === 'text' ? item.text : null));
  return {
    input_type: inputType ?? usualInputType,
    ...(texts.includes(null) ? { inputs: items.map(inputOf) } : { texts }),
    ...(dimensions === null ? {} : { output_dimension: dimensions }),
    embedding_types: ['float'],
    // A text that is cut in silence would have the vector of another text.
    truncate: 'NONE',
  };
}

function inputOf(item: EmbeddingItem): Loose {
  if (item.kind === 'text') return { content: [{ type: 'text', text: item.text }] };
  return { content: item.kind === 'parts' ? item.parts.map(partOf) : [] };
}

function partOf(part: EmbeddingPart): Loose | null {
  if (part.type === 'text' && typeof part.text === 'string') return { type: 'text', text: part.text };
  if (part.type !== 'image_url') return null;
  const url =
    typeof part.image_url === 'string' ? part.image_url : isObject(part.image_url) ? part.image_url.url : null;
  return typeof url === 'string' ? { type: 'image_url', image_url: { url } } : null;
}

/** Reads the vectors: those of type `float` alone. @throws UpstreamError bad_response */
export function cohereVectors({ embeddings }: Loose, { items }: Pick<EmbeddingsBatch, 'items'>): readonly Vector[] {
  const list = isObject(embeddings) ? embeddings.float : embeddings;
  if (!Array.isArray(list) || list.length !== items.length)
    throw badResponse('The provider responded with another number of vectors than the request has items.');
  return list.map(floatsOf);
}

function billedIn({ meta }: Loose): TaskUsage | null {
  const billed = isObject(meta) && isObject(meta.billed_units) ? meta.billed_units : null;
  if (billed === null) return null;
  const { input_tokens: text, image_tokens: image, search_units: searches } = billed;
  const imageTokens = isIndex(image) ? image : 0;
  return {
    promptTokens: isIndex(text) ? text + imageTokens : imageTokens > 0 ? imageTokens : null,
    ...(imageTokens > 0 ? { imageTokens } : {}),
    ...(isIndex(searches) ? { units: { search_unit: searches } } : {}),
  };
}

/** More documents are refused. */
const mostDocuments = 10_000;

/**
 * Ranking as Cohere defines it.
 * @see https://docs.cohere.com/reference/rerank
 */
export const cohereRerank: RerankCodec = {
  mostDocuments: () => mostDocuments,
  lacks: textsAlone,
  encode: ({ query, documents, topN, upstreamModel }) =>
    jsonTask('/rerank', {
      model: upstreamModel,
      query,
      documents: documents.map(({ text }) => text),
      ...(topN === null ? {} : { top_n: topN }),
    }),
  decode(body, _, batch) {
    if (!isObject(body)) throw badResponse('The provider responded with something that is no ranking.');
    return { found: rankedIn(body.results, batch), usage: billedIn(body) };
  },
};

/** Returns the first document with a picture, which most rerankers cannot read. */
export function textsAlone({ documents }: { documents: readonly { image?: string }[] }): Lack | null {
  const at = documents.findIndex(({ image }) => image !== undefined);
  return at < 0 ? null : { path: `documents[${at}].image`, expected: 'none: it ranks texts' };
}
