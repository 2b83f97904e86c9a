import { finishReasons } from '../shared/response/finish-reasons.ts';

/**
 * Returns our word for a provider's.
 * @see https://ai.google.dev/api/generate-content "FinishReason"
 */
export const finishReasonOf = finishReasons({
  STOP: 'stop',
  MAX_TOKENS: 'length',
  SAFETY: 'content_filter',
  RECITATION: 'content_filter',
  BLOCKLIST: 'content_filter',
  PROHIBITED_CONTENT: 'content_filter',
  SPII: 'content_filter',
  MODEL_ARMOR: 'content_filter',
  IMAGE_SAFETY: 'content_filter',
  IMAGE_PROHIBITED_CONTENT: 'content_filter',
  IMAGE_RECITATION: 'content_filter',
  // The response was broken off, or is of no use: calling it complete would be a lie.
  FINISH_REASON_UNSPECIFIED: 'error',
  LANGUAGE: 'error',
  OTHER: 'error',
  MALFORMED_FUNCTION_CALL: 'error',
  UNEXPECTED_TOOL_CALL: 'error',
  TOO_MANY_TOOL_CALLS: 'error',
  MALFORMED_RESPONSE: 'error',
  MISSING_THOUGHT_SIGNATURE: 'error',
  NO_IMAGE: 'error',
  IMAGE_OTHER: 'error',
  // Some servers send numbers. Those above 3 differ between Google's two interfaces.
  '0': 'error',
  '1': 'stop',
  '2': 'length',
  '3': 'content_filter',
});

/** Returns the provider's own word; null: the response goes on. */
export function nativeReason(raw: unknown): string | null {
  if (typeof raw === 'string' && raw !== '') return raw;
  return typeof raw === 'number' && Number.isInteger(raw) ? String(raw) : null;
}
