import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Endpoint, Pricing } from '../../../src/call/model.ts';
import { snapshot } from '../../../src/catalog/snapshot.ts';
import { withCacheWrites } from '../../../src/pricing/cache-writes.ts';
import { ceilingOf, unknownPart } from '../../../src/pricing/ceiling.ts';
import { priceUsage } from '../../../src/pricing/price.ts';
import type { ChatRequest, Usage } from '../../../src/schema/chat/chat.ts';
import { boundOf } from '../../support/prompt-bound.ts';

const endpointWith = (pricing: Pricing): Endpoint => ({
  modelSlug: 'acme/one',
  providerSlug: 'up',
  tag: 'up',
  upstreamModel: 'm',
  pricing,
  contextLength: null,
  maxCompletionTokens: 100,
  quantization: null,
  supportedParameters: null,
  dataPolicy: { zeroRetention: null, trains: null },
});
const base = { promptPicoUsd: 100, completionPicoUsd: 1 };
const options = { defaultMaxTokens: 1 };
const written = (prompt: number, details: Usage['prompt_tokens_details']): Usage => ({
  prompt_tokens: prompt,
  completion_tokens: 0,
  total_tokens: prompt,
  prompt_tokens_details: details,
});
const asked = (more: object, part: object = {}): ChatRequest =>
  ({ messages: [{ role: 'user', content: [{ type: 'text', text: 'x', ...part }] }], max_tokens: 1, ...more }) as never;
/** What a token of the prompt is held at, in pico-USD. */
function heldAt(request: ChatRequest, pricing: Pricing): number | null {
  const bound = boundOf(request);
  const ceiling = ceilingOf(request, bound, endpointWith(pricing), options);
  return ceiling && Math.round((ceiling.nanoUsd * 1_000) / bound.tokens / 10) * 10;
}

describe('a write to a cache', () => {
  const write = { ...base, cacheWritePicoUsd: 125 };
  it.each<[string, Pricing, Usage['prompt_tokens_details'], number]>([
    ['minutes', write, { cache_write_tokens: 10 }, 1_250],
    ['an hour of a price that nobody gave', write, { cache_write_tokens: 10, cache_write_1h_tokens: 10 }, 2_000],
    ['an hour, dearer by its write', { ...base, cacheWritePicoUsd: 200 }, { cache_write_1h_tokens: 10 }, 3_200],
    ['an hour of its own price', { ...write, cacheWriteHourPicoUsd: 150 }, { cache_write_1h_tokens: 10 }, 1_500],
    ['twelve hours of a price that nobody gave', write, { cache_write_tokens: 10, cache_write_12h_tokens: 10 }, 2_000],
    ['twelve hours', { ...write, cacheWrite12hPicoUsd: 300 }, { cache_write_12h_tokens: 10 }, 3_000],
    [
      'each of its class',
      { ...write, cacheWrite12hPicoUsd: 300 },
      { cache_write_tokens: 9, cache_write_1h_tokens: 3, cache_write_12h_tokens: 3 },
      3 * 125 + 3 * 200 + 3 * 300 + 100,
    ],
  ])('is booked by how long it is kept: %s', (_, pricing, details, pico) => {
    // Times a million, so that no rounding to nano-USD hides a difference.
    const dear = Object.fromEntries(
      Object.entries(pricing).map(([name, price]) => [name, (price as number) * 1e6]),
    ) as never;
    expect(priceUsage(written(10, details), dear).promptNanoUsd).toBe(pico * 1_000);
  });
  it('of a long prompt costs by the prices of long prompts, whether or not an hour is among them', () => {
    const longPrompts = [{ abovePromptTokens: 5, promptPicoUsd: 200_000, cacheWritePicoUsd: 250_000 }];
    const pricing = {
      promptPicoUsd: 100_000,
      completionPicoUsd: 0,
      cacheWritePicoUsd: 125_000,
      cacheWriteHourPicoUsd: 200_000,
      longPrompts,
    };
    expect(priceUsage(written(10, { cache_write_1h_tokens: 10 }), pricing).promptNanoUsd).toBe(10 * 400);
  });
  it.each<[string, Pricing, number]>([
    ['claude-opus-9', base, 125],
    ['anthropic.claude-sonnet-4-6', base, 125],
    ['gpt-6.1-sol', base, 125],
    ['openai.gpt-5.6', base, 125],
    ['claude-opus-9', { ...base, cacheWritePicoUsd: 7 }, 7],
  ])('has the price that its maker publishes, where none was given: %s', (model, pricing, price) => {
    expect(withCacheWrites(pricing, model).cacheWritePicoUsd).toBe(price);
    expect(withCacheWrites<Pricing>(base, 'gpt-5.5').cacheWritePicoUsd).toBeUndefined();
  });
  it('for an hour costs twice the input at every Claude of the catalogue, short prompts and long', () => {
    const models = JSON.parse(snapshot) as { endpoints: { model: string; pricing?: Record<string, never> }[] }[];
    let seen = 0;
    for (const { model, pricing } of models.flatMap(({ endpoints }) => endpoints)) {
      if (!/claude/.test(model) || !pricing) continue;
      seen++;
      const pico = (usd: unknown) => (usd === undefined ? undefined : Math.round(Number(usd) * 1e12));
      const prices = (given: Record<string, unknown>) => ({
        promptPicoUsd: pico(given.prompt) as number,
        completionPicoUsd: pico(given.completion) as number,
        ...(given.inputCacheWrite === undefined ? {} : { cacheWritePicoUsd: pico(given.inputCacheWrite) as number }),
        ...(given.inputCacheWrite1h === undefined
          ? {}
          : { cacheWriteHourPicoUsd: pico(given.inputCacheWrite1h) as number }),
      });
      const longPrompts = ((pricing.longPrompts ?? []) as Record<string, unknown>[]).map((one) => ({
        ...prices(one),
        abovePromptTokens: one.abovePromptTokens as number,
      }));
      const full = withCacheWrites({ ...prices(pricing), longPrompts }, model);
      for (const { abovePromptTokens, promptPicoUsd } of [
        { abovePromptTokens: 0, promptPicoUsd: full.promptPicoUsd },
        ...longPrompts,
      ]) {
        const tokens = abovePromptTokens + 1_000;
        const { promptNanoUsd } = priceUsage(written(tokens, { cache_write_1h_tokens: tokens }), full);
        expect([model, promptNanoUsd * 1_000]).toEqual([model, tokens * promptPicoUsd * 2]);
      }
    }
    expect(seen).toBeGreaterThan(10);
  });
});

