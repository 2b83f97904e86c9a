import { noQuery } from '../../schema/page.ts';
import { type DeletedResponse, deletedResponseSchema, type ResponseFields } from '../../schema/responses/stored.ts';
import { type ApiOperation, jsonReply } from '../operation.ts';
import { keptResponses, reachResponse, type StoredResponseDeps } from './reach.ts';

/**
 * Removes a response that was kept, and its input, from the store.
 * @see https://platform.openai.com/docs/api-reference/responses/delete
 */
export function deleteResponse({
  responses,
}: StoredResponseDeps): ApiOperation<'responses.delete', ResponseFields, DeletedResponse> {
  return {
    name: 'deleteResponse',
    wire: 'responses',
    api: 'responses.delete',
    method: 'DELETE',
    path: '/responses/:id',
    permissions: ['inference', 'management'],
    body: null,
    query: noQuery,
    result: deletedResponseSchema,
    async run({ params, caller }) {
      const id = params.id as string;
      const kept = keptResponses(responses);
      const { workspaceId } = await reachResponse(kept, caller, id);
      await kept.remove(workspaceId, id);
      return jsonReply({ id, object: 'response', deleted: true });
    },
  };
}
