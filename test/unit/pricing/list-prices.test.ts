import { calcPrice } from '@pydantic/genai-prices';
import { describe, expect, it } from 'vitest';
import { listPrices, mayHaveListPrice } from '../../../src/pricing/list-prices.ts';

const nowMs = Date.UTC(2026, 10, 21, 12);
const real = listPrices(calcPrice);

type Listed = NonNullable<ReturnType<typeof calcPrice>>;

/** A list of one entry, at OpenAI unless told otherwise; counts how often it is asked. */
function listOf(price: unknown, more: { id?: string; match?: unknown; at?: string; elsewhere?: boolean } = {}) {
  const { id = 'acme-1', match = { equals: id }, at = 'openai', elsewhere = false } = more;
  const model = { id, match, prices: price } as Listed['model'];
  const provider = { id: at, name: at, api_pattern: '', models: elsewhere ? [] : [model] };
  let asked = 0;
  const calculate: typeof calcPrice = () => {
    asked++;
    const model_price = (Array.isArray(price) ? price.at(-1).prices : price) as Listed['model_price'];
    return { model, provider, model_price, input_price: 0, output_price: 0, total_price: 0 };
  };
  const list = listPrices(calculate);
  return { find: (name = id) => list.find('openai', name, nowMs), asked: () => asked };
}

const usual = { input_mtok: 2, output_mtok: 8 };

