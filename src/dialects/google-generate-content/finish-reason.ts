import { finishReasons } from '../shared/response/finish-reasons.ts';

/**
 * Returns our word for a provider's.
 * @see https://ai.google.dev/api/generate-content "FinishReason"
 */
export const finishReasonOf = finishReasons({
  // The response was broken off, or is of no use: calling it complete would be a lie.
  LANGUAGE: 'error',
  OTHER: 'error',
  // Servers that were asked for numbers. Those above 3 differ between Google's two interfaces.
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
