// Loaded beforehand: a gateway loads it when it is first needed, which takes time that a manual clock knows nothing of.
import '@pydantic/genai-prices';
import { describe, expect, it } from 'vitest';
import { CatalogError } from '../../src/catalog/document.ts';
import type { GatewayOptions } from '../../src/options.ts';
import { hello, type TestGateway, testGateway, testPricing, upstreamKeys } from '../support/gateway.ts';
import { completion } from '../support/upstream.ts';

const providers = {
  up: { baseUrl: 'https://up.test/v1', apiKey: upstreamKeys.up, name: 'Up' },
  openai: { apiKey: 'sk-openai-0123456789' },
  deepinfra: { apiKey: 'sk-deepinfra-0123456789' },
};
const usage = { prompt_tokens: 1_000, completion_tokens: 100, total_tokens: 1_100 };

const gatewayWith = (options: Partial<GatewayOptions> = {}) => {
  const test = testGateway({ providers, models: [], ...options });
  test.upstream.always({ body: completion({ usage }) });
  return test;
};
const ask = (test: TestGateway, model: string, more: object = {}) => test.post({ model, messages: hello, ...more });
const listed = (slug: string, more: object = {}) => ({
  slug,
  endpoints: [{ provider: 'up', model: slug, pricing: testPricing, ...more }],
});

describe('what is built in', () => {
  it('prices a model that is only passed on to its provider', async () => {
    const test = gatewayWith();
    const { status, json } = await ask(test, 'openai/gpt-4.1-nano');
    expect(status).toBe(200);
    // 1,000 at USD 0.10 and 100 at USD 0.40 per million.
    expect(json.usage?.cost).toBe(0.00014);
    expect(test.upstream.sent[0]).toMatchObject({
      url: 'https://api.openai.com/v1/chat/completions',
      body: { model: 'gpt-4.1-nano' },
    });
  });
  it('lets a model that is only passed on be held against a budget', async () => {
    const test = gatewayWith();
    const put = (limit: number) => test.call('PUT', '/workspaces/default/budgets/daily', { limit_usd: limit });
    expect((await put(0.001)).status).toBe(200);
    const fits = await ask(test, 'openai/gpt-4.1-nano', { max_tokens: 100 });
    const tooMuch = await ask(test, 'openai/gpt-4.1-nano', { max_tokens: 100_000 });
    const unknown = await ask(test, 'openai/gpt-77', { max_tokens: 1 });
    expect([fits.status, tooMuch.status, unknown.status]).toEqual([200, 402, 400]);
    expect(test.records.map(({ costNanoUsd }) => costNanoUsd)).toEqual([140_000, 0, 0]);
  });
  it('knows by which name a provider has a model', async () => {
    const test = gatewayWith();
    const { json } = await ask(test, 'meta-llama/llama-4-maverick');
    expect(json).toMatchObject({ model: 'meta-llama/llama-4-maverick', provider: 'DeepInfra' });
    expect(json.usage?.cost).toBeGreaterThan(0);
    expect(test.upstream.sent[0]?.body.model).toBe('meta-llama/Llama-4-Maverick-17B-128E-Instruct-FP8');
  });
  it("gives way to the host app's own models, and fills them up", async () => {
    const test = gatewayWith({
      models: [
        listed('openai/gpt-oss-120b'),
        { slug: 'openai/gpt-4.1-mini', endpoints: [{ provider: 'openai', model: 'gpt-4.1-mini' }] },
      ],
    });
    const atDeepInfra = await ask(test, 'openai/gpt-oss-120b', { provider: { only: ['deepinfra'] } });
    expect([atDeepInfra.status, (await ask(gatewayWith(), 'openai/gpt-oss-120b')).status]).toEqual([404, 200]);
    expect((await ask(test, 'openai/gpt-oss-120b')).json.usage?.cost).toBe(0.0028);
    // 1,000 at USD 0.40 and 100 at USD 1.60 per million.
    expect((await ask(test, 'openai/gpt-4.1-mini')).json.usage?.cost).toBe(0.00056);
  });
  it('can be left out: models that are not named, prices that are not given', async () => {
    const test = gatewayWith({ catalog: { builtInModels: false, builtInPrices: false } });
    expect((await ask(test, 'meta-llama/llama-4-maverick')).status).toBe(400);
    const { status, json } = await ask(test, 'openai/gpt-4.1-nano');
    expect([status, json.usage?.cost]).toEqual([200, undefined]);
  });
});

