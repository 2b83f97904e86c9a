import type { FinishReason } from '../../schema/chat.ts';

/** @see https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html, stopReason */
const finishReasons = new Map<string, FinishReason>(
  Object.entries({
    end_turn: 'stop',
    stop_sequence: 'stop',
    tool_use: 'tool_calls',
    max_tokens: 'length',
    model_context_window_exceeded: 'length',
    guardrail_intervened: 'content_filter',
    content_filtered: 'content_filter',
    // The response cannot be read as what it was meant to be: calling it complete would be a lie.
    malformed_model_output: 'error',
    malformed_tool_use: 'error',
  } as const),
);

/**
 * Ours for the provider's word. A word nobody knows means an ordinary end.
 * @param calledTools  tools of the caller's; the call of a tool that carries structured output is none
 */
export function normaliseFinishReason(native: string, calledTools: boolean): FinishReason {
  const reason = finishReasons.get(native) ?? 'stop';
  if (reason === 'stop' || reason === 'tool_calls') return calledTools ? 'tool_calls' : 'stop';
  return reason;
}
