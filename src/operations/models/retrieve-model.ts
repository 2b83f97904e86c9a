import { modelSchema, type ShownModel } from '../../schema/models/model.ts';
import { type ApiOperation, jsonReply } from '../operation.ts';
import { showGeminiModel } from './gemini-models.ts';
import { showMessagesModel } from './messages-models.ts';
import type { ListingDeps } from './reach.ts';
import { shownModel } from './resolve-model.ts';

/**
 * Returns one model by its id, in the form that clients of OpenAI's interface expect: without `data` around it. The id
 * has a slash, plain or as `%2F`.
 */
export function retrieveModel(deps: ListingDeps): ApiOperation<'models.retrieve', { id: string }, ShownModel> {
  return {
    name: 'retrieveModel',
    api: 'models.retrieve',
    method: 'GET',
    path: '/models/:id+',
    permissions: ['inference', 'management'],
    wire: 'asked',
    body: null,
    result: modelSchema,
    async run({ params: { id = '' }, caller, basePath, wire }) {
      // Some clients of the Gemini wire write `models/` twice, as they do in their calls.
      const wanted = wire === 'gemini' ? id.replace(/^models\//, '') : id;
      const model = await shownModel(deps, caller, wanted, basePath);
      if (wire === 'gemini') return jsonReply(showGeminiModel(model, wanted));
      return jsonReply(wire === 'messages' ? showMessagesModel(model, id) : model);
    },
  };
}
