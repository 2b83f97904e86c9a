import { finishReasons } from '../shared/response/finish-reasons.ts';

export const finishReasonOf = finishReasons();

/** The words of servers for a response that goes on, where others send null. */
const goesOn: ReadonlySet<string> = new Set(['', 'null', 'none']);

/** The provider's own word for the end of a response; null: it has not ended. */
export function nativeReason(raw: unknown): string | null {
  if (typeof raw === 'number') return String(raw);
  return typeof raw === 'string' && !goesOn.has(raw.trim().toLowerCase()) ? raw : null;
}
