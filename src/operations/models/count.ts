import * as z from 'zod';
import { type ModelsCountFields, type ModelsCountQuery, modelsCountQuery } from '../../schema/models/model.ts';
import { type ApiOperation, jsonReply } from '../operation.ts';
import { filterModels } from './filter-models.ts';
import { type ListingDeps, reachedModels } from './reach.ts';

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
