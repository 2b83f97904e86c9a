import * as z from 'zod';
import { GatewayError } from '../base/errors.ts';
import { modelSchema, type ShownModel } from '../schema/model.ts';
import { showModel } from './listings/model-response.ts';
import type { ListingDeps } from './listings/reach.ts';
import { resolveModel } from './listings/resolve-model.ts';
import { type ApiOperation, jsonReply } from './operation.ts';

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
      const { model, endpoints: all } = await resolveModel(deps, caller, params);
      const endpoints = all.filter(({ isDisabled }) => isDisabled !== true);
      if (endpoints.length === 0) throw new GatewayError('not_found', 'All that serves this model is disabled');
      return jsonReply({ data: showModel({ model, endpoints }, basePath) });
    },
  };
}
