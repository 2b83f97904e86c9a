import { finishReasons } from '../shared/response/finish-reasons.ts';

/**
 * Ours for the provider's word.
 * @see https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html, stopReason
 */
export const finishReasonOf = finishReasons();
