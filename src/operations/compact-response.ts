import { generationId } from '../base/ids.ts';
import { compactionEncoder } from '../convert/responses/compaction-encoder.ts';
import { toCompactionChatRequest } from '../convert/responses/compaction-request.ts';
import { serve } from '../pipeline/serve.ts';
import type { ResponsesRequest } from '../schema/responses.ts';
import { compactionSchema } from '../schema/responses-compaction.ts';
import { completionCalls } from './chat/call-of.ts';
import type { Operation } from './operation.ts';
import type { ResponsesDeps } from './responses/call-of.ts';
import { responsesChecks } from './responses/check.ts';

/**
 * Makes a conversation shorter: an upstream that does so itself is asked for it, any other model for a summary. The
 * call is routed, paid and recorded as any other.
 * @see https://platform.openai.com/docs/api-reference/responses/compact
 */
export function compactResponse(deps: ResponsesDeps): Operation<ResponsesRequest> {
  const { brand, clock } = deps;
  const callOf = completionCalls(deps.ids, brand, 'compactResponse');
  return {
    name: 'compactResponse',
    method: 'POST',
    path: '/responses/compact',
    permissions: ['inference'],
    ...responsesChecks(deps),
    result: compactionSchema,
    recordsItself: true,
    generationId: (receivedAtMs) => generationId(deps.ids, receivedAtMs),
    run(input) {
      const items =
        typeof input.body.input === 'string'
          ? [{ type: 'message', role: 'user', content: input.body.input }]
          : input.body.input;
      const encoder = compactionEncoder({ brand, items, clock });
      return serve(deps.pipeline, callOf(input, toCompactionChatRequest(input.body), encoder));
    },
  };
}