describe('a document', () => {
  it('names models beside the own ones, and is read again when it is old', async () => {
    let models = [listed('acme/a')];
    const test = gatewayWith({ models: [listed('acme/own')], catalog: { source: () => ({ models }) } });
    const statuses = async (...slugs: string[]) => {
      const answers = [];
      for (const slug of slugs) answers.push((await ask(test, slug)).status);
      return answers;
    };
    expect(await statuses('acme/own', 'acme/a', 'acme/b')).toEqual([200, 200, 400]);
    models = [listed('acme/b')];
    expect(await statuses('acme/a', 'acme/b')).toEqual([200, 400]);
    await test.clock.advance(300_000);
    // The one that finds it old is served from what was read before.
    expect(await statuses('acme/a', 'acme/b', 'acme/a')).toEqual([200, 200, 400]);
  });
  it('whose reading fails is no "unknown model": 503 with Retry-After, and own models are served', async () => {
    const source = () => Promise.reject(new Error('down'));
    const told: string[] = [];
    const logger = {
      info: () => undefined,
      warn: (_: object, text: string) => void told.push(text),
      error: () => undefined,
    };
    const test = gatewayWith({ models: [listed('acme/own')], catalog: { source }, logger });
    const failed = await ask(test, 'acme/a');
    expect(failed.status).toBe(503);
    expect(Number(failed.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(failed.json.error.message).toBe('The list of models could not be read. Try again.');
    expect((await ask(test, 'acme/own')).status).toBe(200);
    expect((await ask(test, 'acme/own:nitro')).status).toBe(200);
    expect(told.filter((text) => text.includes('catalogue'))).toEqual(['the catalogue document cannot be used']);
  });
  it('leaves out providers that are not known here, and nothing else', async () => {
    const nowhere = { provider: 'elsewhere', model: 'x' };
    const source = (): unknown => ({
      models: [
        { slug: 'acme/a', endpoints: [nowhere, { provider: 'up', model: 'a' }] },
        { slug: 'acme/gone', endpoints: [nowhere] },
      ],
    });
    const test = gatewayWith({ catalog: { source } });
    expect(await test.run(test.gateway.catalog.refresh())).toEqual({ models: 1 });
    expect((await ask(test, 'acme/a')).status).toBe(200);
    expect((await ask(test, 'acme/gone')).status).toBe(400);
  });
  it.each<[string, unknown, string]>([
    ['is no object', [], ': expected object'],
    ['has no models', {}, 'models: expected array'],
    ['has more than models', { models: [], prices: 'red-secret' }, 'prices: unknown key "prices"'],
    [
      'has a mistake in a price',
      { models: [listed('acme/a', { pricing: { prompt: 'red-secret', completion: 0.001 } })] },
      'models[0].endpoints[0].pricing.prompt: expected USD as a non-negative decimal, such as "0.0000025"',
    ],
    [
      'names a model twice',
      { models: [listed('acme/a'), listed('acme/a')] },
      'models[1].slug: expected a slug that no other model has',
    ],
  ])('that %s is refused as a whole, with the path and without a value', async (_, bad, issue) => {
    let document: unknown = { models: [listed('acme/a')] };
    const test = gatewayWith({ catalog: { source: () => document } });
    await ask(test, 'acme/a');
    document = bad;
    const error = await test.run(
      test.gateway.catalog.refresh().then(
        () => null,
        (thrown: unknown) => thrown,
      ),
    );
    expect(error).toBeInstanceOf(CatalogError);
    expect((error as CatalogError).issues.map(({ path, message }) => `${path}: ${message}`)).toEqual([issue]);
    expect(String(error)).not.toContain('red-secret');
    expect((await ask(test, 'acme/a')).status).toBe(200);
  });
  it('that changes under 200 requests fails none of them, and each is served by one state of it', async () => {
    let version = 0;
    // What a model is called and what it costs change together.
    const source = () => ({ models: [1, 2].map((one) => listed(`acme/${one}`, priceOf(++version))) });
    const test = gatewayWith({ catalog: { source, refreshMs: 1 } });
    test.upstream.always({ body: completion({ usage }), afterMs: 5 });
    const asked = [];
    for (let wave = 0; wave < 10; wave++) {
      for (let one = 0; one < 20; one++) asked.push(ask(test, `acme/${1 + (one % 2)}`));
      await test.clock.advance(2);
    }
    const answers = (await Promise.all(asked)).map(({ status, json }) => ({ status, cost: json.usage?.cost }));
    expect(version).toBeGreaterThan(10);
    expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
    const calls = test.upstream.sent.map(({ body }) => Number(String(body.model).slice(1)));
    expect(new Set(calls).size).toBeGreaterThan(2);
    // 1,000 tokens of a prompt at as many micro-USD as the model's name says.
    expect(answers.map(({ cost }) => Math.round((cost ?? 0) * 1_000)).sort()).toEqual(calls.sort());
    expect(answers.length).toBe(200);
  });
});

/** Of an endpoint whose name tells its price. */
function priceOf(version: number): object {
  return { model: `v${version}`, pricing: { prompt: `0.${String(version).padStart(6, '0')}`, completion: 0 } };
}
