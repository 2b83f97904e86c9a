import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Pricing } from '../../../src/call/model.ts';
import {
  type PricedTokens,
  priceUsage,
  splitCompletion,
  splitPrompt,
  usageWithCost,
} from '../../../src/pricing/price.ts';
import type { Usage } from '../../../src/schema/chat/chat.ts';

const pricing: Pricing = {
  promptPicoUsd: 2_000_000,
  completionPicoUsd: 8_000_000,
  cacheReadPicoUsd: 500_000,
  cacheWritePicoUsd: 2_500_000,
  cacheWriteHourPicoUsd: 4_000_000,
  reasoningPicoUsd: 10_000_000,
  audioPicoUsd: 40_000_000,
  imageTokenPicoUsd: 3_000_000,
  audioOutputPicoUsd: 80_000_000,
  imageOutputPicoUsd: 30_000_000,
  imagePicoUsd: 5_000_000_000,
  webSearchPicoUsd: 10_000_000_000,
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
    [
      'tokens written for an hour, among those that were written',
      usageOf(100, 0, { cache_write_tokens: 30, cache_write_1h_tokens: 20 }),
      1_000_000 + 20 * 4_000 + 10 * 2_500 + 70 * 2_000,
    ],
    [
      'tokens written for an hour, said alone',
      usageOf(100, 0, { cache_write_1h_tokens: 20 }),
      1_000_000 + 20 * 4_000 + 80 * 2_000,
    ],
    ['audio in', usageOf(100, 0, { audio_tokens: 50 }), 1_000_000 + 50 * 40_000 + 50 * 2_000],
    ['pictures in', usageOf(100, 0, { image_tokens: 50 }), 1_000_000 + 50 * 3_000 + 50 * 2_000],
    [
      'reasoning, audio and pictures out',
      usageOf(0, 100, undefined, { reasoning_tokens: 60, audio_tokens: 20, image_tokens: 10 }),
      1_000_000 + 60 * 10_000 + 20 * 80_000 + 10 * 30_000 + 10 * 8_000,
    ],
    [
      'searches',
      { ...usageOf(1, 0), server_tool_use_details: { web_search_requests: 3 } },
      1_000_000 + 2_000 + 3 * 10_000_000,
    ],
    // Where kinds overlap the dearer takes its tokens first.
    [
      'details that overlap',
      usageOf(100, 0, { cached_tokens: 80, audio_tokens: 80 }),
      1_000_000 + 80 * 40_000 + 20 * 500,
    ],
    [
      'tokens that were written and then read',
      usageOf(100, 0, { cached_tokens: 97, cache_write_tokens: 97 }),
      1_000_000 + 97 * 2_500 + 3 * 500,
    ],
    [
      'details that are more than the whole',
      usageOf(100, 50, { audio_tokens: 1_000, cached_tokens: 1_000 }, { reasoning_tokens: 1_000 }),
      1_000_000 + 100 * 40_000 + 50 * 10_000,
    ],
    ['details of null', usageOf(1, 1, null, { reasoning_tokens: null }), 1_000_000 + 2_000 + 8_000],
    [
      'details of other types',
      usageOf(1, 1, { image_tokens: '1', cache_write_1h_tokens: -1 }, { reasoning_tokens: 0.5 }),
      1_000_000 + 2_000 + 8_000,
    ],
  ])('of %s', (_, usage, nanoUsd) => {
    expect(priceUsage(usage, pricing).totalNanoUsd).toBe(nanoUsd);
  });
  it('of pictures, where each is charged', () => {
    expect(priceUsage(usageOf(100, 0), pricing, 3)).toMatchObject({
      totalNanoUsd: 1_000_000 + 100 * 2_000 + 3 * 5_000_000,
      promptNanoUsd: 100 * 2_000 + 3 * 5_000_000,
    });
  });
  it('of cached audio, where it has one: only what must be both', () => {
    const known = { ...pricing, audioCacheReadPicoUsd: 900_000 };
    const both = usageOf(100, 0, { cached_tokens: 80, audio_tokens: 70 });
    // 50 of 150 are both; 30 cached and 20 audio are left.
    expect(priceUsage(both, known).promptNanoUsd).toBe(50 * 900 + 30 * 500 + 20 * 40_000);
    const apart = usageOf(200, 0, { cached_tokens: 80, audio_tokens: 70 });
    expect(priceUsage(apart, known).promptNanoUsd).toBe(80 * 500 + 70 * 40_000 + 50 * 2_000);
  });
  it('of a long prompt holds for the whole request, above its threshold', () => {
    const tiered: Pricing = {
      promptPicoUsd: 2_000,
      completionPicoUsd: 10_000,
      cacheReadPicoUsd: 100,
      longPrompts: [
        { abovePromptTokens: 500, promptPicoUsd: 8_000 },
        { abovePromptTokens: 200, promptPicoUsd: 4_000, completionPicoUsd: 15_000, cacheReadPicoUsd: undefined },
      ],
    };
    const details = { cached_tokens: 10 };
    expect(priceUsage(usageOf(200, 1, details), tiered).totalNanoUsd).toBe(190 * 2 + 1 + 10);
    expect(priceUsage(usageOf(201, 1, details), tiered).totalNanoUsd).toBe(191 * 4 + 1 + 15);
    // What a longer prompt's prices do not name stays as it is without them.
    expect(priceUsage(usageOf(501, 1, details), tiered).totalNanoUsd).toBe(491 * 8 + 1 + 10);
  });
  it('takes the plain price for kinds without one of their own', () => {
    const plain: Pricing = { promptPicoUsd: 1000, completionPicoUsd: 2000 };
    const usage = usageOf(
      10,
      10,
      { cached_tokens: 3, cache_write_tokens: 2, cache_write_1h_tokens: 1, audio_tokens: 1, image_tokens: 1 },
      { reasoning_tokens: 4, audio_tokens: 2, image_tokens: 1 },
    );
    expect(priceUsage(usage, plain, 5)).toEqual({
      totalNanoUsd: 30,
      promptNanoUsd: 10,
      completionNanoUsd: 20,
      otherNanoUsd: 0,
      kinds: {
        inputNanoUsd: 3,
        cachedNanoUsd: 3,
        cacheWritesNanoUsd: 2,
        inputMediaNanoUsd: 2,
        outputNanoUsd: 6,
        reasoningNanoUsd: 8,
        outputMediaNanoUsd: 6,
        requestNanoUsd: 0,
        searchesNanoUsd: 0,
      },
    });
  });
  it('is rounded up once, and its parts still add up', () => {
    const third: Pricing = { promptPicoUsd: 333, completionPicoUsd: 333, requestPicoUsd: 333 };
    // 999 pico-USD are one nano-USD.
    expect(priceUsage(usageOf(1, 1), third)).toMatchObject({
      totalNanoUsd: 1,
      promptNanoUsd: 1,
      completionNanoUsd: 0,
      otherNanoUsd: 0,
    });
    expect(priceUsage(usageOf(0, 4), third).totalNanoUsd).toBe(2);
  });
  it('is exact where floating point is not', () => {
    // 0.1 + 0.2 of a dollar, and a sum beyond 2^53 pico-USD.
    expect(priceUsage(usageOf(1, 1), { promptPicoUsd: 1e11, completionPicoUsd: 2e11 }).totalNanoUsd).toBe(300_000_000);
    expect(priceUsage(usageOf(99_999_999, 1), { promptPicoUsd: 123_456_789, completionPicoUsd: 1 }).totalNanoUsd).toBe(
      12_345_678_776_544,
    );
  });
});

