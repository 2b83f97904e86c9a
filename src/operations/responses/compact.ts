import { generationId } from '../../base/ids.ts';
import { compactionEncoder } from '../../formats/responses/compaction-encoder.ts';
import { askToCompact } from '../../formats/responses/compaction-request.ts';
import { serve } from '../../pipeline/serve.ts';
import { compactionSchema } from '../../schema/responses/compaction.ts';
import { conversationIdOf } from '../../schema/responses/conversations.ts';
import type { ResponsesRequest } from '../../schema/responses/responses.ts';
import { completionCalls } from '../chat/call-of.ts';
import type { Operation } from '../operation.ts';
import { responsesChecks } from './check.ts';
import type { ResponsesDeps } from './deps.ts';

const notStored = { path: 'store', message: 'a compaction is not stored; leave store out, or send false' };
const ofNoConversation = {
  path: 'conversation',
  message: 'a conversation is not compacted; send its items in input, and add what is made of them to a new one',
};

/**
 * Makes a conversation shorter. An upstream that can compact does it; any other model writes a summary. The call is
 * routed, paid and recorded like any other.
 * @see https://platform.openai.com/docs/api-reference/responses/compact
 */
export function compactResponse(deps: ResponsesDeps): Operation<ResponsesRequest> {
  const { brand, clock } = deps;
  const callOf = completionCalls(deps.ids, brand, 'compactResponse');
  const checks = responsesChecks(deps);
  return {
    name: 'compactResponse',
    method: 'POST',
    path: '/responses/compact',
    permissions: ['inference'],
    ...checks,
    issues: (body, headers) => [
      ...checks.issues(body, headers),
      ...(body.store === true ? [notStored] : []),
      ...(conversationIdOf(body) === null ? [] : [ofNoConversation]),
    ],
    result: compactionSchema,
    recordsItself: true,
    generationId: (receivedAtMs) => generationId(deps.ids, receivedAtMs),
    run(input) {
      const items =
        typeof input.body.input === 'string'
          ? [{ type: 'message', role: 'user', content: input.body.input }]
          : input.body.input;
      const encoder = compactionEncoder({ brand, items, clock });
      return serve(deps.pipeline, callOf(input, askToCompact(input.body), encoder));
    },
  };
}