describe('a list price', () => {
  it('becomes pico-USD per token, exactly', () => {
    const found = listOf({
      input_mtok: 0.1,
      output_mtok: 0.7,
      cache_read_mtok: 0.003625,
      cache_write_mtok: 1e-7,
      cache_write_1h_mtok: 1.1,
      input_audio_mtok: 0.3,
      cache_audio_read_mtok: 0.29,
      input_image_mtok: 0.57,
      output_reasoning_mtok: 1.15,
      output_audio_mtok: 64,
      output_image_mtok: 40,
      requests_kcount: 5,
      web_searches_kcount: 0.7,
    });
    expect(found.find()).toEqual({
      promptPicoUsd: 100_000,
      completionPicoUsd: 700_000,
      cacheReadPicoUsd: 3_625,
      // Finer than a pico-USD: rounded up.
      cacheWritePicoUsd: 1,
      cacheWriteHourPicoUsd: 1_100_000,
      audioPicoUsd: 300_000,
      audioCacheReadPicoUsd: 290_000,
      imageTokenPicoUsd: 570_000,
      reasoningPicoUsd: 1_150_000,
      audioOutputPicoUsd: 64_000_000,
      imageOutputPicoUsd: 40_000_000,
      requestPicoUsd: 5_000_000_000,
      webSearchPicoUsd: 700_000_000,
    });
  });
  it('in tiers is of the whole request, with every kind of token', () => {
    const tiers = (base: number, ...steps: [number, number][]) => ({
      base,
      tiers: steps.map(([start, price]) => ({ start, price })),
    });
    const found = listOf({
      input_mtok: tiers(1, [200_000, 2], [500_000, 3]),
      output_mtok: tiers(10, [200_000, 15]),
      cache_read_mtok: 0.1,
    });
    expect(found.find()).toEqual({
      promptPicoUsd: 1_000_000,
      completionPicoUsd: 10_000_000,
      cacheReadPicoUsd: 100_000,
      longPrompts: [
        { abovePromptTokens: 200_000, promptPicoUsd: 2_000_000, completionPicoUsd: 15_000_000 },
        { abovePromptTokens: 500_000, promptPicoUsd: 3_000_000, completionPicoUsd: 15_000_000 },
      ],
      unknownKinds: ['audio', 'audioOutput', 'imageOutput', 'search'],
    });
    // As the list itself counts it: one token beyond the start, and the whole costs more.
    const cost = (input_tokens: number) => calcPrice({ input_tokens }, 'gemini-2.5-pro', { providerId: 'google' });
    const [long] = real.find('google-ai-studio', 'gemini-2.5-pro', nowMs)?.longPrompts ?? [];
    const start = long?.abovePromptTokens as number;
    expect(cost(start + 1)?.input_price).toBeCloseTo(((start + 1) * (long?.promptPicoUsd as number)) / 1e12, 9);
    expect(cost(start)?.input_price).toBeLessThan((cost(start + 1)?.input_price as number) / 1.5);
  });
  it.each<[string, object]>([
    ['no price of a prompt', { output_mtok: 1 }],
    ['no price of an answer', { input_mtok: 1 }],
    ['a prompt for nothing', { input_mtok: 0, output_mtok: 1 }],
    ['an answer for nothing', { input_mtok: 1, output_mtok: 0 }],
    ['a price of something that is not counted', { ...usual, output_citation_mtok: 2 }],
    ['a price in tiers per request', { ...usual, requests_kcount: { base: 1, tiers: [] } }],
  ])('is not known with %s', (_, price) => {
    expect(listOf(price).find()).toBe(null);
  });
  it('is not known where the list contradicts itself', () => {
    const list = listPrices(() => {
      throw new Error('Missing ancestor price key');
    });
    expect(list.find('openai', 'acme-1', nowMs)).toBe(null);
  });
  it('says which prices it does not know', () => {
    const kindsOf = (price: object, id?: string) =>
      listOf({ ...usual, ...price }, id ? { id } : {}).find()?.unknownKinds;
    expect(kindsOf({})).toEqual(['audio', 'audioOutput', 'imageOutput', 'search']);
    expect(kindsOf({}, 'acme-audio-preview')).toEqual(['audio', 'image', 'audioOutput', 'imageOutput', 'search']);
    expect(kindsOf({ input_audio_mtok: 3, output_audio_mtok: 9 }, 'acme-audio')).toEqual([
      'image',
      'imageOutput',
      'search',
    ]);
    for (const price of [{ web_searches_kcount: 10 }, { requests_kcount: 5 }])
      expect(kindsOf(price)).not.toContain('search');
    const all = { input_audio_mtok: 3, output_audio_mtok: 9, output_image_mtok: 9, web_searches_kcount: 10 };
    expect(kindsOf(all)).toBe(undefined);
  });
  it('is that of the medium where a model makes nothing else', () => {
    expect(listOf(usual, { id: 'acme-1-tts' }).find()).toMatchObject({
      completionPicoUsd: 8_000_000,
      audioOutputPicoUsd: 8_000_000,
    });
    expect(listOf(usual, { id: 'gpt-image-9' }).find()).toMatchObject({ imageOutputPicoUsd: 8_000_000 });
    expect(listOf({ ...usual, output_image_mtok: 30 }, { id: 'gpt-image-9' }).find()).toMatchObject({
      completionPicoUsd: 8_000_000,
      imageOutputPicoUsd: 30_000_000,
    });
    // An output that may be text too has two prices.
    expect(listOf(usual, { id: 'acme-1-image' }).find()).toBe(null);
  });
  it('is by the second of sound where a list has hours, for models that write down what is said', () => {
    const hours = { audio_hours: 0.111, input_audio_hours: 0.111 };
    // Rounded up.
    const second = { unitsPicoUsd: { second: 30_833_334 }, promptPicoUsd: 0, isInputOnly: true };
    expect(listOf(hours, { id: 'whisper-9' }).find()).toMatchObject(second);
    expect(listOf(hours, { id: 'acme-1' }).find()).toBe(null);
    expect(listOf({ ...hours, output_mtok: 2 }, { id: 'whisper-9' }).find()).toBe(null);
    expect(listOf({ input_audio_hours: 0 }, { id: 'whisper-9' }).find()).toBe(null);
    const priced = (provider: string, model: string) => real.find(provider, model, nowMs)?.unitsPicoUsd?.second;
    expect([priced('openai', 'whisper-1'), priced('groq', 'whisper-large-v3-turbo')]).toEqual([
      100_000_000, 11_111_112,
    ]);
    // The name of the entry says what the slug does not.
    expect(priced('mistral', 'voxtral-mini-2602')).toBe(50_000_000);
    expect(real.find('openai', 'gpt-4o-mini-tts', nowMs)).toMatchObject({ audioOutputPicoUsd: 12_000_000 });
    expect(real.find('openai', 'gpt-image-2', nowMs)).toMatchObject({ imageOutputPicoUsd: 30_000_000 });
  });
  it('is not known of a model that makes images or speech, without a price for these', () => {
    expect(listOf(usual, { id: 'acme-1-image' }).find()).toBe(null);
    expect(listOf(usual, { id: 'acme-1-live' }).find()).toBe(null);
    expect(listOf({ ...usual, output_image_mtok: 30 }, { id: 'acme-1-image' }).find()).not.toBe(null);
  });
  it('of searches is not that of a variant that always searches', () => {
    const match = { or: [{ equals: 'acme-1' }, { equals: 'acme-1-search-preview' }] };
    const list = listOf({ ...usual, web_searches_kcount: 10 }, { match });
    expect(list.find()?.webSearchPicoUsd).toBe(10_000_000_000);
    expect(list.find('acme-1-search-preview')).toMatchObject({ unknownKinds: expect.arrayContaining(['search']) });
    expect(list.find('acme-1-search-preview')).not.toHaveProperty('webSearchPicoUsd');
  });
  it('is looked up once', () => {
    const { find, asked } = listOf(usual);
    expect(find()).toBe(find());
    expect(asked()).toBe(1);
  });
  it('that changes with time is looked up each time', () => {
    const { find, asked } = listOf([{ prices: { input_mtok: 9, output_mtok: 9 } }, { prices: usual }]);
    expect([find(), find()]).toMatchObject([{ promptPicoUsd: 2_000_000 }, { promptPicoUsd: 2_000_000 }]);
    expect(asked()).toBe(2);
  });
});

