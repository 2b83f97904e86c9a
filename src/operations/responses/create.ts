import { generationId } from '../../base/ids.ts';
import { serve } from '../../pipeline/serve.ts';
import type { ResponsesRequest } from '../../schema/responses/responses.ts';
import { responsesResultSchema } from '../../schema/responses/result.ts';
import type { Operation } from '../operation.ts';
import { type ResponsesDeps, responsesCalls } from './call-of.ts';
import { responsesChecks } from './check.ts';

/** @see interface document, "POST /responses (beta)" */
export function createResponse(deps: ResponsesDeps): Operation<ResponsesRequest> {
  const callOf = responsesCalls(deps);
  return {
    name: 'createResponse',
    method: 'POST',
    path: '/responses',
    permissions: ['inference'],
    ...responsesChecks(deps),
    result: responsesResultSchema,
    recordsItself: true,
    overSocket: true,
    generationId: (receivedAtMs) => generationId(deps.ids, receivedAtMs),
    run: (input) => serve(deps.pipeline, callOf(input)),
  };
}
