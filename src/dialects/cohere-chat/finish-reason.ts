import { finishReasons } from '../shared/response/finish-reasons.ts';

/**
 * Ours for Cohere's word, in either case.
 * @see https://docs.cohere.com/reference/chat, finish_reason
 */
export const finishReasonOf = finishReasons();
