import { isObject, type Loose } from '../../base/values.ts';
import type { Usage } from '../../schema/chat/chat.ts';
import { tokenCount } from '../shared/response/counts.ts';
import { usageOf } from '../shared/response/usage.ts';

/**
 * Reads the usage of a call. Totals include all their parts.
 * @returns null where either total is unknown
 * @see https://github.com/vercel/ai/blob/main/packages/provider/src/language-model/v4/language-model-v4-usage.ts
 */
export function readUsage(raw: unknown): Usage | null {
  if (!isObject(raw)) return null;
  const input = isObject(raw.inputTokens) ? raw.inputTokens : {};
  const output = isObject(raw.outputTokens) ? raw.outputTokens : {};
  const prompt = total(input, ['noCache', 'cacheRead', 'cacheWrite']);
  const completion = total(output, ['text', 'reasoning']);
  if (prompt === null || completion === null) return null;
  return usageOf({
    prompt,
    completion,
    cached: tokenCount(input.cacheRead) ?? 0,
    written: tokenCount(input.cacheWrite) ?? 0,
    reasoning: tokenCount(output.reasoning),
  });
}

/** Returns a total. A total that leaves out some of its parts would be too low. */
function total(counts: Loose, parts: readonly string[]): number | null {
  const [given, added] = [tokenCount(counts.total), sum(counts, parts)];
  return given === null || added === null ? (given ?? added) : Math.max(given, added);
}

/** Returns the sum of parts; null: the first part, which is never missing where parts are counted, is not there. */
function sum(counts: Loose, [first = '', ...others]: readonly string[]): number | null {
  const start = tokenCount(counts[first]);
  return start === null ? null : others.reduce((all, name) => all + (tokenCount(counts[name]) ?? 0), start);
}
