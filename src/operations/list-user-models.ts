import { modelListSchema, type ShownModel } from '../schema/model.ts';
import type { NoFields } from '../schema/page.ts';
import { showModel } from './listings/model-response.ts';
import { type ListingDeps, reachedModels } from './listings/reach.ts';
import { type ApiOperation, jsonReply } from './operation.ts';

/** Lists all models that the caller could use, of every output modality. */
export function listUserModels(deps: ListingDeps): ApiOperation<'models.listUser', NoFields, { data: ShownModel[] }> {
  return {
    name: 'listModelsUser',
    api: 'models.listUser',
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
