import { refusal } from '../../base/refusal.ts';
import type { GeminiModel, GeminiModelList } from '../../schema/models/gemini-model.ts';
import type { ModelsQuery, ShownModel } from '../../schema/models/model.ts';
import { withAliases } from './model-response.ts';
import type { ReachedModel } from './reach.ts';

/** The page that a client of the Gemini wire gets where it names no size. */
const usualSize = 50;
/** The largest page. Google gives no more either, to clients that ask for more. */
const mostModels = 1_000;

const methods = ['generateContent', 'streamGenerateContent', 'countTokens'];
/** Calls that make vectors. */
const methodsOfVectors = ['embedContent', 'batchEmbedContents'];

/**
 * Shows a model as clients of the Gemini wire expect it.
 * @param id   the name by which it was asked for
 * @see https://ai.google.dev/api/models#Model
 */
export function showGeminiModel(model: ShownModel, id: string = model.id): GeminiModel {
  const { top_provider: top, context_length: context, supported_parameters: supported } = model;
  const makesVectors = model.architecture.output_modalities.includes('embeddings');
  const input = context ?? top.context_length;
  const output = top.max_completion_tokens;
  return {
    name: `models/${id}`,
    baseModelId: model.id,
    version: '',
    displayName: model.name,
    description: model.description,
    ...(input === null ? {} : { inputTokenLimit: input }),
    ...(output === null ? {} : { outputTokenLimit: output }),
    supportedGenerationMethods: makesVectors ? [...methodsOfVectors] : [...methods],
    ...(supported.includes('reasoning') ? { thinking: true } : {}),
  };
}

/**
 * Lists models with their aliases, page by page. The token of a page is the last name of the page before.
 * @throws GatewayError invalid_request (400) for a `pageToken` that no page of this list gave
 */
export function listGeminiModels(
  reached: readonly ReachedModel[],
  { pageSize = usualSize, pageToken: token }: ModelsQuery,
  basePath: string,
): GeminiModelList {
  const all = withAliases(reached, basePath, showGeminiModel);
  const before = token === undefined ? -1 : all.findIndex(({ name }) => name === token);
  if (token !== undefined && before === -1)
    throw refusal('invalid_request', [
      { path: 'pageToken', message: 'no page of this list gave it; ask without it for the first page' },
    ]);
  const models = all.slice(before + 1, before + 1 + Math.min(pageSize, mostModels));
  const last = models.at(-1);
  const isLast = before + 1 + models.length >= all.length;
  return { models, ...(last === undefined || isLast ? {} : { nextPageToken: last.name }) };
}
