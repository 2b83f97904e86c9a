import { cleanText } from '../../base/clean-text.ts';
import { isObject } from '../../base/values.ts';
import type { FinishReason } from '../../schema/chat.ts';

const finishReasons = new Map<unknown, FinishReason>([
  ['stop', 'stop'],
  ['length', 'length'],
  ['content-filter', 'content_filter'],
  ['tool-calls', 'tool_calls'],
  ['other', 'stop'],
  // The response was broken off: calling it complete would be a lie.
  ['error', 'error'],
  ['interrupted', 'error'],
]);

/** Why a response ended, in our word and in that of the model's provider. */
export interface Finish {
  reason: FinishReason;
  native: string | null;
}

/**
 * Reads `{ unified, raw }`.
 * @param calledTools  true: there are calls that the client has to answer
 * @returns null where it says nothing
 */
export function readFinish(value: unknown, calledTools: boolean): Finish | null {
  if (!isObject(value) || typeof value.unified !== 'string') return null;
  const { unified, raw } = value;
  const native = typeof raw === 'string' && raw !== '' ? cleanText(raw, 100) : unified;
  const reason = finishReasons.get(unified) ?? 'stop';
  if (reason === 'tool_calls' && !calledTools) return { reason: 'stop', native };
  return { reason: reason === 'stop' && calledTools ? 'tool_calls' : reason, native };
}
