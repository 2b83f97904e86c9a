import { isObject, type Loose } from '../../base/values.ts';
import type { Finish } from '../shared/response/chunks.ts';
import { finishReasons } from '../shared/response/finish-reasons.ts';

const reasonOf = finishReasons();

/**
 * @param status    the status of the response
 * @param hasCalls  true: the model calls a tool
 * @returns null: the response has not come to an end of its own
 */
export function finishOf(status: unknown, { incomplete_details: details }: Loose, hasCalls: boolean): Finish | null {
  if (status === 'completed')
    return { finish_reason: hasCalls ? 'tool_calls' : 'stop', native_finish_reason: 'completed' };
  if (status !== 'incomplete') return null;
  const reason = isObject(details) && typeof details.reason === 'string' ? details.reason : 'incomplete';
  // Whichever limit it is, the response is not whole.
  const isFiltered = reasonOf(reason, false) === 'content_filter';
  return { finish_reason: isFiltered ? 'content_filter' : 'length', native_finish_reason: reason };
}
