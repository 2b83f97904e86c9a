import type { Clock } from '../../base/clock.ts';
import type { Ids } from '../../base/ids.ts';
import type { Call } from '../../call/call.ts';
import { originOf, type ResponsesOrigin } from '../../call/responses-origin.ts';
import { compactionItemEncoder } from '../../convert/responses/compaction-item-encoder.ts';
import { compactionTrigger, toTriggeredChatRequest } from '../../convert/responses/compaction-request.ts';
import { responsesEncoder } from '../../convert/responses/encoder.ts';
import { toChatRequest } from '../../convert/responses/request.ts';
import type { PipelineDeps } from '../../pipeline/deps.ts';
import type { RequestBounds } from '../../schema/request-bounds.ts';
import type { ResponsesRequest } from '../../schema/responses.ts';
import { completionCalls } from '../chat/call-of.ts';
import type { OperationInput } from '../operation.ts';

/** What the operations of Responses are made with. */
export interface ResponsesDeps {
  pipeline: PipelineDeps;
  ids: Ids;
  clock: Clock;
  brand: string;
  bounds: RequestBounds;
}

/** Makes the call of a Responses request: a chat request whose response is written in the caller's format. */
export function responsesCalls({
  ids,
  brand,
  clock,
}: Pick<ResponsesDeps, 'ids' | 'brand' | 'clock'>): (input: OperationInput<ResponsesRequest>) => Call {
  const callOf = completionCalls(ids, brand, 'createResponse');
  return (input) => {
    const { body } = input;
    const trigger = compactionTrigger(body);
    const request = trigger === null ? toChatRequest(body) : toTriggeredChatRequest(body, trigger);
    const { callForms } = originOf(request) as ResponsesOrigin;
    const encoder = responsesEncoder({ brand, request: body, callForms, clock });
    return callOf(input, request, trigger === null ? encoder : compactionItemEncoder(encoder));
  };
}
