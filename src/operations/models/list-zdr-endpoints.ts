import * as z from 'zod';
import { keepsNothing } from '../../routing/filter.ts';
import { list } from '../../schema/bounded.ts';
import { endpointSchema, type ShownEndpoint } from '../../schema/models/endpoint.ts';
import { type PartFields, type PartQuery, partOf, partQuery } from '../../schema/page.ts';
import { type ApiOperation, jsonReply } from '../operation.ts';
import { showEndpoint } from './endpoint-response.ts';
import { type ListingDeps, reachedModels } from './reach.ts';

/**
 * Lists the caller's endpoints that a request with `provider.zdr` could use, by the same rule as routing.
 * @see interface document, "GET /endpoints/zdr"
 */
export function listZdrEndpoints(
  deps: ListingDeps,
): ApiOperation<'models.listZdrEndpoints', PartFields, { data: ShownEndpoint[] }, unknown, PartQuery> {
  return {
    name: 'listEndpointsZdr',
    api: 'models.listZdrEndpoints',
    method: 'GET',
    path: '/endpoints/zdr',
    permissions: ['inference', 'management'],
    body: null,
    query: partQuery,
    result: () => z.object({ data: list(endpointSchema()) }),
    async run({ query, caller }) {
      const reached = await reachedModels(deps, caller);
      const nowMs = deps.clock.now();
      const kept = reached.flatMap(({ model, endpoints }) =>
        endpoints.filter(keepsNothing).map((endpoint) => ({ model, endpoint })),
      );
      const data = partOf(kept, query).map(({ model, endpoint }) =>
        showEndpoint(deps, model, endpoint, nowMs, caller.workspaceId),
      );
      return jsonReply({ data });
    },
  };
}
