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
  // These are words of the older interface, which some servers keep.
  ERROR_LIMIT: 'length',
  ERROR_TOXIC: 'content_filter',
});

/** Returns our word for Cohere's, in either case. @param calledTools  the same as in `FinishReasonOf` */
export function finishReasonOf(native: string, calledTools: boolean): FinishReason {
  return reasonOf(native.toUpperCase(), calledTools);
}
