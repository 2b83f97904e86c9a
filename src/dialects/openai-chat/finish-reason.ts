import type { FinishReason } from '../../schema/chat.ts';

const finishReasons = new Map<string, FinishReason>(
  Object.entries({
    stop: 'stop',
    length: 'length',
    tool_calls: 'tool_calls',
    content_filter: 'content_filter',
    error: 'error',
    // Spellings of servers that translate from other dialects.
    function_call: 'tool_calls',
    tool_call: 'tool_calls',
    tool_use: 'tool_calls',
    max_tokens: 'length',
    model_length: 'length',
    safety: 'content_filter',
    sensitive: 'content_filter',
    // The response was broken off: calling it complete would be a lie.
    abort: 'error',
    network_error: 'error',
    insufficient_system_resource: 'error',
  } as const),
);

/** Ours for a provider's word. A word nobody knows means an ordinary end. */
export function normaliseFinishReason(native: string, calledTools: boolean): FinishReason {
  const reason = finishReasons.get(native) ?? finishReasons.get(native.toLowerCase()) ?? 'stop';
  return reason === 'stop' && calledTools ? 'tool_calls' : reason;
}
