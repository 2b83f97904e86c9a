import { describe, expect, it } from 'vitest';
import type { GatewayOptions } from '../../src/options.ts';
import { hello, testGateway } from '../support/gateway.ts';
import { completion } from '../support/upstream.ts';

const models = ['0.0000001', '0.000001', '0.00001', '0.0001'].map((price, at) => ({
  slug: `acme/m${at}`,
  endpoints: [{ provider: 'up', model: `m${at}`, pricing: { prompt: price, completion: price } }],
}));
function gatewayOf(more: Partial<GatewayOptions> = {}) {
  const tested = testGateway({
    catalog: { builtInModels: false },
    aliases: { best: 'service/auto' },
    models,
    providers: { up: { baseUrl: 'https://up.test/v1', apiKey: 'sk-upstream-0123456789' } },
    ...more,
  });
  tested.upstream.always({ body: completion() });
  return tested;
}
const metadata = { 'x-service-metadata': 'enabled' };

describe('the plugin auto-router', () => {
  it('says what it chose, what it left out, and why', async () => {
    const { post } = gatewayOf();
    const plugins = [{ id: 'auto-router', allowed_models: ['acme/m*'], cost_quality_tradeoff: 10 }];
    const { json } = await post({ model: 'service/auto', messages: hello, plugins }, metadata);
    expect(json.service_metadata?.pipeline).toMatchObject([
      {
        type: 'plugin',
        name: 'auto-router',
        data: {
          chosen: ['acme/m0', 'acme/m1', 'acme/m2'],
          excluded: [{ model: 'acme/m3', reason: 'score' }],
          excluded_count: 1,
        },
      },
    ]);
  });
  it('is shown by explain as in the response', async () => {
    const { post, gateway } = gatewayOf();
    const request = { model: 'service/auto', messages: hello };
    const { pipeline } = await gateway.explain(request);
    const { json } = await post(request, metadata);
    expect(pipeline).toEqual(json.service_metadata?.pipeline);
    expect(pipeline).toMatchObject([{ name: 'auto-router' }]);
  });
  it('has defaults of the host app, which a request may replace one by one', async () => {
    const routers = { allowedModels: ['acme/m0', 'acme/m1', 'acme/m2'], costQualityTradeoff: 0, minCodingScore: 0 };
    const { post } = gatewayOf({ routers });
    const chosen = async (plugin?: object) => {
      const plugins = plugin === undefined ? undefined : [{ id: 'auto-router', ...plugin }];
      const { json } = await post({ model: 'service/auto', messages: hello, plugins }, metadata);
      return (json as { model: string }).model;
    };
    expect(await chosen()).toBe('acme/m2');
    expect(await chosen({ cost_quality_tradeoff: 10 })).toBe('acme/m0');
    expect(await chosen({ allowed_models: ['acme/m3', 'acme/m0'] })).toBe('acme/m3');
    expect(await chosen({ allowed_models: ['acme/m3', 'acme/m0'], enabled: false })).toBe('acme/m2');
    const { json } = await post({ model: 'service/pareto-code', messages: hello }, metadata);
    expect(json.service_metadata?.params).toMatchObject({ tier: 'low' });
    expect(() => gatewayOf({ routers: { costQualityTradeoff: 11 } })).toThrow('routers.costQualityTradeoff');
  });
  it('is listed as dropped where the request asks for another model', async () => {
    const { post } = gatewayOf();
    const plugins = [{ id: 'auto-router' }, { id: 'pareto-router', enabled: false }];
    const { json } = await post({ model: 'acme/m0', messages: hello, plugins, user: 'u' }, metadata);
    expect(json.service_metadata?.dropped).toEqual(['plugins[].auto-router']);
    const asked = await post({ model: 'service/auto', messages: hello, plugins }, metadata);
    expect(asked.json.service_metadata).not.toHaveProperty('dropped');
  });
  it("goes by the host app's own scorer, which only requests for it ask, and explains the same", async () => {
    let asked = 0;
    const difficulty = async () => {
      asked++;
      return 1;
    };
    const { post, gateway } = gatewayOf({ difficulty });
    const easy = await gatewayOf().post({ model: 'service/auto', messages: hello });
    for (const model of ['service/auto', 'service/auto:floor', 'best']) {
      const { candidates } = await gateway.explain({ model, messages: hello });
      const { json } = await post({ model, messages: hello }, metadata);
      expect(json.model).toBe(candidates[0]?.model);
      expect(json.model).not.toBe(easy.json.model);
      expect(json.service_metadata?.pipeline?.[0]?.data).toMatchObject({ difficulty: 1 });
    }
    expect(asked).toBe(6);
    await post({ model: 'acme/m0', messages: hello });
    expect(asked).toBe(6);
  });
  it.each([-1, 2, Number.NaN, '1'])('fails with 500 where the scorer returns %j', async (wrong) => {
    const { post } = gatewayOf({ difficulty: () => wrong as number });
    expect((await post({ model: 'service/auto', messages: hello })).status).toBe(500);
  });
  it('keeps the model of a session while it is a candidate, and an explanation moves no session', async () => {
    const { post, gateway } = gatewayOf();
    const ask = (cost_quality_tradeoff: number, session_id: string, more: object = {}) => ({
      model: 'service/auto',
      messages: hello,
      session_id,
      plugins: [{ id: 'auto-router' as const, cost_quality_tradeoff, ...more }],
    });
    await gateway.explain(ask(10, 'a'));
    expect((await post(ask(0, 'a'))).json.model).toBe('acme/m3');
    expect((await gateway.explain(ask(10, 'a'))).candidates[0]?.model).toBe('acme/m3');
    expect((await post(ask(10, 'a'))).json.model).toBe('acme/m3');
    expect((await post(ask(10, 'b'))).json.model).toBe('acme/m0');
    const narrowed = ask(10, 'a', { allowed_models: ['acme/m1'] });
    expect((await post(narrowed)).json.model).toBe('acme/m1');
    expect((await post(ask(10, 'a'))).json.model).toBe('acme/m1');
  });
});
