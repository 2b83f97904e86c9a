import { type ModelEndpoints, modelEndpointsSchema } from '../../schema/models/model.ts';
import { type ApiOperation, jsonReply } from '../operation.ts';
import { showArchitecture } from './architecture.ts';
import { showEndpoint } from './endpoint-response.ts';
import type { ListingDeps } from './reach.ts';
import { resolveModel } from './resolve-model.ts';

/** Lists the endpoints of one model with their health, disabled endpoints included. */
export function listModelEndpoints(
  deps: ListingDeps,
): ApiOperation<'models.listEndpoints', { author: string; slug: string }, ModelEndpoints> {
  return {
    name: 'listEndpoints',
    api: 'models.listEndpoints',
    method: 'GET',
    path: '/models/:author/:slug/endpoints',
    permissions: ['inference', 'management'],
    body: null,
    result: modelEndpointsSchema,
    async run({ params, caller }) {
      const { model, endpoints } = await resolveModel(deps, caller, `${params.author}/${params.slug}`);
      const nowMs = deps.clock.now();
      return jsonReply({
        data: {
          id: model.slug,
          name: model.name,
          created: model.created ?? 0,
          description: model.description ?? '',
          architecture: showArchitecture(model),
          endpoints: endpoints.map((endpoint) => showEndpoint(deps, model, endpoint, nowMs, caller.workspaceId)),
        },
      });
    },
  };
}
