import * as z from 'zod';
import { isoTime } from '../../base/clock.ts';
import { endpointKey } from '../../call/facts.ts';
import { keepsNothing } from '../../routing/filter.ts';
import { list } from '../../schema/bounded.ts';
import { endpointWithStateSchema, type ShownEndpointWithState } from '../../schema/models/endpoint.ts';
import { type PartFields, type PartQuery, partOf, partQuery } from '../../schema/page.ts';
import { type ApiOperation, jsonReply } from '../operation.ts';
import { showEndpoint } from './endpoint-response.ts';
import { type ListingDeps, reachedModels } from './reach.ts';

/** Lists the endpoints of all models that the caller reaches, with their health and the ends of their cooldowns. */
export function listAllEndpoints(
  deps: ListingDeps,
): ApiOperation<'models.listAllEndpoints', PartFields, { data: ShownEndpointWithState[] }, unknown, PartQuery> {
  return {
    name: 'listAllEndpoints',
    api: 'models.listAllEndpoints',
    method: 'GET',
    path: '/endpoints',
    permissions: ['inference', 'management'],
    body: null,
    query: partQuery,
    result: () => z.object({ data: list(endpointWithStateSchema()) }),
    async run({ query, caller }) {
      const reached = await reachedModels(deps, caller);
      const nowMs = deps.clock.now();
      const health = deps.health.view(nowMs, caller.workspaceId);
      const all = reached.flatMap(({ model, endpoints }) => endpoints.map((endpoint) => ({ model, endpoint })));
      const data = partOf(all, query).map(({ model, endpoint }) => {
        const untilMs = health.cooldownUntil(endpointKey(endpoint));
        return {
          ...showEndpoint(deps, model, endpoint, nowMs, caller.workspaceId),
          is_zdr: keepsNothing(endpoint),
          cooldown_until: untilMs === undefined ? null : isoTime(untilMs),
        };
      });
      return jsonReply({ data });
    },
  };
}