describe('what is held for a prompt that is cached', () => {
  const write: Pricing = { promptPicoUsd: 1_000_000, completionPicoUsd: 0, cacheWritePicoUsd: 1_250_000 };
  const hour = { type: 'ephemeral', ttl: '1h' };
  const tool = { type: 'function', function: { name: 'f' } };
  it.each<[string, ChatRequest]>([
    ['nowhere: a provider may report it all the same', asked({})],
    ['on the request', asked({ cache_control: hour })],
    ['on a part', asked({}, { cache_control: hour })],
    ['on a message', asked({ messages: [{ role: 'system', content: 'x', cache_control: hour }] })],
    ['on a tool', asked({ tools: [{ ...tool, cache_control: hour }] })],
    ['in a field of the provider', asked({ amazon: { system: [{ cachePoint: { type: 'default', ttl: '1h' } }] } })],
    ['a day of an older model', asked({ prompt_cache_retention: '24h' })],
  ])('has the price of a write for an hour, wherever that is asked for: %s', (_, request) => {
    expect(heldAt(request, write)).toBe(2_000_000);
    expect(heldAt(request, { ...write, cacheWritePicoUsd: undefined as never })).toBe(1_000_000);
  });
  it.each<[string, ChatRequest]>([
    ['by the options', asked({ prompt_cache_options: { mode: 'explicit', ttl: '12h' } })],
    ['by a mark', asked({}, { cache_control: { type: 'ephemeral', ttl: '24h' } })],
    ['by a mark on a tool', asked({ tools: [{ ...tool, function: { name: 'f', cache_control: { ttl: '12h' } } }] })],
    ['in a field of the provider', asked({ amazon: { system: [{ cachePoint: { type: 'default', ttl: '12h' } }] } })],
    ['by a word that nobody knows', asked({ prompt_cache_options: { ttl: 'forever' } })],
  ])('is not known for twelve hours, unless you give the price: %s', (_, request) => {
    expect(heldAt(request, write)).toBeNull();
    expect(unknownPart(boundOf(request), endpointWith(write), options)).toMatch(/12 hours/);
    expect(heldAt(request, { ...write, cacheWrite12hPicoUsd: 3_000_000 })).toBe(3_000_000);
  });
  it('is no less than what is booked, whatever is asked for and whatever is reported', () => {
    const price = fc.nat({ max: 5_000_000 });
    const prices = fc.record(
      { cacheReadPicoUsd: price, cacheWritePicoUsd: price, cacheWriteHourPicoUsd: price, cacheWrite12hPicoUsd: price },
      { requiredKeys: ['cacheWrite12hPicoUsd'] },
    );
    const asks = fc.constantFrom<object>({}, { cache_control: hour }, { prompt_cache_options: { ttl: '12h' } });
    fc.assert(
      fc.property(
        price,
        prices,
        asks,
        fc.array(fc.nat(), { minLength: 4, maxLength: 4 }),
        (promptPicoUsd, more, ask, counts) => {
          const pricing = { promptPicoUsd, completionPicoUsd: 0, ...more };
          const request = asked(ask);
          const bound = boundOf(request);
          const ceiling = ceilingOf(request, bound, endpointWith(pricing), options);
          const [read, all, long, longest] = counts.map((one) => one % (bound.tokens + 1)) as [
            number,
            number,
            number,
            number,
          ];
          const details = {
            cached_tokens: read,
            cache_write_tokens: all,
            cache_write_1h_tokens: long,
            cache_write_12h_tokens: longest,
          };
          const { totalNanoUsd } = priceUsage(written(bound.tokens, details), pricing);
          expect(totalNanoUsd).toBeLessThanOrEqual(ceiling?.nanoUsd ?? 0);
        },
      ),
      { numRuns: 500 },
    );
  });
});
