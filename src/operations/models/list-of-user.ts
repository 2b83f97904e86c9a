import { type ModelList, modelListSchema } from '../../schema/models/model.ts';
import { type PartFields, type PartQuery, partOf, partQuery } from '../../schema/page.ts';
import { type ApiOperation, jsonReply } from '../operation.ts';
import { showModel } from './model-response.ts';
import { type ListingDeps, reachedModels } from './reach.ts';

/** Lists all models that the caller could use, of every output modality. */
export function listUserModels(
  deps: ListingDeps,
): ApiOperation<'models.listUser', PartFields, ModelList, unknown, PartQuery> {
  return {
    name: 'listModelsUser',
    api: 'models.listUser',
    method: 'GET',
    path: '/models/user',
    permissions: ['inference', 'management'],
    body: null,
    query: partQuery,
    result: modelListSchema,
    async run({ query, caller, basePath }) {
      const found = partOf(await reachedModels(deps, caller), query);
      return jsonReply({ object: 'list', data: found.map((one) => showModel(one, basePath)) });
    },
  };
}
