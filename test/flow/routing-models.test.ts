import { describe, expect, it } from 'vitest';
import type { GatewayOptions } from '../../src/options.ts';
import { hello, testGateway } from '../support/gateway.ts';
import { completion, errorBody, textStream } from '../support/upstream.ts';

const enabled = { 'x-service-metadata': 'enabled' };

/** A gateway whose operator has a key for one company, with all the models that are built in. */
function atOpenAi(more: Partial<GatewayOptions> = {}) {
  const tested = testGateway({ providers: { openai: { apiKey: 'sk-operator-0123456789' } }, models: [], ...more });
  tested.upstream.always({ body: completion() });
  return tested;
}

/** The model that answers, and what it is called upstream. */
async function answered(model: string, fields: object = {}, tested = atOpenAi()) {
  const { status, json } = await tested.post({ model, messages: hello, ...fields });
  return { status, model: json.model, upstream: tested.upstream.sent.at(-1)?.body, error: json.error };
}

describe('a slug', () => {
  it.each([
    ['openai/gpt-6.1-sol', 'openai/gpt-6.1-sol', 'gpt-6.1-sol'],
    ['openai/gpt-6.1-sol:nitro', 'openai/gpt-6.1-sol', 'gpt-6.1-sol'],
    ['openai/gpt-6.1-sol:floor:nitro', 'openai/gpt-6.1-sol', 'gpt-6.1-sol'],
    ['openai/gpt-6.1-sol:exacto', 'openai/gpt-6.1-sol', 'gpt-6.1-sol'],
    // Others have it with a longer context, but nobody here can ask them.
    ['openai/gpt-6.1-sol:extended', 'openai/gpt-6.1-sol', 'gpt-6.1-sol'],
    ['~openai/gpt-latest', 'openai/gpt-5.5', 'gpt-5.5'],
    ['~openai/gpt-sol-latest', 'openai/gpt-6.1-sol', 'gpt-6.1-sol'],
    ['~openai/gpt-sol-latest:nitro', 'openai/gpt-6.1-sol', 'gpt-6.1-sol'],
    ['openai/never-heard-of', 'openai/never-heard-of', 'never-heard-of'],
    ['openai/never-heard-of:nitro', 'openai/never-heard-of:nitro', 'never-heard-of:nitro'],
    ['openai/ft:gpt-4o:acme::free', 'openai/ft:gpt-4o:acme::free', 'ft:gpt-4o:acme::free'],
  ])('%s is %s, upstream %s', async (slug, model, upstreamModel) => {
    const { status, upstream, ...rest } = await answered(slug);
    expect([status, rest.model, upstream?.model]).toEqual([200, model, upstreamModel]);
    expect(upstream).not.toHaveProperty('provider');
  });
  it.each<[string, number]>([
    ['openai/gpt-6.1-sol:free', 404],
    ['~openai/no-such-family-latest', 400],
    ['~anthropic/claude-opus-latest', 404],
    ['anthropic/claude-opus-4.8', 404],
    // Of what is built in nothing is free.
    ['service/free', 404],
    ['openai/gpt-6.1-sol:online', 400],
  ])('%s is %i', async (slug, status) => {
    expect((await answered(slug)).status).toBe(status);
  });
  it('of the automatic router is one that can be reached', async () => {
    const { model, upstream } = await answered('service/auto');
    expect([model?.startsWith('openai/'), `openai/${upstream?.model}`]).toEqual([true, model]);
    const best = await answered('service/auto', { plugins: [{ id: 'auto-router', cost_quality_tradeoff: 0 }] });
    expect(best.model).not.toBe(model);
    const allowed = { id: 'auto-router', allowed_models: ['openai/gpt-4*'] };
    expect((await answered('service/auto', { plugins: [allowed] })).model).toMatch(/^openai\/gpt-4/);
  });
  it('names the model that answered in a stream, too', async () => {
    const tested = atOpenAi();
    tested.upstream.always({ body: textStream('Hi') });
    for (const model of ['~openai/gpt-latest', 'service/auto', 'openai/gpt-5.5:nitro']) {
      const { chunks } = await tested.post({ model, messages: hello, stream: true }, enabled);
      const names = new Set(chunks.map((chunk) => chunk.model));
      expect([...names]).toEqual([`openai/${tested.upstream.sent.at(-1)?.body.model}`]);
      expect(chunks.at(-1)?.service_metadata).toMatchObject({ requested: model });
    }
  });
});

