import type { Call } from '../../call/call.ts';
import { compactionItemEncoder } from '../../formats/responses/compaction-item-encoder.ts';
import { askOfTriggered, compactionTrigger } from '../../formats/responses/compaction-request.ts';
import { responsesEncoder } from '../../formats/responses/encoder/index.ts';
import { askOfResponses } from '../../formats/responses/request/index.ts';
import type { ResponsesRequest } from '../../schema/responses/responses.ts';
import { completionCalls } from '../chat/call-of.ts';
import type { OperationInput } from '../operation.ts';
import { withOwnPaths } from './continue.ts';
import type { ResponsesDeps } from './deps.ts';
import type { CallKeeper } from './keep.ts';

/** Makes the call of a Responses request: a chat request whose response is written in the caller's format. */
export function responsesCalls({
  ids,
  brand,
  clock,
  presentation,
}: Pick<ResponsesDeps, 'ids' | 'brand' | 'clock' | 'presentation'>): (
  input: OperationInput<ResponsesRequest>,
  keeper?: CallKeeper | null,
) => Call {
  const callOf = completionCalls(ids, brand, 'createResponse');
  return (input, keeper = null) => {
    const { body, earlierItems = 0 } = input;
    const trigger = compactionTrigger(body);
    const made = trigger === null ? askOfResponses(body) : askOfTriggered(body, trigger);
    const ask = { ...made, native: withOwnPaths(made.native, earlierItems, body) };
    const callForms = ask.native?.callForms ?? new Map();
    const encoder = responsesEncoder({
      brand,
      request: body,
      callForms,
      clock,
      isWhole: presentation.wholeResponses,
      keeper,
    });
    return callOf(input, ask, trigger === null ? encoder : compactionItemEncoder(encoder), keeper?.asked);
  };
}
