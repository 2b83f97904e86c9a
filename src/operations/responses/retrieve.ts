import { type ResponsesResult, responsesResultSchema } from '../../schema/responses/result.ts';
import { type ResponseFields, type ResponseQuery, responseQuery } from '../../schema/responses/stored.ts';
import { type ApiOperation, jsonReply } from '../operation.ts';
import { keptResponses, reachResponse, type StoredResponseDeps } from './reach.ts';

/**
 * Returns a response that was kept, as its client got it.
 * @see https://platform.openai.com/docs/api-reference/responses/get
 */
export function retrieveResponse({
  responses,
}: StoredResponseDeps): ApiOperation<'responses.retrieve', ResponseFields, ResponsesResult, unknown, ResponseQuery> {
  return {
    name: 'retrieveResponse',
    wire: 'responses',
    api: 'responses.retrieve',
    method: 'GET',
    path: '/responses/:id',
    permissions: ['inference', 'management'],
    body: null,
    query: responseQuery,
    result: responsesResultSchema,
    async run({ params, caller }) {
      const found = await reachResponse(keptResponses(responses), caller, params.id as string);
      return jsonReply((await found.open()).response);
    },
  };
}
