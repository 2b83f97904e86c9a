import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Pricing } from '../../../src/call/model.ts';
import { priceUsage, usageWithCost } from '../../../src/catalog/price.ts';
import type { Usage } from '../../../src/schema/chat.ts';

const pricing: Pricing = {
  promptPicoUsd: 2_000_000,
  completionPicoUsd: 8_000_000,
  cacheReadPicoUsd: 500_000,
  cacheWritePicoUsd: 2_500_000,
  reasoningPicoUsd: 10_000_000,
  audioPicoUsd: 40_000_000,
  audioOutputPicoUsd: 80_000_000,
  requestPicoUsd: 1_000_000_000,
};
const usageOf = (
  prompt: number,
  completion: number,
  inDetails?: Usage['prompt_tokens_details'],
  outDetails?: Usage['completion_tokens_details'],
): Usage => ({
  prompt_tokens: prompt,
  completion_tokens: completion,
  total_tokens: prompt + completion,
  prompt_tokens_details: inDetails,
  completion_tokens_details: outDetails,
});

describe('a price', () => {
  it.each<[string, Usage, number]>([
    // In nano-USD: 1,000,000 for the request, then tokens by kind.
    ['nothing but the request', usageOf(0, 0), 1_000_000],
    ['plain tokens', usageOf(100, 10), 1_000_000 + 100 * 2_000 + 10 * 8_000],
    [
      'cached and written tokens',
      usageOf(100, 0, { cached_tokens: 60, cache_write_tokens: 30 }),
      1_000_000 + 60 * 500 + 30 * 2_500 + 10 * 2_000,
    ],
    ['audio in', usageOf(100, 0, { audio_tokens: 50 }), 1_000_000 + 50 * 40_000 + 50 * 2_000],
    [
      'reasoning and audio out',
      usageOf(0, 100, undefined, { reasoning_tokens: 60, audio_tokens: 30 }),
      1_000_000 + 60 * 10_000 + 30 * 80_000 + 10 * 8_000,
    ],
    [
      'details that overlap',
      usageOf(100, 0, { cached_tokens: 80, audio_tokens: 80 }),
      1_000_000 + 80 * 500 + 20 * 40_000,
    ],
    ['details of null', usageOf(1, 1, null, { reasoning_tokens: null }), 1_000_000 + 2_000 + 8_000],
  ])('of %s', (_, usage, nanoUsd) => {
    expect(priceUsage(usage, pricing).totalNanoUsd).toBe(nanoUsd);
  });
  it('takes the plain price for kinds without one of their own', () => {
    const plain: Pricing = { promptPicoUsd: 1000, completionPicoUsd: 2000 };
    const usage = usageOf(
      10,
      10,
      { cached_tokens: 3, cache_write_tokens: 2, audio_tokens: 1 },
      { reasoning_tokens: 4, audio_tokens: 2 },
    );
    expect(priceUsage(usage, plain)).toEqual({ totalNanoUsd: 30, promptNanoUsd: 10, completionNanoUsd: 20 });
  });
  it('charges every token once: more of a dearer kind is never cheaper, and none is free', () => {
    const tokens = fc.nat({ max: 1_000_000 });
    fc.assert(
      fc.property(tokens, tokens, tokens, tokens, tokens, (prompt, completion, cached, written, reasoning) => {
        const { totalNanoUsd } = priceUsage(
          usageOf(
            prompt,
            completion,
            { cached_tokens: cached, cache_write_tokens: written },
            { reasoning_tokens: reasoning },
          ),
          { ...pricing, requestPicoUsd: 0 },
        );
        expect(totalNanoUsd).toBeGreaterThanOrEqual(prompt * 500 + completion * 8_000);
        expect(totalNanoUsd).toBeLessThanOrEqual(prompt * 2_500 + completion * 10_000);
      }),
    );
  });
});

describe('usage with its cost', () => {
  it('leaves the cost out where it is not known, never null', () => {
    expect(usageWithCost(usageOf(1, 1), null, false)).toEqual({ ...usageOf(1, 1), is_byok: false });
  });
  it("says what the provider charged where the key was the caller's own", () => {
    const cost = { totalNanoUsd: 3_000, promptNanoUsd: 1_000, completionNanoUsd: 2_000 };
    expect(usageWithCost(usageOf(1, 1), cost, true).cost_details).toEqual({
      upstream_inference_cost: 0.000003,
      upstream_inference_prompt_cost: 0.000001,
      upstream_inference_completions_cost: 0.000002,
    });
    expect(usageWithCost(usageOf(1, 1), cost, false).cost_details?.upstream_inference_cost).toBe(null);
  });
});
