import type { FinishReason } from '../../schema/chat.ts';

const finishReasons = new Map<string, FinishReason>(
  Object.entries({
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
  } as const),
);

/**
 * Ours for Cohere's word. A word nobody knows means an ordinary end.
 * @param calledTools  false where the only call was that of the tool which stands for structured output
 */
export function finishReasonOf(native: string, calledTools: boolean): FinishReason {
  const reason = finishReasons.get(native.toUpperCase()) ?? 'stop';
  if (reason === 'tool_calls' && !calledTools) return 'stop';
  return reason === 'stop' && calledTools ? 'tool_calls' : reason;
}
