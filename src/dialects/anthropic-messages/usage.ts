import { isObject, type Loose } from '../../base/values.ts';
import type { Usage } from '../../schema/chat/chat.ts';
import { largest } from '../shared/largest-usage.ts';
import { searchCount, tokenCount, tokensOrZero } from '../shared/response/counts.ts';
import { usageOf } from '../shared/response/usage.ts';

/**
 * Reads the usage that Anthropic reports. Its `input_tokens` leave out the tokens that are read from a cache and
 * written to one; ours are all of the prompt. Thoughts are part of `output_tokens`.
 * @returns null where the counts are missing or nonsense
 * @see https://platform.claude.com/docs/en/build-with-claude/prompt-caching "Tracking cache performance"
 */
export function readUsage(raw: unknown): Usage | null {
  if (!isObject(raw)) return null;
  const { input, output, cached, written, writtenForHour } = totalsOf(raw);
  if (input === null || output === null || cached === null || written === null) return null;
  const details = isObject(raw.output_tokens_details) ? raw.output_tokens_details : {};
  const tools = isObject(raw.server_tool_use) ? raw.server_tool_use : {};
  return usageOf({
    prompt: input + cached + written,
    completion: output,
    cached,
    written,
    writtenForHour,
    reasoning: tokenCount(details.thinking_tokens),
    searches: searchCount(tools.web_search_requests) ?? 0,
  });
}

interface Totals {
  input: number | null;
  output: number | null;
  cached: number | null;
  written: number | null;
  writtenForHour: number;
}

/**
 * Returns the totals. The counts at the top leave out the steps in which the conversation was made shorter, which are
 * charged: then the steps are added up.
 * @see https://platform.claude.com/docs/en/build-with-claude/compaction "Understanding usage"
 */
function totalsOf(raw: Loose): Totals {
  const steps = Array.isArray(raw.iterations) ? raw.iterations.filter(isObject) : [];
  if (!steps.some(({ type }) => type === 'compaction')) return countsOf(raw);
  return steps
    .filter(({ type }) => type === 'compaction' || type === 'message')
    .map(countsOf)
    .reduce((sum, step) => ({
      input: add(sum.input, step.input),
      output: add(sum.output, step.output),
      cached: add(sum.cached, step.cached),
      written: add(sum.written, step.written),
      writtenForHour: sum.writtenForHour + step.writtenForHour,
    }));
}

function add(a: number | null, b: number | null): number | null {
  return a === null || b === null ? null : a + b;
}

function countsOf(raw: Loose): Totals {
  const byTime = isObject(raw.cache_creation) ? raw.cache_creation : {};
  const forHour = tokenCount(byTime.ephemeral_1h_input_tokens) ?? 0;
  const forMinutes = tokenCount(byTime.ephemeral_5m_input_tokens) ?? 0;
  const written = tokensOrZero(raw.cache_creation_input_tokens);
  return {
    input: tokenCount(raw.input_tokens),
    output: tokenCount(raw.output_tokens),
    cached: tokensOrZero(raw.cache_read_input_tokens),
    written: written === null ? null : Math.max(written, forHour + forMinutes),
    writtenForHour: forHour,
  };
}

/**
 * Adds a report of a stream: later events count up, and leave out counts that have not changed. No count falls.
 * @param known  changed
 */
export function mergeUsage(known: Loose, raw: unknown): void {
  if (!isObject(raw)) return;
  Object.assign(known, largest(known, raw));
}

/** Returns the tier that served, in the words of chat completions; null: Anthropic named none. */
export function serviceTierOf(raw: unknown): string | null {
  const tier = isObject(raw) ? raw.service_tier : null;
  if (typeof tier !== 'string') return null;
  return tier === 'standard' ? 'default' : tier;
}
