import { isObject } from '../../base/values.ts';
import type { Usage } from '../../schema/chat/chat.ts';
import { tokenCount } from '../shared/response/counts.ts';
import { usageOf } from '../shared/response/usage.ts';
import type { CohereQuirks } from './quirks.ts';

interface Counts {
  prompt: number;
  completion: number;
}

/**
 * Reads the usage of a response. Cohere counts twice: `tokens` are all tokens that the model read and wrote, with
 * instructions that Cohere adds itself; `billed_units` are the ones that it charges. Costs come from the usage, so by
 * default it holds the charged ones.
 * @returns null where neither count is there
 * @see https://docs.cohere.com/v2/docs/how-does-cohere-pricing-work
 */
export function readUsage(raw: unknown, { usage: counted = 'billed' }: CohereQuirks): Usage | null {
  if (!isObject(raw)) return null;
  const billed = countsOf(raw.billed_units);
  const processed = countsOf(raw.tokens);
  const counts = counted === 'billed' ? (billed ?? processed) : (processed ?? billed);
  if (counts === null) return null;
  const cached = Math.min(tokenCount(raw.cached_tokens) ?? 0, processed?.prompt ?? counts.prompt);
  // The cached part is a beginning of the prompt. The instructions that Cohere adds come first and are not charged.
  const added = processed === null ? 0 : Math.max(processed.prompt - counts.prompt, 0);
  return usageOf({ ...counts, cached: Math.max(cached - added, 0), reasoning: null });
}

function countsOf(raw: unknown): Counts | null {
  if (!isObject(raw)) return null;
  const prompt = tokenCount(raw.input_tokens);
  const completion = tokenCount(raw.output_tokens);
  return prompt === null || completion === null ? null : { prompt, completion };
}
