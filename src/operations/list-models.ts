import { type ModelsFields, type ModelsQuery, modelListSchema, modelsQuery, type ShownModel } from '../schema/model.ts';
import { filterModels } from './listings/filter-models.ts';
import { showModel } from './listings/model-response.ts';
import { type ListingDeps, reachedModels } from './listings/reach.ts';
import { sortModels } from './listings/sort-models.ts';
import { type ApiOperation, jsonReply } from './operation.ts';

/** Lists the models that the caller could use. Default: only models that produce text. */
export function listModels(
  deps: ListingDeps,
): ApiOperation<'models.list', ModelsFields, { data: ShownModel[] }, unknown, ModelsQuery> {
  return {
    name: 'getModels',
    api: 'models.list',
    method: 'GET',
    path: '/models',
    permissions: ['inference', 'management'],
    body: null,
    query: modelsQuery,
    result: modelListSchema,
    async run({ query, caller, basePath }) {
      const found = filterModels(await reachedModels(deps, caller), query, deps.provider);
      const sorted = query.sort === undefined ? found : sortModels(found, query.sort, deps);
      return jsonReply({ data: sorted.map((one) => showModel(one, basePath)) });
    },
  };
}
