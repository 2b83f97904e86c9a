import { cleanText } from '../../base/text/clean-text.ts';
import { isObject } from '../../base/values.ts';
import type { Finish } from '../shared/response/chunks.ts';
import { finishReasons } from '../shared/response/finish-reasons.ts';

const reasonOf = finishReasons();

/** The words of an SDK's provider that does not know the word of the model's server. */
const unknown: ReadonlySet<string> = new Set(['other', 'unknown']);

/**
 * Reads `{ unified, raw }`.
 * @param calledTools  true: there are calls that the client has to answer
 * @returns null where it gives no reason
 */
export function readFinish(value: unknown, calledTools: boolean): Finish | null {
  if (!isObject(value) || typeof value.unified !== 'string') return null;
  const { unified, raw } = value;
  const native = typeof raw === 'string' && raw !== '' ? cleanText(raw, 100) : unified;
  return {
    finish_reason: reasonOf(unknown.has(unified) ? native : unified, calledTools),
    native_finish_reason: native,
  };
}