const tokens = fc.nat({ max: 1_000_000 });
const price = fc.oneof(fc.constant(0), fc.nat({ max: 100_000_000 }));
const someUsage = fc
  .record({
    prompt: tokens,
    completion: tokens,
    inDetails: fc.option(
      fc.record({
        cached_tokens: tokens,
        cache_write_tokens: tokens,
        cache_write_1h_tokens: tokens,
        audio_tokens: tokens,
        image_tokens: tokens,
      }),
    ),
    outDetails: fc.option(fc.record({ reasoning_tokens: tokens, audio_tokens: tokens, image_tokens: tokens })),
    searches: fc.nat({ max: 20 }),
  })
  .map(({ prompt, completion, inDetails, outDetails, searches }) => ({
    ...usageOf(prompt, completion, inDetails, outDetails),
    server_tool_use_details: { web_search_requests: searches },
  }));
const tokenPricing = {
  cacheReadPicoUsd: price,
  cacheWritePicoUsd: price,
  cacheWriteHourPicoUsd: price,
  audioPicoUsd: price,
  audioCacheReadPicoUsd: price,
  imageTokenPicoUsd: price,
  reasoningPicoUsd: price,
  audioOutputPicoUsd: price,
  imageOutputPicoUsd: price,
};
const somePricing: fc.Arbitrary<Pricing> = fc.record(
  {
    promptPicoUsd: price,
    completionPicoUsd: price,
    ...tokenPricing,
    imagePicoUsd: price,
    webSearchPicoUsd: price,
    requestPicoUsd: price,
  },
  { requiredKeys: ['promptPicoUsd', 'completionPicoUsd'] },
);
const sum = (parts: readonly PricedTokens[]) => parts.reduce((all, part) => all + part.tokens, 0);

