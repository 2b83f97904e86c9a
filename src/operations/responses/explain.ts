import * as z from 'zod';
import { explanationSchema } from '../../schema/chat/explanation.ts';
import type { ResponsesRequest } from '../../schema/responses/responses.ts';
import { explainCall } from '../chat/explain.ts';
import type { Operation } from '../operation.ts';
import { responsesCalls } from './call-of.ts';
import { responsesChecks } from './check.ts';
import type { ResponsesDeps } from './deps.ts';

/** Explains how a Responses request would be routed and paid now. The operation calls no provider and holds no money. */
export function explainResponse(deps: ResponsesDeps): Operation<ResponsesRequest> {
  const callOf = responsesCalls(deps);
  const checks = responsesChecks(deps);
  return {
    name: 'explainResponse',
    method: 'POST',
    path: '/responses/explain',
    permissions: ['inference', 'management'],
    ...checks,
    prepare: checks.prepareToKeep,
    result: () => z.object({ data: explanationSchema() }),
    run: (input) => explainCall(deps.pipeline, callOf(input)),
  };
}
