import * as z from 'zod';
import { lazily } from '../../base/lazily.ts';
import { isIndex, isObject, type Loose } from '../../base/values.ts';
import { badResponse } from '../shared/values.ts';
import {
  type DecodedVectors,
  type EmbeddingItem,
  type EmbeddingsBatch,
  type EmbeddingsCodec,
  jsonTask,
  type TaskUsage,
  type Vector,
} from './contract.ts';
import { vectorOf } from './vectors.ts';

/** The differences of a server whose embeddings are like those of OpenAI. */
export const embeddingsQuirks = lazily(() =>
  z.strictObject({
    /**
     * The most items of a request; a longer list is sent in several.
     * @default 512
     */
    items: z.int().min(1).optional(),
    /**
     * The most tokens of a request, by an estimate; a longer list is sent in several.
     * @default 250000
     */
    tokens: z.int().min(1).optional(),
    /**
     * The provider's field for `dimensions`; null: it takes none, and a request that needs them goes to another endpoint.
     * @default `dimensions`
     */
    dimensionsField: z.string().min(1).nullable().optional(),
    /**
     * The provider's field for `encoding_format`; null: it takes none, and the gateway makes base64 of its numbers.
     * @default `encoding_format`
     */
    encodingField: z.string().min(1).nullable().optional(),
    /**
     * The provider's field for `input_type`; null: it takes none, and the field is dropped.
     * @default null
     */
    inputTypeField: z.string().min(1).nullable().optional(),
    /** The provider's words for values of `input_type`. A value that is not here is sent as it is. */
    inputTypes: z.record(z.string(), z.string()).optional(),
    /**
     * false: the provider takes no token ids, and a request with them goes to another endpoint.
     * @default true
     */
    tokenInputs: z.boolean().optional(),
    /**
     * true: the provider takes `user`.
     * @default true
     */
    user: z.boolean().optional(),
    /** Further fields of each request, such as `truncation: false`. */
    fields: z.record(z.string(), z.unknown()).optional(),
  }),
);

/** The quirks of tasks, and of the address of a model. */
export interface OpenAiTaskQuirks {
  modelInPath?: boolean | undefined;
  decisions?: boolean | undefined;
  embeddings?: z.infer<ReturnType<typeof embeddingsQuirks>> | undefined;
}

const usualItems = 512;
const usualTokens = 250_000;

/**
 * Embeddings as OpenAI defined them.
 * @see https://platform.openai.com/docs/api-reference/embeddings/create
 */
export const openaiEmbeddings: EmbeddingsCodec<OpenAiTaskQuirks> = {
  limits: (_, { embeddings: { items = usualItems, tokens = usualTokens } = {} }) => ({ items, tokens }),
  lacks({ items, dimensions, quirks: { embeddings: quirks = {} } }) {
    const at = items.findIndex(({ kind }) => kind === 'parts' || (kind === 'tokens' && quirks.tokenInputs === false));
    if (at >= 0) {
      const expected =
        items[at]?.kind === 'parts' ? 'a text or token ids: it takes no parts' : 'a text: it takes no token ids';
      return { path: `input[${at}]`, expected };
    }
    if (dimensions !== null && quirks.dimensionsField === null)
      return { path: 'dimensions', expected: 'none: it makes vectors of one length alone' };
    return null;
  },
  encode(batch) {
    const { items, dimensions, inputType, user, wantsBase64, upstreamModel, quirks: all } = batch;
    const quirks = all.embeddings ?? {};
    const { dimensionsField = 'dimensions', encodingField = 'encoding_format', inputTypeField = null } = quirks;
    const dropped: string[] = [];
    const payload: Loose = { model: upstreamModel, input: items.map(inputOf), ...quirks.fields };
    if (dimensions !== null && dimensionsField !== null) payload[dimensionsField] = dimensions;
    // A server that does not know base64 would refuse the word, and `float` is its default.
    if (wantsBase64 && encodingField !== null) payload[encodingField] = 'base64';
    if (inputType !== null && inputTypeField !== null)
      payload[inputTypeField] = wordFor(inputType, quirks.inputTypes ?? {});
    else if (inputType !== null) dropped.push('input_type');
    if (user !== null && quirks.user !== false) payload.user = user;
    else if (user !== null) dropped.push('user');
    return jsonTask(pathOf(upstreamModel, all, 'embeddings'), payload, dropped);
  },
  decode: (body, _, batch) => decodeVectors(body, batch),
};

function wordFor(inputType: string, words: Readonly<Record<string, string>>): string {
  return Object.hasOwn(words, inputType) ? (words[inputType] as string) : inputType;
}

/** Returns the path of a task, with the model in it where the server wants that. */
export function pathOf(model: string, { modelInPath }: OpenAiTaskQuirks, task: string): string {
  return modelInPath === true ? `/deployments/${encodeURIComponent(model)}/${task}` : `/${task}`;
}

function inputOf(item: EmbeddingItem): unknown {
  return item.kind === 'text' ? item.text : item.kind === 'tokens' ? item.tokens : item.parts;
}

/** Reads the vectors of a body, each at the place that its index says. @throws UpstreamError bad_response */
export function decodeVectors(body: unknown, { items }: Pick<EmbeddingsBatch, 'items'>): DecodedVectors {
  if (!isObject(body) || !Array.isArray(body.data))
    throw badResponse('The provider responded without a list of vectors.');
  const vectors: (Vector | undefined)[] = new Array(items.length).fill(undefined);
  for (const [position, one] of body.data.entries()) {
    if (!isObject(one)) throw badResponse('The provider responded with a vector that is no object.');
    const index = one.index === undefined ? position : one.index;
    if (!isIndex(index) || index >= vectors.length || vectors[index] !== undefined)
      throw badResponse('The provider responded with a vector for no item of the request.');
    vectors[index] = vectorOf(one.embedding);
  }
  if (vectors.includes(undefined))
    throw badResponse('The provider responded with fewer vectors than the request has items.');
  return { vectors: vectors as Vector[], usage: tokensIn(body.usage) };
}

/** Reads the tokens of a usage of OpenAI's form, with or without `prompt_tokens`. */
export function tokensIn(usage: unknown): TaskUsage | null {
  if (!isObject(usage)) return null;
  const { prompt_tokens: prompt, total_tokens: total } = usage;
  const tokens = isIndex(prompt) && prompt > 0 ? prompt : isIndex(total) && total > 0 ? total : null;
  const details = isObject(usage.prompt_tokens_details) ? usage.prompt_tokens_details : {};
  return {
    promptTokens: tokens,
    ...(isIndex(details.image_tokens) ? { imageTokens: details.image_tokens } : {}),
    ...(isIndex(details.audio_tokens) ? { audioTokens: details.audio_tokens } : {}),
  };
}
