import { expect, it } from 'vitest';
import type { Endpoint, Pricing } from '../../../src/call/model.ts';
import { ceilingOf } from '../../../src/pricing/ceiling.ts';
import { estimateUsage } from '../../../src/pricing/estimate.ts';
import { priceUsage } from '../../../src/pricing/price.ts';
import { boundOf } from '../../support/prompt-bound.ts';
import { loadRecordedRequests, type RecordedRequest } from '../../support/recorded-requests.ts';
import { describeWithShared } from '../../support/reference.ts';

/** What these refer to lies at the provider, so that nobody else can count it. */
const keptByTheProvider = ['cachedContent', 'previous_response_id'];

const pricing: Pricing = {
  promptPicoUsd: 3_000_000,
  completionPicoUsd: 15_000_000,
  cacheReadPicoUsd: 300_000,
  cacheWritePicoUsd: 3_750_000,
  reasoningPicoUsd: 20_000_000,
  requestPicoUsd: 1_000_000,
};
const endpoint: Endpoint = {
  modelSlug: 'acme/recorded',
  providerSlug: 'acme',
  tag: 'acme',
  upstreamModel: 'recorded',
  pricing,
  contextLength: null,
  maxCompletionTokens: 16_384,
  quantization: null,
  supportedParameters: null,
  dataPolicy: { zeroRetention: null, trains: null },
};
const options = { defaultMaxTokens: 4_096 };

describeWithShared('what real providers counted', () => {
  const all = loadRecordedRequests();
  const countable = all.filter(({ request }) => !keptByTheProvider.some((field) => field in request));
  const over = (isOver: (recording: RecordedRequest) => boolean) => countable.filter(isOver).map(({ name }) => name);

  it('is known for hundreds of requests in eight dialects', () => {
    expect(countable.length).toBeGreaterThan(240);
    expect(new Set(countable.map(({ dialect }) => dialect)).size).toBeGreaterThanOrEqual(8);
    // Two on a cached text, the others on an earlier answer.
    expect(all.length - countable.length).toBeLessThan(10);
  });
  it('is never more than the bound of the prompt', () => {
    expect(
      over(({ request, promptTokens }) => {
        const { tokens, toolTokens } = boundOf(request);
        return promptTokens > tokens + toolTokens;
      }),
    ).toEqual([]);
  });
  it('never costs more than the ceiling', () => {
    const dearest = { cached_tokens: 0, cache_write_tokens: 1e6 };
    expect(
      over(({ request, promptTokens, completionTokens }) => {
        const ceiling = ceilingOf(request, boundOf(request), endpoint, options);
        const usage = {
          prompt_tokens: promptTokens,
          completion_tokens: completionTokens,
          total_tokens: promptTokens + completionTokens,
          prompt_tokens_details: dearest,
          completion_tokens_details: { reasoning_tokens: completionTokens },
        };
        return priceUsage(usage, pricing).totalNanoUsd > (ceiling?.nanoUsd ?? 0);
      }),
    ).toEqual([]);
  });
  it("never has more output than the caller's cap", () => {
    const capped = countable.filter(({ request }) => request.max_completion_tokens ?? request.max_tokens);
    expect(capped.length).toBeGreaterThan(30);
    expect(
      over(({ request, completionTokens }) => {
        const ceiling = ceilingOf(request, boundOf(request), endpoint, options);
        return completionTokens > (ceiling?.completionTokens ?? 0);
      }),
    ).toEqual([]);
  });
  it('is estimated within the bound', () => {
    expect(over(({ request }) => estimateUsage(request, 0).prompt_tokens > boundOf(request).tokens)).toEqual([]);
  });
});
