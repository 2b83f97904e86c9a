import * as z from 'zod';
import { lazily } from '../../base/lazily.ts';
import { isIndex, isObject, type Loose } from '../../base/values.ts';
import { badResponse } from '../shared/values.ts';
import { textsAlone } from './cohere.ts';
import { jsonTask, type ModerationsCodec, type RerankCodec } from './contract.ts';
import { type OpenAiTaskQuirks, pathOf, tokensIn } from './openai.ts';
import { rankedIn } from './ranked.ts';

/** The differences of a server with rerankers. */
export const rerankQuirks = lazily(() =>
  z.strictObject({
    /**
     * The provider's field for `top_n`.
     * @default `top_n`
     */
    topField: z.string().min(1).optional(),
    /**
     * The most documents of a request; a request with more goes to another endpoint.
     * @default 1000
     */
    documents: z.int().min(1).optional(),
    /**
     * true: the provider takes documents as objects with a picture, `{ text, image }`.
     * @default false
     */
    images: z.boolean().optional(),
    /** Further fields of each request, such as `truncation: false`. */
    fields: z.record(z.string(), z.unknown()).optional(),
  }),
);

interface Quirks extends OpenAiTaskQuirks {
  rerank?: z.infer<ReturnType<typeof rerankQuirks>> | undefined;
}

const usualDocuments = 1_000;

/**
 * Ranking as most servers have it: `POST /rerank`, with a list under `results` or `data`.
 * @see https://docs.voyageai.com/reference/reranker-api
 * @see https://docs.together.ai/reference/rerank
 * @see https://api.jina.ai/redoc
 */
export const openaiRerank: RerankCodec<Quirks> = {
  mostDocuments: (_, { rerank }) => rerank?.documents ?? usualDocuments,
  lacks: (batch) => (batch.quirks.rerank?.images === true ? null : textsAlone(batch)),
  encode({ query, documents, topN, upstreamModel, quirks }) {
    const { topField = 'top_n', fields } = quirks.rerank ?? {};
    const hasImages = documents.some(({ image }) => image !== undefined);
    const payload: Loose = {
      model: upstreamModel,
      query,
      documents: hasImages ? documents.map((one) => ({ ...one })) : documents.map(({ text }) => text),
      ...fields,
    };
    if (topN !== null) payload[topField] = topN;
    // The caller has the documents: they need not come back.
    payload.return_documents = false;
    return jsonTask(pathOf(upstreamModel, quirks, 'rerank'), payload);
  },
  decode(body, _, batch) {
    if (!isObject(body)) throw badResponse('The provider responded with something that is no ranking.');
    const { results, data, usage } = body;
    const units = isObject(usage) && isIndex(usage.search_units) ? { search_unit: usage.search_units } : undefined;
    const counted = tokensIn(usage);
    return {
      found: rankedIn(results ?? data, batch),
      usage: counted === null ? null : { ...counted, ...(units === undefined ? {} : { units }) },
    };
  },
};

/**
 * Moderations as OpenAI defined them.
 * @see https://platform.openai.com/docs/api-reference/moderations/create
 */
export const openaiModerations: ModerationsCodec<OpenAiTaskQuirks> = {
  lacks: () => null,
  encode: ({ input, upstreamModel, quirks }) =>
    jsonTask(pathOf(upstreamModel, quirks, 'moderations'), { model: upstreamModel, input }),
  decode(body, { input }) {
    if (!isObject(body) || !Array.isArray(body.results) || body.results.length === 0)
      throw badResponse('The provider responded without results of a moderation.');
    const isOfTexts = Array.isArray(input) && typeof input[0] === 'string';
    if (isOfTexts && body.results.length !== input.length)
      throw badResponse('The provider responded with another number of results than the request has texts.');
    const results = body.results.map((one) => {
      if (!isObject(one) || !isObject(one.categories))
        throw badResponse('The provider responded with a result of a moderation that has no categories.');
      // Some providers tell the categories alone.
      const flagged = typeof one.flagged === 'boolean' ? one.flagged : Object.values(one.categories).includes(true);
      return { ...one, flagged };
    });
    return { found: results, usage: tokensIn(body.usage) };
  },
};
