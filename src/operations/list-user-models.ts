import { modelListSchema } from '../schema/model.ts';
import { showModel } from './listings/model-response.ts';
import { type ListingDeps, reachedModels } from './listings/reach.ts';
import { jsonReply, type Operation } from './operation.ts';

/** All models the caller could use, whatever they answer with. */
export function listUserModels(deps: ListingDeps): Operation {
  return {
    name: 'listModelsUser',
    method: 'GET',
    path: '/models/user',
    permissions: ['inference', 'management'],
    body: null,
    result: modelListSchema,
    async run({ caller, basePath }) {
      const found = await reachedModels(deps, caller);
      return jsonReply({ data: found.map((one) => showModel(one, basePath)) });
    },
  };
}
