// Loaded beforehand: a gateway loads it when it is first needed, which takes time that a manual clock knows nothing of.
import { calcPrice } from '@pydantic/genai-prices';
import { describe, expect, it } from 'vitest';
import { snapshot } from '../../../src/catalog/snapshot.ts';
import { createGateway } from '../../../src/gateway.ts';
import { presentationOf } from '../../../src/operations/compat.ts';
import { type GatewayOptions, OptionsError } from '../../../src/options.ts';
import { type ListPrices, listPrices } from '../../../src/pricing/list-prices.ts';
import { priceUsage } from '../../../src/pricing/price.ts';
import { hello, type TestGateway, testGateway, testKey, testPricing, upstreamKeys } from '../../support/gateway.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { completion } from '../../support/upstream.ts';

const nowMs = manualClock().now();
const openai = { openai: { apiKey: 'sk-openai-0123456789' } };
const up = { baseUrl: 'https://up.test/v1', apiKey: upstreamKeys.up };
const nothingBuiltIn = { builtInModels: false, builtInPrices: false };

function gateway(options: Partial<GatewayOptions>): TestGateway {
  const tested = testGateway(options);
  tested.upstream.always({ body: completion() });
  return tested;
}

const statusOf = async ({ post }: TestGateway, model: string, more: object = {}) =>
  (await post({ model, messages: hello, ...more })).status;

type Entry = NonNullable<ReturnType<typeof calcPrice>>;

/** A list of prices that finds one entry, of OpenAI unless told otherwise, whatever is asked for. */
function listOf(price: object, match: object = { starts_with: 'acme-1' }, isElsewhere = false): ListPrices {
  const model = { id: 'acme-1', match, prices: price } as Entry['model'];
  const models = isElsewhere ? [] : [model];
  const provider = { id: 'openai', name: 'OpenAI', api_pattern: '', models };
  const model_price = price as Entry['model_price'];
  return listPrices(() => ({ model, provider, model_price, input_price: 0, output_price: 0, total_price: 0 }));
}

const usual = { input_mtok: 2, output_mtok: 8 };
const slugs = (json: { data: { id: string }[] }) => json.data.map(({ id }) => id);

