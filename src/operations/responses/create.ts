import { generationId } from '../../base/ids.ts';
import { serve } from '../../pipeline/serve.ts';
import type { ResponsesRequest } from '../../schema/responses/responses.ts';
import { responsesResultSchema } from '../../schema/responses/result.ts';
import type { Operation } from '../operation.ts';
import { responsesCalls } from './call-of.ts';
import { responsesChecks } from './check.ts';
import type { ResponsesDeps } from './deps.ts';
import { CallKeeper } from './keep.ts';
import { keepingField } from './may-keep.ts';

/** @see interface document, "POST /responses (beta)" */
export function createResponse(deps: ResponsesDeps): Operation<ResponsesRequest> {
  const { pipeline } = deps;
  const callOf = responsesCalls(deps);
  const checks = responsesChecks(deps);
  return {
    name: 'createResponse',
    method: 'POST',
    path: '/responses',
    permissions: ['inference'],
    wire: 'responses',
    ...checks,
    prepare: checks.prepareToKeep,
    result: responsesResultSchema,
    recordsItself: true,
    overSocket: true,
    generationId: (receivedAtMs) => generationId(deps.ids, receivedAtMs),
    async run(input) {
      if (keepingField(input.body) === null) return serve(pipeline, callOf(input));
      const keeper = new CallKeeper(deps, input);
      const call = callOf(input, keeper);
      return keeper.delivered(await serve(pipeline, call), call);
    },
  };
}
