import * as z from 'zod';
import { keepsNothing } from '../routing/filter.ts';
import { list } from '../schema/bounded.ts';
import { endpointSchema, type ShownEndpoint } from '../schema/endpoint.ts';
import type { NoFields } from '../schema/page.ts';
import { showEndpoint } from './listings/endpoint-response.ts';
import { type ListingDeps, reachedModels } from './listings/reach.ts';
import { type ApiOperation, jsonReply } from './operation.ts';

/**
 * Lists the caller's endpoints that a request with `provider.zdr` could use, by the same rule as routing.
 * @see interface document, "GET /endpoints/zdr"
 */
export function listZdrEndpoints(
  deps: ListingDeps,
): ApiOperation<'models.listZdrEndpoints', NoFields, { data: ShownEndpoint[] }> {
  return {
    name: 'listEndpointsZdr',
    api: 'models.listZdrEndpoints',
    method: 'GET',
    path: '/endpoints/zdr',
    permissions: ['inference', 'management'],
    body: null,
    result: () => z.object({ data: list(endpointSchema()) }),
    async run({ caller }) {
      const reached = await reachedModels(deps, caller);
      const nowMs = deps.clock.now();
      return jsonReply({
        data: reached.flatMap(({ model, endpoints }) =>
          endpoints
            .filter(keepsNothing)
            .map((endpoint) => showEndpoint(deps, model, endpoint, nowMs, caller.workspaceId)),
        ),
      });
    },
  };
}
