import { finishReasons } from '../shared/response/finish-reasons.ts';

/**
 * Ours for Anthropic's word. `pause_turn` is an ordinary end: a loop of the provider's own tools has paused, and the
 * caller may send the conversation again.
 * @see https://platform.claude.com/docs/en/build-with-claude/handling-stop-reasons
 */
export const finishReasonOf = finishReasons();
