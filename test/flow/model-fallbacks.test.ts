import { describe, expect, it } from 'vitest';
import type { ServiceMetadata } from '../../src/schema/chat/envelope.ts';
import { hello, testGateway, testKey, testPricing } from '../support/gateway.ts';
import { completion, errorBody } from '../support/upstream.ts';

const enabled = { 'x-service-metadata': 'enabled' };
const options = {
  catalog: { builtInModels: false },
  models: [
    {
      slug: 'acme/first',
      fallbacks: ['acme/second', 'acme/third'],
      endpoints: [{ provider: 'up', model: 'm1', pricing: testPricing }],
    },
    {
      slug: 'acme/second',
      fallbacks: ['acme/fourth'],
      endpoints: [{ provider: 'up', model: 'm2', pricing: testPricing }],
    },
    { slug: 'acme/third', endpoints: [{ provider: 'alt', model: 'm3', pricing: testPricing }] },
    { slug: 'acme/fourth', endpoints: [{ provider: 'alt', model: 'm4', pricing: testPricing }] },
  ],
};
const gone = { status: 404, body: errorBody('gone') };

describe('fallbacks of a model', () => {
  it('are called in order where the model fails, and shown in the metadata', async () => {
    const { post, upstream, records } = testGateway(options);
    upstream.always({ body: completion() });
    upstream.answer(gone, gone);
    const { json } = await post({ model: 'acme/first', messages: hello }, enabled);
    expect(json.model).toBe('acme/third');
    const { strategy, params, endpoints } = json.service_metadata as ServiceMetadata;
    expect([strategy, params]).toEqual(['fallback', { fallbacks: ['acme/second', 'acme/third'] }]);
    // The fallbacks of a fallback are not followed.
    expect(endpoints.available.map(({ model }: { model: string }) => model)).toEqual([
      'acme/first',
      'acme/second',
      'acme/third',
    ]);
    expect(records[0]?.requested).toBe('acme/first');
  });
  it('are in the explanation', async () => {
    const { call } = testGateway(options);
    const { json } = await call('POST', '/chat/completions/explain', { model: 'acme/first', messages: hello });
    expect(json.data.candidates.map(({ model }: { model: string }) => model)).toEqual([
      'acme/first',
      'acme/second',
      'acme/third',
    ]);
  });
  it.each([
    ['names models itself', { models: ['acme/fourth'] }, ['m1', 'm4']],
    ['allows no fallbacks', { provider: { allow_fallbacks: false } }, ['m1']],
  ])('are not used where the request %s', async (_, rest, called) => {
    const { post, upstream } = testGateway(options);
    upstream.always(gone);
    await post({ model: 'acme/first', messages: hello, ...rest });
    const models = upstream.sent.map(({ body }) => (body as { model: string }).model);
    expect([...new Set(models)]).toEqual(called);
  });
  it('follow the preferences of the request, and the models of the key', async () => {
    const limited = 'sk-test-limited';
    const { call, post, upstream } = testGateway({
      ...options,
      apiKeys: [{ key: testKey }, { key: limited, models: ['acme/first', 'acme/third'] }],
    });
    upstream.always(gone);
    const headers = { authorization: `Bearer ${limited}` };
    const ask = { model: 'acme/first', messages: hello };
    const { json } = await call('POST', '/chat/completions/explain', ask, headers);
    expect(json.data.excluded).toEqual([{ model: 'acme/second', provider: 'up', filter: 'allowed_models' }]);
    await post(ask, headers);
    expect(upstream.sent.some(({ body }) => (body as { model: string }).model === 'm2')).toBe(false);
    const only = await call('POST', '/chat/completions/explain', { ...ask, provider: { only: ['alt'] } }, headers);
    expect(only.json.data.candidates.map(({ model }: { model: string }) => model)).toEqual(['acme/third']);
  });
  it('that do not exist are left out, and the explanation says so', async () => {
    const [first] = options.models;
    const { call } = testGateway({
      ...options,
      models: [{ ...(first as (typeof options.models)[0]), fallbacks: ['acme/gone'] }],
    });
    const ask = { model: 'acme/first', messages: hello };
    const { json } = await call('POST', '/chat/completions/explain', ask, { authorization: `Bearer ${testKey}` });
    expect(json.data.excluded).toEqual([{ model: 'acme/gone', provider: '*', filter: 'unknown_model' }]);
    expect(json.data.candidates).toHaveLength(1);
  });
  it('count in the hold: the dearest of all is held', async () => {
    const dear = { prompt: '0.001', completion: '0.001' };
    const models = [
      { ...(options.models[0] as (typeof options.models)[0]), fallbacks: ['acme/dear'] },
      { slug: 'acme/dear', endpoints: [{ provider: 'alt', model: 'm5', pricing: dear }] },
    ];
    const { call } = testGateway({ ...options, models });
    await call('PUT', '/workspaces/default/budgets/daily', { limit_usd: 1000 });
    const { json } = await call('POST', '/chat/completions/explain', {
      model: 'acme/first',
      max_tokens: 100,
      messages: hello,
    });
    expect(json.data.hold_usd).toBe(
      Math.max(...json.data.candidates.map((one: { ceiling_usd: number }) => one.ceiling_usd)),
    );
    expect(json.data.hold_usd).toBeGreaterThan(0.1);
  });
});