describe('the routers and the sandbox', () => {
  const usd = (price: string) => ({ pricing: { prompt: price, completion: price } });
  const beside: Partial<GatewayOptions> = {
    providers: { sandbox: {}, up: { baseUrl: 'https://up.test/v1', apiKey: 'sk-operator-0123456789' } },
    models: [
      { slug: 'acme/paid', endpoints: [{ provider: 'up', model: 'paid', ...usd('0.009') }] },
      { slug: 'acme/gift', endpoints: [{ provider: 'up', model: 'gift', ...usd('0') }] },
    ],
    catalog: { builtInModels: false },
  };
  const sandboxAlone: Partial<GatewayOptions> = { ...beside, providers: { sandbox: {} }, models: [] };
  const tradeoffs = Array.from({ length: 11 }, (_, n) => [{ id: 'auto-router', cost_quality_tradeoff: n }]);

  it('choose real models where there are some, whatever they cost, and explain the same', async () => {
    const tested = atOpenAi(beside);
    for (const model of ['service/auto', 'service/free']) {
      for (const plugins of tradeoffs) {
        const { candidates } = await tested.gateway.explain({ model, messages: hello, plugins });
        expect(candidates.map(({ provider }) => provider)).toEqual(candidates.map(() => 'up'));
        expect((await answered(model, { plugins }, tested)).model).toBe(candidates[0]?.model);
      }
    }
  });
  it('do without them rather than choose the sandbox', async () => {
    const tested = atOpenAi({ ...beside, models: beside.models?.slice(0, 1) });
    for (const [model, provider] of [
      ['service/free', {}],
      ['service/auto', { ignore: ['up'] }],
    ] as const) {
      const { status, error } = await answered(model, { provider }, tested);
      expect([status, error.message]).toEqual([404, expect.stringContaining('sandbox')]);
      const { error: explained } = await tested.gateway.explain({ model, messages: hello, provider });
      expect(explained).toMatchObject({ code: 404, message: error.message });
    }
    expect(tested.upstream.sent).toEqual([]);
  });
  it('choose a sandbox that is set up alone, but none of its models that fail', async () => {
    const tools = [{ type: 'function', function: { name: 'f' } }];
    for (const fields of [{}, { tools }, { response_format: { type: 'json_object' } }, { max_tokens: 4096 }]) {
      for (const model of ['service/auto', 'service/free']) {
        for (const plugins of tradeoffs) {
          const { status, model: chosen } = await answered(model, { plugins, ...fields }, atOpenAi(sandboxAlone));
          const isPossible = model === 'service/auto' || !('tools' in fields || 'response_format' in fields);
          expect([model, fields, status]).toEqual([model, fields, isPossible ? 200 : 404]);
          if (isPossible) expect(chosen).toMatch(/^sandbox\/(free|echo|lorem|expensive|tool-call|json|assistant)$/);
        }
      }
    }
  });
  it('choose it beside others where the request names it', async () => {
    const tested = atOpenAi(beside);
    const named = { id: 'auto-router', allowed_models: ['sandbox/echo'] };
    expect((await answered('service/auto', { plugins: [named] }, tested)).model).toBe('sandbox/echo');
    expect((await answered('service/free', { provider: { only: ['sandbox'] } }, tested)).model).toBe('sandbox/free');
    expect((await answered('sandbox/echo', {}, tested)).model).toBe('sandbox/echo');
  });
});

