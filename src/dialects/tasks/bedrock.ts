import { isIndex, isObject, type Loose } from '../../base/values.ts';
import { badResponse } from '../shared/values.ts';
import { coherePayload, cohereVectors, droppedAtCohere, lackAtCohere, textsAlone } from './cohere.ts';
import { type EmbeddingsCodec, jsonTask, type Lack, type RerankCodec, type TaskUsage } from './contract.ts';
import { rankedIn } from './ranked.ts';
import { floatsOf } from './vectors.ts';

/** Ids of models by their author, with or without the region of a profile before it. */
const ofCohere = /(?:^|[./])cohere\./;
const ofTitan = /(?:^|[./])amazon\.titan-embed/;
const titanWithDimensions = /titan-embed-text-v2/;

const mostItemsOfCohere = 96;

/**
 * Embeddings at Bedrock: of Titan, which takes one text a request, and of Cohere.
 * @see https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-titan-embed-text.html
 * @see https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-embed.html
 */
export const bedrockEmbeddings: EmbeddingsCodec = {
  limits: (model) => ({ items: ofCohere.test(model) ? mostItemsOfCohere : 1 }),
  lacks(batch): Lack | null {
    const { items, dimensions, upstreamModel } = batch;
    if (ofCohere.test(upstreamModel)) return lackAtCohere(batch);
    if (!ofTitan.test(upstreamModel))
      return { path: 'model', expected: 'a model of Titan or Cohere, for embeddings at this provider' };
    const at = items.findIndex(({ kind }) => kind !== 'text');
    if (at >= 0) return { path: `input[${at}]`, expected: 'a text: it takes no token ids and no parts' };
    if (dimensions !== null && !titanWithDimensions.test(upstreamModel))
      return { path: 'dimensions', expected: 'none: it makes vectors of one length alone' };
    return null;
  },
  encode(batch) {
    const { items, dimensions, inputType, upstreamModel } = batch;
    const path = pathOf(upstreamModel);
    if (ofCohere.test(upstreamModel)) return jsonTask(path, coherePayload(batch), droppedAtCohere(batch));
    const [item] = items;
    const dropped = [...droppedAtCohere(batch), ...(inputType === null ? [] : ['input_type'])];
    const payload = {
      inputText: item?.kind === 'text' ? item.text : '',
      ...(dimensions === null ? {} : { dimensions }),
      ...(titanWithDimensions.test(upstreamModel) ? { normalize: true } : {}),
    };
    return jsonTask(path, payload, dropped);
  },
  decode(body, headers, batch) {
    if (!isObject(body)) throw badResponse('The provider responded with something that holds no vectors.');
    if (ofCohere.test(batch.upstreamModel)) return { vectors: cohereVectors(body, batch), usage: countIn(headers) };
    const { embedding, inputTextTokenCount: tokens } = body;
    return { vectors: [floatsOf(embedding)], usage: isIndex(tokens) ? { promptTokens: tokens } : countIn(headers) };
  },
};

/** The most documents of a request. */
const mostDocuments = 1_000;

/**
 * Ranking at Bedrock: of Amazon and of Cohere.
 * @see https://docs.aws.amazon.com/bedrock/latest/userguide/rerank-supported.html
 */
export const bedrockRerank: RerankCodec = {
  mostDocuments: () => mostDocuments,
  lacks: textsAlone,
  encode({ query, documents, topN, upstreamModel }) {
    const payload: Loose = { query, documents: documents.map(({ text }) => text) };
    if (topN !== null) payload.top_n = topN;
    if (ofCohere.test(upstreamModel)) payload.api_version = 2;
    return jsonTask(pathOf(upstreamModel), payload);
  },
  decode(body, _, batch) {
    if (!isObject(body)) throw badResponse('The provider responded with something that is no ranking.');
    return { found: rankedIn(body.results, batch), usage: null };
  },
};

function pathOf(model: string): string {
  return `/model/${encodeURIComponent(model)}/invoke`;
}

function countIn(headers: Readonly<Record<string, string>>): TaskUsage | null {
  const count = Number(headers['x-amzn-bedrock-input-token-count'] ?? Number.NaN);
  return isIndex(count) ? { promptTokens: count } : null;
}
