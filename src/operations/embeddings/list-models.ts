import { type ModelList, modelListSchema } from '../../schema/models/model.ts';
import { filterModels } from '../models/filter-models.ts';
import { showModel } from '../models/model-response.ts';
import { type ListingDeps, reachedModels } from '../models/reach.ts';
import { type ApiOperation, jsonReply } from '../operation.ts';

/** Lists the models for embeddings that the caller could use: `GET /models?output_modalities=embeddings`, in short. */
export function listEmbeddingsModels(deps: ListingDeps): ApiOperation<'embeddings.models', unknown, ModelList> {
  return {
    name: 'listEmbeddingsModels',
    api: 'embeddings.models',
    method: 'GET',
    path: '/embeddings/models',
    permissions: ['inference', 'management'],
    body: null,
    result: modelListSchema,
    async run({ caller, basePath }) {
      const query = { output_modalities: ['embeddings'] };
      const found = filterModels(await reachedModels(deps, caller), query, deps.provider);
      return jsonReply({ object: 'list', data: found.map((one) => showModel(one, basePath)) });
    },
  };
}
