import { type FinishReasonOf, finishReasons } from '../shared/response/finish-reasons.ts';
import { finishWordOf, meaningOf } from '../shared/response/finish-words.ts';

const reasonOf = finishReasons();

/** Ours for a provider's word, in either case. That tools were called is believed: an older call has a field of its own. */
export const finishReasonOf: FinishReasonOf = (native, calledTools, isMidCall) =>
  reasonOf(native, calledTools || meaningOf(finishWordOf(native)) === 'tool_calls', isMidCall);

/** The words of servers for a response that goes on, where others send null. */
const goesOn: ReadonlySet<string> = new Set(['', 'null', 'none']);

/** The provider's own word for the end of a response; null: it has not ended. */
export function nativeReason(raw: unknown): string | null {
  if (typeof raw === 'number') return String(raw);
  return typeof raw === 'string' && !goesOn.has(raw.trim().toLowerCase()) ? raw : null;
}
