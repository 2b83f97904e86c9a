import { finishReasons } from '../shared/response/finish-reasons.ts';

/**
 * Returns our word for the provider's.
 * @see https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html, stopReason
 */
export const finishReasonOf = finishReasons({
  end_turn: 'stop',
  stop_sequence: 'stop',
  tool_use: 'tool_calls',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  guardrail_intervened: 'content_filter',
  content_filtered: 'content_filter',
  // The response cannot be read in its intended form: calling it complete would be a lie.
  malformed_model_output: 'error',
  malformed_tool_use: 'error',
});