describe(':thinking', () => {
  const options: Partial<GatewayOptions> = {
    models: [
      {
        slug: 'acme/thinker',
        endpoints: [
          { provider: 'up', model: 'thinks', supportedParameters: ['reasoning'] },
          { provider: 'alt', model: 'does-not', supportedParameters: ['tools'] },
        ],
      },
    ],
    providers: { up: { baseUrl: 'https://up.test/v1' }, alt: { baseUrl: 'https://alt.test/v1' } },
  };
  it.each<[string, object, unknown]>([
    ['acme/thinker:thinking', {}, 'medium'],
    ['acme/thinker:thinking', { reasoning_effort: 'high' }, 'high'],
    ['acme/thinker:thinking', { reasoning: { effort: 'low' } }, 'low'],
    ['acme/thinker', {}, undefined],
  ])('%s with %j asks for an effort of %s', async (model, fields, effort) => {
    const { status, upstream } = await answered(model, fields, atOpenAi(options));
    expect([status, upstream?.reasoning_effort]).toEqual([200, effort]);
    if (model.endsWith(':thinking')) expect(upstream?.model).toBe('thinks');
  });
  it('and then without it asks twice', async () => {
    const tested = atOpenAi({ ...options, retry: { attemptsPerEndpoint: 1 } });
    tested.upstream.answer({ status: 400, body: errorBody('I cannot reason so much') });
    const body = { models: ['acme/thinker:thinking', 'acme/thinker'], messages: hello, provider: { only: ['up'] } };
    expect((await tested.post(body)).status).toBe(200);
    expect(tested.upstream.sent.map(({ body: { reasoning_effort } }) => reasoning_effort)).toEqual([
      'medium',
      undefined,
    ]);
  });
});

describe('how endpoints did', () => {
  const names = ['up', 'alt', 'third'];
  const usd = (price: string) => ({ pricing: { prompt: price, completion: price } });
  const options: Partial<GatewayOptions> = {
    providers: Object.fromEntries(names.map((name) => [name, { baseUrl: `https://${name}.test/v1` }])),
    models: [
      {
        slug: 'acme/any',
        endpoints: names.map((provider, at) => ({ provider, model: provider, ...usd(`0.00000${at + 1}`) })),
      },
    ],
    retry: { attemptsPerEndpoint: 1 },
    health: { failuresToCooldown: 1000 },
  };
  const ask = { model: 'acme/any', messages: hello };
  const failing = { status: 500, body: errorBody('No') };

  it('puts one that failed behind the others for 30 seconds', async () => {
    const tested = atOpenAi(options);
    const order = async () => (await tested.gateway.explain(ask)).candidates.map(({ provider }) => provider);
    expect(await order()).toEqual(names);
    tested.upstream.answer(failing, failing, failing, failing, failing);
    for (let n = 0; n < 5; n++) await tested.post({ ...ask, provider: { order: ['up'], allow_fallbacks: false } });
    expect(await order()).toEqual(['alt', 'third', 'up']);
    await tested.clock.advance(24_000);
    expect(await order()).toEqual(['alt', 'third', 'up']);
    await tested.clock.advance(6_000);
    expect(await order()).toEqual(names);
  });
  it('moves requests to what answers first, and is forgotten after 5 minutes', async () => {
    const tested = atOpenAi(options);
    for (const [at, provider] of names.entries()) {
      for (let n = 0; n < 5; n++) {
        tested.upstream.answer({ body: textStream('Hi'), afterMs: [4000, 500, 2000][at] as number });
        const streamed = await tested.post({ ...ask, stream: true, provider: { only: [provider] } });
        expect(streamed.status).toBe(200);
      }
    }
    const order = async (provider: object) =>
      (await tested.gateway.explain({ ...ask, provider })).candidates.map((one) => one.provider);
    expect(await order({ sort: 'latency' })).toEqual(['alt', 'third', 'up']);
    expect(await order({ preferred_max_latency: 1 })).toEqual(['alt', 'up', 'third']);
    expect(await order({ preferred_max_latency: { p99: 3 } })).toEqual(['alt', 'third', 'up']);
    await tested.clock.advance(300_000);
    // As if nothing had been: by price.
    expect(await order({ sort: 'latency' })).toEqual(names);
    expect(await order({ preferred_max_latency: 1 })).toEqual(names);
  });
});