describe('a model of the list', () => {
  it.each<[string, unknown, string, boolean]>([
    ['its id', { equals: 'other' }, 'acme-1', true],
    ['its id in capitals', { equals: 'other' }, 'ACME-1', true],
    ['another of its names', { or: [{ equals: 'acme-one' }] }, 'acme-one', true],
    ['a release of a day', { starts_with: 'acme-1' }, 'acme-1-20261101', true],
    ['a release of a day, with hyphens', { starts_with: 'acme-1' }, 'acme-1-2026-11-01', true],
    ['a release after an at sign', { contains: 'acme-1' }, 'acme-1@20261101', true],
    ['a numbered release', { starts_with: 'acme-1' }, 'acme-1-001', true],
    ['a version', { contains: 'acme-1' }, 'acme-1-v1:0', true],
    ['its latest release', { starts_with: 'acme-1' }, 'acme-1-latest', true],
    ['a newer model', { starts_with: 'acme-1' }, 'acme-1.5', false],
    ['a larger model', { starts_with: 'acme-1' }, 'acme-1-large', false],
    ['a model that ends like it', { ends_with: 'acme-1' }, 'super-acme-1', false],
    ['a model with its name inside', { contains: 'acme-1' }, 'x-acme-1-x', false],
    ['what only a pattern knows', { regex: '.*' }, 'whatever', false],
    ['conditions that hold together', { and: [{ starts_with: 'what' }, { contains: 'ever' }] }, 'what', false],
    ['what was fine-tuned from it', { starts_with: 'ft:acme-1' }, 'ft:acme-1:mine', false],
  ])('is found by %s, or not: %s', (_, match, name, isFound) => {
    expect(listOf(usual, { match }).find(name) !== null).toBe(isFound);
  });
  it('is taken from no other provider', () => {
    expect(listOf(usual, { at: 'azure' }).find()).toBe(null);
    expect(listOf(usual, { elsewhere: true }).find()).toBe(null);
  });
  it.each([
    ['ollama', 'llama3'],
    ['sandbox', 'echo'],
    ['constructor', 'x'],
    ['openai', 'x'.repeat(201)],
  ])('is not looked for at %s', (provider, name) => {
    const list = listPrices(() => {
      throw new Error('asked');
    });
    expect(mayHaveListPrice(provider, name)).toBe(false);
    expect(list.find(provider, name, nowMs)).toBe(null);
  });
});

describe('the list that is built in', () => {
  it('knows a model of each sort', () => {
    expect(real.find('openai', 'gpt-4.1-nano', nowMs)).toEqual({
      promptPicoUsd: 100_000,
      completionPicoUsd: 400_000,
      cacheReadPicoUsd: 25_000,
      unknownKinds: ['audio', 'audioOutput', 'imageOutput', 'search'],
    });
    expect(real.find('openai', 'gpt-4.1-nano-2025-04-14', nowMs)?.promptPicoUsd).toBe(100_000);
    expect(real.find('openai', 'gpt-77', nowMs)).toBe(null);
    // A price of input alone is one for a model whose name says that it writes nothing.
    expect(real.find('openai', 'text-embedding-3-small', nowMs)).toMatchObject({
      promptPicoUsd: 20_000,
      completionPicoUsd: 0,
      isInputOnly: true,
    });
  });
  it('takes no newer model for an older one', () => {
    expect(calcPrice({}, 'claude-sonnet-5.5', { providerId: 'anthropic' })?.model.id).toBe('claude-sonnet-5');
    expect(real.find('anthropic', 'claude-sonnet-5', nowMs)).not.toBe(null);
    expect(real.find('anthropic', 'claude-sonnet-5.5', nowMs)).toBe(null);
  });
  it('takes no price of the makers of a model for that of who sells it', () => {
    const options = { providerId: 'azure' };
    const fallback = calcPrice({}, 'grok-4.3', options);
    expect(fallback?.provider.models.includes(fallback.model)).toBe(false);
    expect(real.find('azure', 'grok-4.3', nowMs)).toBe(null);
  });
  it('has the price of the day, and of the hour', () => {
    const at = (...utc: [number, number, number, number?]) =>
      real.find('deepseek', 'deepseek-v4-pro', Date.UTC(...utc))?.promptPicoUsd as number;
    expect(at(2026, 10, 21, 2)).toBeGreaterThan(at(2026, 10, 21, 12));
    const o3 = (year: number, month: number) => real.find('openai', 'o3', Date.UTC(year, month, 1))?.promptPicoUsd;
    expect([o3(2025, 4), o3(2025, 6)]).toEqual([10_000_000, 2_000_000]);
  });
});
