import * as z from 'zod';
import { type ModelsCountFields, type ModelsCountQuery, modelsCountQuery } from '../schema/model.ts';
import { filterModels } from './listings/filter-models.ts';
import { type ListingDeps, reachedModels } from './listings/reach.ts';
import { type ApiOperation, jsonReply } from './operation.ts';

/** Counts the models that GET /models lists for the same output modalities. */
export function countModels(
  deps: ListingDeps,
): ApiOperation<'models.count', ModelsCountFields, { data: { count: number } }, unknown, ModelsCountQuery> {
  return {
    name: 'listModelsCount',
    api: 'models.count',
    method: 'GET',
    path: '/models/count',
    permissions: ['inference', 'management'],
    body: null,
    query: modelsCountQuery,
    result: () => z.object({ data: z.object({ count: z.int() }) }),
    async run({ query, caller }) {
      const found = filterModels(await reachedModels(deps, caller), query, deps.provider);
      return jsonReply({ data: { count: found.length } });
    },
  };
}
