import { describe, expect, it } from 'vitest';
import { parsePrice } from '../../../src/base/money.ts';
import { cheapest, showPricing, usdText } from '../../../src/operations/models/pricing.ts';
import { endpoint, perMillion } from '../../support/listings.ts';

describe('a price', () => {
  it.each(['0', '1', '0.000000000001', '0.0000025', '0.5', '12.34', '100', '9000.000000000001', '1000000'])(
    'of %s USD is written as it was given',
    (text) => {
      expect(usdText(parsePrice(text) as number)).toBe(text);
    },
  );
  it('has every kind that is priced by itself, and four always', () => {
    expect(showPricing({ promptPicoUsd: 0, completionPicoUsd: 0 })).toEqual({
      prompt: '0',
      completion: '0',
      request: '0',
      image: '0',
    });
    expect(
      showPricing({
        promptPicoUsd: 1,
        completionPicoUsd: 2,
        requestPicoUsd: 3,
        imagePicoUsd: 4,
        imageTokenPicoUsd: 5,
        imageOutputPicoUsd: 6,
        audioPicoUsd: 7,
        audioOutputPicoUsd: 8,
        audioCacheReadPicoUsd: 9,
        cacheReadPicoUsd: 10,
        cacheWritePicoUsd: 11,
        cacheWriteHourPicoUsd: 12,
        reasoningPicoUsd: 13,
        webSearchPicoUsd: 14,
        longPrompts: [{ abovePromptTokens: 1000, promptPicoUsd: 99 }],
      }),
    ).toEqual({
      prompt: '0.000000000001',
      completion: '0.000000000002',
      request: '0.000000000003',
      image: '0.000000000004',
      image_token: '0.000000000005',
      image_output: '0.000000000006',
      audio: '0.000000000007',
      audio_output: '0.000000000008',
      input_audio_cache: '0.000000000009',
      input_cache_read: '0.00000000001',
      input_cache_write: '0.000000000011',
      input_cache_write_1h: '0.000000000012',
      internal_reasoning: '0.000000000013',
      web_search: '0.000000000014',
    });
  });
  it('that is not known looks like none', () => {
    expect(showPricing(null)).toEqual({ prompt: '-1', completion: '-1', request: '-1', image: '-1' });
  });
});

describe('the cheapest endpoint', () => {
  const priced = (tag: string, prompt: number, completion: number) =>
    endpoint('up', 'acme/fast', { tag, pricing: perMillion(prompt, completion) });
  const unpriced = endpoint('up', 'acme/fast', { tag: 'unpriced' });
  const flex = endpoint('up', 'acme/fast', { tag: 'flex', pricing: perMillion(0, 0), serviceTier: 'flex' });
  it.each([
    // Three tokens of the prompt to one of the answer, as the planner counts.
    ['counts more of the prompt', [priced('a', 2, 2), priced('b', 1, 4)], 'b'],
    ['is the first of equals', [priced('a', 1, 1), priced('b', 1, 1)], 'a'],
    ['has a price', [unpriced, priced('a', 100, 100)], 'a'],
    ['is of the usual tier', [flex, unpriced], 'unpriced'],
    ['is of another tier where there is nothing else', [flex], 'flex'],
  ])('%s', (_, endpoints, tag) => {
    expect(cheapest(endpoints).tag).toBe(tag);
  });
});
