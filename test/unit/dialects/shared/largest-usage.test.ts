import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { largestUsage } from '../../../../src/dialects/shared/largest-usage.ts';
import type { Usage } from '../../../../src/schema/chat/chat.ts';

const count = fc.nat({ max: 100 });
const report = fc
  .record({
    prompt: count,
    completion: count,
    cached: count,
    written: count,
    hour: count,
    reasoning: count,
    searches: count,
  })
  .map(
    ({ prompt, completion, cached, written, hour, reasoning, searches }): Usage => ({
      prompt_tokens: prompt,
      completion_tokens: completion,
      total_tokens: prompt + completion,
      prompt_tokens_details: { cached_tokens: cached, cache_write_tokens: written, cache_write_1h_tokens: hour },
      completion_tokens_details: { reasoning_tokens: reasoning },
      server_tool_use_details: { web_search_requests: searches },
    }),
  );

describe('usage of one response', () => {
  it('never falls, whatever is reported later, and adds up', () => {
    fc.assert(
      fc.property(fc.array(report, { minLength: 1, maxLength: 6 }), (reports) => {
        let usage: Usage | null = null;
        for (const one of reports) usage = largestUsage(usage, one);
        const most = (of: (one: Usage) => unknown) => Math.max(...reports.map((one) => of(one) as number));
        expect(usage?.prompt_tokens).toBe(most((one) => one.prompt_tokens));
        expect(usage?.completion_tokens).toBe(most((one) => one.completion_tokens));
        expect(usage?.total_tokens).toBe((usage?.prompt_tokens ?? 0) + (usage?.completion_tokens ?? 0));
        const written = (one: Usage) => one.prompt_tokens_details?.cache_write_1h_tokens;
        expect(written(usage as Usage)).toBe(most(written));
        const searches = (one: Usage) => one.server_tool_use_details?.web_search_requests;
        expect(searches(usage as Usage)).toBe(most(searches));
        // What is cheap counts as the last report of the longest prompt says.
        const longest = most((one) => one.prompt_tokens);
        const last = reports.findLast((one) => one.prompt_tokens === longest);
        expect(usage?.prompt_tokens_details?.cached_tokens).toBe(last?.prompt_tokens_details?.cached_tokens);
      }),
    );
  });
  it('is that of the only report, as it came', () => {
    const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 };
    expect(largestUsage(null, usage)).toBe(usage);
  });
  it('is the last report, as it came, where that has all of the one before and nothing less', () => {
    const known = {
      prompt_tokens: 4,
      completion_tokens: 2,
      total_tokens: 6,
      prompt_tokens_details: { cached_tokens: 1 },
    };
    const next = {
      ...known,
      completion_tokens: 3,
      total_tokens: 7,
      completion_tokens_details: { reasoning_tokens: 1 },
    };
    expect(largestUsage(known, next)).toBe(next);
    expect(largestUsage(known, { ...next, prompt_tokens_details: {} }).prompt_tokens_details).toEqual({
      cached_tokens: 1,
    });
    const without = { prompt_tokens: 4, completion_tokens: 3, total_tokens: 7 };
    expect(largestUsage(known, without).prompt_tokens_details).toEqual({ cached_tokens: 1 });
    expect(largestUsage(known, { ...next, total_tokens: 9 }).total_tokens).toBe(7);
  });
});
