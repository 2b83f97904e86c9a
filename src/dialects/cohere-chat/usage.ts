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
 * Reads the usage of a response. Cohere counts twice: `tokens` is all that the model read and wrote, with instructions
 * that Cohere adds itself; `billed_units` is what it charges. Costs come of the usage, so by default that is what was
 * charged.
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
  // What is cached is a beginning of the prompt, and what Cohere adds comes first and is not charged.
  const added = processed === null ? 0 : Math.max(processed.prompt - counts.prompt, 0);
  return usageOf({ ...counts, cached: Math.max(cached - added, 0), reasoning: null });
}

function countsOf(raw: unknown): Counts | null {
  if (!isObject(raw)) return null;
  const prompt = tokenCount(raw.input_tokens);
  const completion = tokenCount(raw.output_tokens);
  return prompt === null || completion === null ? null : { prompt, completion };
}
