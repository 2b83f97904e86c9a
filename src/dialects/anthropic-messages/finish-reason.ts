import type { FinishReason } from '../../schema/chat.ts';

const finishReasons = new Map<string, FinishReason>(
  Object.entries({
    end_turn: 'stop',
    stop_sequence: 'stop',
    tool_use: 'tool_calls',
    max_tokens: 'length',
    model_context_window_exceeded: 'length',
    refusal: 'content_filter',
    // A loop of the provider's own tools has paused: the caller may send the conversation again.
    pause_turn: 'stop',
    compaction: 'stop',
  } as const),
);

/**
 * Ours for Anthropic's word. A word nobody knows means an ordinary end.
 * @param callsTools  whether the message holds calls for the caller: that of the output tool is none
 * @see https://platform.claude.com/docs/en/build-with-claude/handling-stop-reasons
 */
export function finishReasonOf(native: string, callsTools: boolean): FinishReason {
  const reason = finishReasons.get(native) ?? 'stop';
  if (reason === 'tool_calls' || reason === 'stop') return callsTools ? 'tool_calls' : 'stop';
  return reason;
}