describe('what is decided of the catalogue and listings', () => {
  it('A document that was never read', async () => {
    let reads = 0;
    const tested = gateway({
      providers: { up, sandbox: {} },
      models: [{ slug: 'acme/fast', endpoints: [{ provider: 'up', model: 'm' }] }],
      catalog: {
        source: () => {
          reads++;
          throw new Error('Away');
        },
      },
    });
    const fromMs = tested.clock.now();
    const statuses: number[] = [];
    for (const model of ['up/any', 'no/such', 'acme/fast', 'sandbox/echo'])
      statuses.push(await statusOf(tested, model));
    expect(statuses).toEqual([503, 503, 200, 200]);
    expect(reads).toBe(1);
    const pauseMs = 5_000;
    // The sandbox takes its time.
    await tested.clock.advance(fromMs + pauseMs - 1 - tested.clock.now());
    await statusOf(tested, 'acme/fast');
    expect(reads).toBe(1);
    await tested.clock.advance(1);
    await statusOf(tested, 'acme/fast');
    expect(reads).toBe(2);
  });
  it('A model that several sources name', async () => {
    const slug = 'openai/gpt-oss-20b';
    const policy = { zeroRetention: true };
    const document = [
      { provider: 'up', model: 'ours', pricing: testPricing, dataPolicy: policy },
      { provider: 'groq', model: slug, contextLength: 77 },
    ];
    const tested = gateway({
      providers: { up, groq: { apiKey: 'gsk-0123456789' }, deepinfra: { apiKey: 'sk-0123456789' } },
      models: [{ slug, endpoints: [{ provider: 'up', model: 'ours' }] }],
      catalog: { source: () => ({ models: [{ slug, endpoints: document, description: 'Told' }] }) },
    });
    const builtIn = JSON.parse(snapshot) as { slug: string; name: string; endpoints: { provider: string }[] }[];
    const known = builtIn.find((one) => one.slug === slug);
    expect(known?.endpoints.map(({ provider }) => provider)).toContain('deepinfra');
    const explained = await tested.run(tested.gateway.explain({ model: slug, messages: hello }));
    expect(explained.candidates.map(({ provider, price_usd_per_million: price }) => [provider, price])).toEqual([
      ['up', 3.5],
    ]);
    const shown = (await tested.call('GET', `/model/${slug}`)).json.data;
    expect([shown.description, shown.name]).toEqual(['Told', known?.name]);
    expect(await statusOf(tested, slug, { provider: { zdr: true } })).toBe(404);
    expect(snapshot).not.toMatch(/dataPolicy|zeroRetention|zdr/);
  });
  it('A slug that occurs twice', async () => {
    const model = { slug: 'acme/fast', endpoints: [{ provider: 'up', model: 'm' }] };
    const providers = { up };
    const open = (models: (typeof model)[]) => createGateway({ providers, models, apiKeys: [{ key: testKey }] });
    expect(() => open([model])).not.toThrow();
    expect(() => open([model, model])).toThrow(OptionsError);
    const source = () => ({ models: [model, model] });
    await expect(gateway({ providers, models: [], catalog: { source } }).gateway.catalog.refresh()).rejects.toThrow(
      'expected a slug that no other model has',
    );
  });
  it('Which entry of the price list', async () => {
    const list = listOf(usual);
    const isFound = (name: string) => list.find('openai', name, nowMs) !== null;
    const releases = ['acme-1', 'acme-1-20261101', 'acme-1-2026-11-01', 'acme-1@20261101', 'acme-1-001', 'acme-1-v1:0'];
    expect(releases.filter((name) => !isFound(name))).toEqual([]);
    expect(['acme-1.5', 'acme-1-large', 'acme-12', 'my-acme-1'].filter(isFound)).toEqual([]);
    expect(listOf(usual, { starts_with: 'acme-1' }, true).find('openai', 'acme-1', nowMs)).toBe(null);
    expect(listOf(usual, { regex: '.*' }).find('openai', 'whatever', nowMs)).toBe(null);
    expect(listPrices(calcPrice).find('up', 'gpt-4.1-nano', nowMs)).toBe(null);
    expect(listPrices(calcPrice).find('openai', 'gpt-4.1-nano', nowMs)).toMatchObject({ promptPicoUsd: 100_000 });
  });
  it('A price of 0 in the price list', async () => {
    const priceOf = (price: object) => listOf(price).find('openai', 'acme-1', nowMs);
    expect([priceOf({ input_mtok: 0, output_mtok: 0 }), priceOf({ input_mtok: 2, output_mtok: 0 })]).toEqual([
      null,
      null,
    ]);
    expect(priceOf(usual)).not.toBe(null);
    const tiers = ['flex', 'priority'];
    const tested = gateway({
      providers: openai,
      models: [
        {
          slug: 'acme/nano',
          endpoints: [{}, ...tiers.map((variant) => ({ variant }))].map((variant) => ({
            provider: 'openai',
            model: 'gpt-4.1-nano',
            ...variant,
          })),
        },
      ],
      catalog: { builtInModels: false },
    });
    const priced = async (tag: string) => {
      const body = { model: 'acme/nano', messages: hello, provider: { only: [tag] } };
      const { candidates } = await tested.run(tested.gateway.explain(body));
      return candidates.find(({ provider }) => provider === tag)?.price_usd_per_million;
    };
    expect([await priced('openai'), await priced('openai/flex'), await priced('openai/priority')]).toEqual([
      0.175,
      null,
      null,
    ]);
  });
  it('Listed prices of long prompts', async () => {
    const list = listOf({ input_mtok: { base: 1, tiers: [{ start: 1_000, price: 3 }] }, output_mtok: 8 });
    const pricing = list.find('openai', 'acme-1', nowMs);
    const costs = [1_000, 1_001].map(
      (prompt_tokens) =>
        pricing &&
        priceUsage({ prompt_tokens, completion_tokens: 0, total_tokens: prompt_tokens }, pricing).totalNanoUsd,
    );
    expect(costs).toEqual([1_000_000, 3_003_000]);
  });
  it('A built-in provider with another `baseUrl`', async () => {
    const costs: unknown[] = [];
    for (const baseUrl of [undefined, 'https://proxy.test/v1']) {
      const providers = { openai: { ...openai.openai, ...(baseUrl && { baseUrl }) } };
      const tested = gateway({ providers, models: [] });
      const { json } = await tested.post({ model: 'openai/gpt-4.1-nano', messages: hello });
      expect(tested.upstream.sent[0]?.url).toContain(baseUrl ?? 'https://api.openai.com');
      costs.push(json.usage?.cost);
    }
    expect(costs).toEqual([expect.any(Number), costs[0]]);
  });
  it('A built-in model whose author', async () => {
    const slug = 'meta-llama/llama-4-maverick';
    const deepinfra = { apiKey: 'sk-0123456789' };
    for (const [providers, name] of [
      [{ deepinfra }, 'meta-llama/Llama-4-Maverick-17B-128E-Instruct-FP8'],
      [{ deepinfra, 'meta-llama': { baseUrl: 'https://llama.test/v1' } }, 'llama-4-maverick'],
    ] as [GatewayOptions['providers'], string][]) {
      const tested = gateway({ providers: providers as NonNullable<GatewayOptions['providers']>, models: [] });
      expect(await statusOf(tested, slug)).toBe(200);
      expect(tested.upstream.sent[0]?.body.model).toBe(name);
    }
  });
  it('Credentials in the URL', async () => {
    const open = (source: string) => () => gateway({ catalog: { source } });
    expect(open('https://x.test/models.json')).not.toThrow();
    expect(open('https://ada:red-secret@x.test/models.json')).toThrow(OptionsError);
    expect(open('https://ada:red-secret@x.test/models.json')).not.toThrow(/red-secret/);
  });
  it('What the listings show', async () => {
    const at = (provider: string, kind: 'text' | 'image' = 'text') => ({
      slug: `acme/${provider}-${kind}`,
      outputModalities: [kind],
      endpoints: [{ provider, model: 'm' }],
    });
    const tested = gateway({
      providers: { up, groq: {}, together: {} },
      models: [at('up'), at('up', 'image'), at('groq'), at('together')],
      catalog: nothingBuiltIn,
      secrets: { current: 'a master secret of the tests, which is long enough' },
    });
    const { call } = tested;
    const listed = async () => {
      const [some, all] = [await call('GET', '/models'), await call('GET', '/models/user')];
      const providers = (await call('GET', '/providers')).json.data.map(({ slug }: { slug: string }) => slug);
      return [slugs(some.json), slugs(all.json), providers];
    };
    expect(await listed()).toEqual([['acme/up-text'], ['acme/up-text', 'acme/up-image'], ['up']]);
    expect((await call('POST', '/byok', { provider: 'groq', key: 'gsk-0123456789' })).status).toBe(201);
    expect(await listed()).toEqual([
      ['acme/up-text', 'acme/groq-text'],
      ['acme/up-text', 'acme/up-image', 'acme/groq-text'],
      ['groq', 'up'],
    ]);
  });
  it('Which price stands for a model', async () => {
    const priced = (variant: string, prompt: number, answerPrice: number) => ({
      provider: 'up',
      model: variant,
      variant,
      pricing: { prompt, completion: answerPrice },
    });
    const { call } = gateway({
      models: [
        {
          slug: 'acme/three',
          endpoints: [
            { provider: 'alt', model: 'any' },
            priced('a', 0.0005, 0.009),
            priced('b', 0.002, 0.001),
            priced('flex', 0.00025, 0.00025),
          ],
        },
        { slug: 'acme/unknown', endpoints: [{ provider: 'up', model: 'm' }] },
      ],
      catalog: nothingBuiltIn,
    });
    const { json } = await call('GET', '/models');
    const unknown = '-1';
    expect(json.data.map(({ pricing }: { pricing: object }) => pricing)).toEqual([
      { prompt: '0.002', completion: '0.001', request: '0', image: '0' },
      { prompt: unknown, completion: unknown, request: unknown, image: unknown },
    ]);
  });
  it('Facts of a model', async () => {
    const { call } = gateway({
      models: [{ slug: 'acme/bare', endpoints: [{ provider: 'up', model: 'm' }] }],
      catalog: nothingBuiltIn,
    });
    const [model] = (await call('GET', '/models')).json.data;
    const [endpoint] = (await call('GET', '/models/acme/bare/endpoints')).json.data.endpoints;
    expect([model.created, endpoint.context_length, endpoint.quantization]).toEqual([0, 0, 'unknown']);
    for (const filter of [
      'context=1',
      'min_price=0',
      'max_price=1000',
      'distillable=true',
      'distillable=false',
      'supported_parameters=tools',
      'zdr=true',
      'category=programming',
      'region=eu',
    ]) {
      const { status, json } = await call('GET', `/models?${filter}`);
      expect([filter, status, json.data]).toEqual([filter, 200, []]);
    }
  });
  it('Listings in the order', async () => {
    const models = ['b', 'c', 'a'].map((name) => ({
      slug: `acme/${name}`,
      endpoints: [{ provider: 'up', model: name }],
    }));
    const { call } = gateway({ models, catalog: nothingBuiltIn });
    for (const sort of ['most-popular', 'top-weekly', 'design-arena-elo-high-to-low']) {
      expect(slugs((await call('GET', `/models?sort=${sort}`)).json)).toEqual(models.map(({ slug }) => slug));
    }
    expect((await call('GET', '/models?use_rss=true')).status).toBe(400);
  });
  it("With `compat: 'openrouter'`", async () => {
    const { endpointStatus } = presentationOf('openrouter');
    const numbers = [0, -1, -2, -10];
    expect((['default', 'degraded', 'down', 'disabled'] as const).map(endpointStatus)).toEqual(numbers);
    const { call } = gateway({ compat: 'openrouter' });
    const { json } = await call('GET', '/models/acme/fast/endpoints');
    expect(json.data.endpoints[0].status).toBe(numbers[0]);
    for (const [brand, field] of [
      [undefined, 'openrouter_metadata'],
      ['acme', 'acme_metadata'],
    ] as const) {
      const { post } = gateway({ compat: 'openrouter', ...(brand && { brand }) });
      const { json } = await post(
        { model: 'acme/fast', messages: hello },
        { 'x-openrouter-metadata': 'enabled', 'x-acme-metadata': 'enabled' },
      );
      expect(Object.keys(json).filter((name) => name.endsWith('_metadata'))).toEqual([field]);
    }
  });
});
