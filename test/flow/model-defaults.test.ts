import { describe, expect, it } from 'vitest';
import type { OptionsError } from '../../src/options.ts';
import { hello, testGateway, testPricing } from '../support/gateway.ts';
import { completion, errorBody, textStream } from '../support/upstream.ts';

const enabled = { 'x-service-metadata': 'enabled' };
const endpoint = { provider: 'up', model: 'm1', pricing: testPricing };
const withDefaults = (defaults: object, rest: object = {}) => ({
  catalog: { builtInModels: false },
  models: [
    { slug: 'acme/one', defaults, endpoints: [endpoint], ...rest },
    { slug: 'acme/two', defaults: { seed: 7 }, endpoints: [{ ...endpoint, provider: 'alt', model: 'm2' }] },
  ],
});
const ask = { model: 'acme/one', messages: hello };

describe('defaults of a model', () => {
  it('stand where the request sets nothing, null included; metadata, record and explanation name them', async () => {
    const { call, post, upstream, records } = testGateway(
      withDefaults({ temperature: 0.2, max_tokens: 500, stop: ['x'] }),
    );
    upstream.always({ body: completion() });
    const { json } = await post({ ...ask, temperature: null, stop: ['y'] }, enabled);
    expect(upstream.sent[0]?.body).toMatchObject({ temperature: 0.2, max_tokens: 500, stop: ['y'] });
    expect(json.service_metadata?.params).toEqual({ defaulted: ['max_tokens', 'temperature'] });
    expect(records[0]?.generations[0]?.defaulted).toEqual(['max_tokens', 'temperature']);
    const explained = await call('POST', '/chat/completions/explain', ask);
    expect(explained.json.data.candidates[0]).toMatchObject({ defaulted: ['max_tokens', 'temperature', 'stop'] });
    const { json: listed } = await call('GET', '/models');
    expect(listed.data[0].default_parameters).toEqual({ temperature: 0.2, max_tokens: 500, stop: ['x'] });
    const set = await post({ ...ask, temperature: 1, max_tokens: 9, stop: 'z' }, enabled);
    expect([upstream.sent[1]?.body, set.json.service_metadata?.params]).toMatchObject([
      { temperature: 1, max_tokens: 9, stop: 'z' },
      undefined,
    ]);
  });
  it.each([
    [{ max_tokens: 500 }, { max_completion_tokens: 20 }, { max_tokens: 20 }],
    [{ max_completion_tokens: 500 }, { max_tokens: 20 }, { max_tokens: 20 }],
    [{ reasoning_effort: 'high' }, { reasoning: { effort: 'low' } }, { reasoning_effort: 'low' }],
  ])('%o do not stand beside another field that says the same: %o', async (defaults, given, sent) => {
    const { post, upstream } = testGateway(withDefaults(defaults));
    upstream.always({ body: completion() });
    const { status } = await post({ ...ask, ...given });
    expect([status, upstream.sent[0]?.body]).toMatchObject([200, sent]);
  });
  it('are those of the model that serves: a fallback has its own', async () => {
    const { post, upstream } = testGateway(withDefaults({ temperature: 0.2 }, { fallbacks: ['acme/two'] }));
    upstream.always({ body: completion() });
    upstream.answer({ status: 404, body: errorBody('gone') });
    await post(ask);
    const [first, second] = upstream.sent.map(({ body }) => body as object);
    expect(first).toMatchObject({ temperature: 0.2 });
    expect(first).not.toHaveProperty('seed');
    expect(second).toMatchObject({ seed: 7 });
    expect(second).not.toHaveProperty('temperature');
  });
  it('count in the hold', async () => {
    const holdOf = async (defaults: object) => {
      const { call } = testGateway(withDefaults(defaults));
      await call('PUT', '/workspaces/default/budgets/daily', { limit_usd: 1000 });
      return (await call('POST', '/chat/completions/explain', ask)).json.data;
    };
    const [none, small] = [await holdOf({}), await holdOf({ max_tokens: 10 })];
    expect(small.candidates[0].max_completion_tokens).toBe(10);
    expect(small.hold_usd).toBeLessThan(none.hold_usd);
  });
  it('let a request fit that would not fit without them, as a stream too', async () => {
    const { call, post, upstream } = testGateway(withDefaults({ max_tokens: 10 }));
    await call('PUT', '/workspaces/default/budgets/daily', { limit_usd: 0.01 });
    upstream.always({ body: textStream('Hi') });
    const { status } = await post({ ...ask, stream: true });
    expect([status, upstream.sent[0]?.body]).toMatchObject([200, { max_tokens: 10 }]);
  });
  it('are sent by hedged attempts, and beside plugins', async () => {
    const plugin = {
      id: 'tell',
      isDefault: true,
      prepare: (request: object) => ({ ...request, top_k: 3 }),
    };
    const { post, upstream } = testGateway({
      ...withDefaults({ temperature: 0.2 }),
      plugins: [plugin as never],
      hedge: { enabled: true },
    });
    upstream.always({ body: textStream('Hi') });
    await post({ ...ask, stream: true });
    expect(upstream.sent[0]?.body).toMatchObject({ temperature: 0.2, top_k: 3 });
  });
  it.each([
    ['temperature', { temperature: 3 }],
    ['max_completion_tokens', { max_tokens: 1, max_completion_tokens: 2 }],
    ['', { stream: true }],
    ['', { model: 'x' }],
  ])('are checked at the start: %s', (path, defaults) => {
    try {
      testGateway(withDefaults(defaults));
      expect.unreachable();
    } catch (error) {
      expect((error as OptionsError).issues?.[0]?.path).toMatch(new RegExp(`^models\\[0\\]\\.defaults\\.?${path}`));
    }
  });
});
