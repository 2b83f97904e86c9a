import { cleanText } from '../../base/text/clean-text.ts';
import { isObject } from '../../base/values.ts';
import type { Finish } from '../shared/response/chunks.ts';
import { finishReasons } from '../shared/response/finish-reasons.ts';

const reasonOf = finishReasons({
  stop: 'stop',
  length: 'length',
  'content-filter': 'content_filter',
  'tool-calls': 'tool_calls',
  other: 'stop',
  // The response was broken off: calling it complete would be a lie.
  error: 'error',
  interrupted: 'error',
});

/**
 * Reads `{ unified, raw }`.
 * @param calledTools  true: there are calls that the client has to answer
 * @returns null where it gives no reason
 */
export function readFinish(value: unknown, calledTools: boolean): Finish | null {
  if (!isObject(value) || typeof value.unified !== 'string') return null;
  const { unified, raw } = value;
  const native = typeof raw === 'string' && raw !== '' ? cleanText(raw, 100) : unified;
  return { finish_reason: reasonOf(unified, calledTools), native_finish_reason: native };
}
