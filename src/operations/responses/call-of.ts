import type { Clock } from '../../base/clock.ts';
import type { Ids } from '../../base/ids.ts';
import type { Call } from '../../call/call.ts';
import { compactionItemEncoder } from '../../formats/responses/compaction-item-encoder.ts';
import { askOfTriggered, compactionTrigger } from '../../formats/responses/compaction-request.ts';
import { responsesEncoder } from '../../formats/responses/encoder/index.ts';
import { askOfResponses } from '../../formats/responses/request/index.ts';
import type { PipelineDeps } from '../../pipeline/deps.ts';
import type { RequestBounds } from '../../schema/chat/request-bounds.ts';
import type { ResponsesRequest } from '../../schema/responses/responses.ts';
import { completionCalls } from '../chat/call-of.ts';
import type { Presentation } from '../compat.ts';
import type { OperationInput } from '../operation.ts';

/** The dependencies of the operations of Responses. */
export interface ResponsesDeps {
  pipeline: PipelineDeps;
  ids: Ids;
  clock: Clock;
  brand: string;
  bounds: RequestBounds;
  presentation: Pick<Presentation, 'wholeResponses'>;
}

/** Makes the call of a Responses request: a chat request whose response is written in the caller's format. */
export function responsesCalls({
  ids,
  brand,
  clock,
  presentation,
}: Pick<ResponsesDeps, 'ids' | 'brand' | 'clock' | 'presentation'>): (input: OperationInput<ResponsesRequest>) => Call {
  const callOf = completionCalls(ids, brand, 'createResponse');
  return (input) => {
    const { body } = input;
    const trigger = compactionTrigger(body);
    const ask = trigger === null ? askOfResponses(body) : askOfTriggered(body, trigger);
    const callForms = ask.native?.callForms ?? new Map();
    const encoder = responsesEncoder({
      brand,
      request: body,
      callForms,
      clock,
      isWhole: presentation.wholeResponses,
    });
    return callOf(input, ask, trigger === null ? encoder : compactionItemEncoder(encoder));
  };
}
