import { finishReasons } from '../shared/response/finish-reasons.ts';

/**
 * Returns our word for Anthropic's.
 * @see https://platform.claude.com/docs/en/build-with-claude/handling-stop-reasons
 */
export const finishReasonOf = finishReasons({
  end_turn: 'stop',
  stop_sequence: 'stop',
  tool_use: 'tool_calls',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  refusal: 'content_filter',
  // A loop of the provider's own tools has paused: the caller may send the conversation again.
  pause_turn: 'stop',
  compaction: 'stop',
});
