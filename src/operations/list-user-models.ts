import { modelListSchema } from '../schema/model.ts';
import { showModel } from './listings/model-response.ts';
import { type ListingDeps, reachedModels } from './listings/reach.ts';
import { jsonReply, type Operation } from './operation.ts';

/** Lists all models that the caller could use, of every output modality. */
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
