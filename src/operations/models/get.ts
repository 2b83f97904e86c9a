import * as z from 'zod';
import { modelSchema, type ShownModel } from '../../schema/models/model.ts';
import { type ApiOperation, jsonReply } from '../operation.ts';
import type { ListingDeps } from './reach.ts';
import { shownModel } from './resolve-model.ts';

/** Returns one model in the form of GET /models. */
export function getModel(
  deps: ListingDeps,
): ApiOperation<'models.get', { author: string; slug: string }, { data: ShownModel }> {
  return {
    name: 'getModel',
    api: 'models.get',
    method: 'GET',
    path: '/model/:author/:slug',
    permissions: ['inference', 'management'],
    body: null,
    result: () => z.object({ data: modelSchema() }),
    async run({ params, caller, basePath }) {
      return jsonReply({ data: await shownModel(deps, caller, `${params.author}/${params.slug}`, basePath) });
    },
  };
}
