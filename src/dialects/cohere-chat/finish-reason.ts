import type { FinishReason } from '../../schema/chat/chat.ts';
import { finishReasons } from '../shared/response/finish-reasons.ts';

const reasonOf = finishReasons({
  COMPLETE: 'stop',
  STOP_SEQUENCE: 'stop',
  MAX_TOKENS: 'length',
  TOOL_CALL: 'tool_calls',
  // The response was broken off: calling it complete would be a lie.
  ERROR: 'error',
  TIMEOUT: 'error',
  USER_CANCEL: 'error',
  // Of the older interface, which some servers keep.
  ERROR_LIMIT: 'length',
  ERROR_TOXIC: 'content_filter',
});

/** Ours for Cohere's word, in either case. @param calledTools  as `FinishReasonOf` has it */
export function finishReasonOf(native: string, calledTools: boolean): FinishReason {
  return reasonOf(native.toUpperCase(), calledTools);
}
