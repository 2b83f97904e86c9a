import type { FinishReason } from '../../schema/chat/chat.ts';
import { finishReasons } from '../shared/response/finish-reasons.ts';

const reasonOf = finishReasons({
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
});

/** The words for the call of tools. An older call stands in `function_call`, and is believed. */
const saysCalls = /^(?:tool_calls?|tool_use|function_call)$/;

/** Returns our word for a provider's, in either case. @param calledTools  the same as in `FinishReasonOf` */
export function finishReasonOf(native: string, calledTools: boolean): FinishReason {
  const word = native.toLowerCase();
  return reasonOf(word, calledTools || saysCalls.test(word));
}
