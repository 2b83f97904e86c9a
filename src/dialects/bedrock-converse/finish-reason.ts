import { finishReasons } from '../shared/response/finish-reasons.ts';

/**
 * Returns our word for the provider's.
 * @see https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html, stopReason
 */
export const finishReasonOf = finishReasons();