describe('whatever is reported and whatever it costs,', () => {
  it('every token has exactly one kind', () => {
    fc.assert(
      fc.property(someUsage, somePricing, (usage, prices) => {
        expect(sum(splitPrompt(usage, prices))).toBe(usage.prompt_tokens);
        expect(sum(splitCompletion(usage, prices))).toBe(usage.completion_tokens);
      }),
    );
  });
  it('the parts of a cost are no debts and add up to it', () => {
    fc.assert(
      fc.property(someUsage, somePricing, fc.nat({ max: 5 }), (usage, prices, images) => {
        const cost = priceUsage(usage, prices, images);
        const { totalNanoUsd, promptNanoUsd, completionNanoUsd, otherNanoUsd } = cost;
        const kinds = Object.values(cost.kinds);
        expect(Math.min(...kinds)).toBeGreaterThanOrEqual(0);
        expect(kinds.reduce((all, nanoUsd) => all + nanoUsd, 0)).toBe(totalNanoUsd);
        expect(Math.min(promptNanoUsd, completionNanoUsd, otherNanoUsd)).toBeGreaterThanOrEqual(0);
        expect(promptNanoUsd + completionNanoUsd + otherNanoUsd).toBe(totalNanoUsd);
        expect(Number.isSafeInteger(totalNanoUsd)).toBe(true);
      }),
    );
  });
  it('more tokens never cost less', () => {
    fc.assert(
      fc.property(someUsage, somePricing, tokens, tokens, (usage, prices, morePrompt, moreCompletion) => {
        const more = {
          ...usage,
          prompt_tokens: usage.prompt_tokens + morePrompt,
          completion_tokens: usage.completion_tokens + moreCompletion,
        };
        // In a longer prompt fewer tokens must be both cached and audio, which a mad price could make cheaper.
        const plain = { ...prices, audioCacheReadPicoUsd: undefined };
        expect(priceUsage(more, plain).totalNanoUsd).toBeGreaterThanOrEqual(priceUsage(usage, plain).totalNanoUsd);
      }),
    );
  });
  it('the cost lies between all tokens at the cheapest price and all at the dearest', () => {
    fc.assert(
      fc.property(someUsage, somePricing, (usage, prices) => {
        const { promptNanoUsd } = priceUsage(usage, prices);
        const plain = prices.promptPicoUsd;
        const each = [
          plain,
          prices.cacheReadPicoUsd ?? plain,
          prices.cacheWritePicoUsd ?? plain,
          prices.cacheWriteHourPicoUsd ?? plain,
          // A write for an hour of which nobody gave the price, where writes are charged.
          ...(prices.cacheWritePicoUsd === undefined
            ? []
            : [Math.max(2 * plain, Math.ceil(1.6 * prices.cacheWritePicoUsd))]),
          prices.audioPicoUsd ?? plain,
          prices.audioCacheReadPicoUsd ?? plain,
          prices.imageTokenPicoUsd ?? plain,
        ];
        expect(promptNanoUsd).toBeGreaterThanOrEqual(Math.floor((usage.prompt_tokens * Math.min(...each)) / 1000));
        expect(promptNanoUsd).toBeLessThanOrEqual(Math.ceil((usage.prompt_tokens * Math.max(...each)) / 1000));
      }),
    );
  });
});

describe('usage with its cost', () => {
  const cost = { totalNanoUsd: 3_500, promptNanoUsd: 1_000, completionNanoUsd: 2_000, otherNanoUsd: 500 };
  it('leaves the cost out where it is not known, never null', () => {
    expect(usageWithCost(usageOf(1, 1), null, false)).toEqual({ ...usageOf(1, 1), is_byok: false });
  });
  it("says what the provider charged where the key was the caller's own", () => {
    expect(usageWithCost(usageOf(1, 1), cost, true).cost_details).toEqual({
      upstream_inference_cost: 0.0000035,
      upstream_inference_prompt_cost: 0.000001,
      upstream_inference_completions_cost: 0.000002,
    });
    expect(usageWithCost(usageOf(1, 1), cost, false).cost_details?.upstream_inference_cost).toBe(null);
  });
  it('holds what failed attempts used, beside the cost of this answer', () => {
    const usage = usageWithCost(usageOf(1, 1), cost, true, 1_500);
    expect(usage.cost).toBe(0.000005);
    expect(usage.cost_details?.upstream_inference_cost).toBe(0.0000035);
  });
});
