import { describe, expect, it } from 'vitest';
import { hello, testGateway } from '../support/gateway.ts';
import { completion, textStream } from '../support/upstream.ts';

const priced = (slug: string, price: string, codingScore: number) => ({
  slug: `acme/${slug}`,
  codingScore,
  endpoints: [{ provider: 'up', model: slug, pricing: { prompt: price, completion: price } }],
});
const gatewayOf = () =>
  testGateway({
    catalog: { builtInModels: false },
    aliases: { coder: 'service/pareto-code', quick: 'service/pareto-code:nitro' },
    models: [priced('low', '0.000001', 0.1), priced('high', '0.00001', 0.9), priced('higher', '0.00002', 0.95)],
    providers: { up: { baseUrl: 'https://up.test/v1', apiKey: 'sk-upstream-0123456789' } },
  });
const metadata = { 'x-service-metadata': 'enabled' };

describe('the plugin pareto-router', () => {
  it.each([false, true])('chooses a model for service/pareto-code and says so, stream: %s', async (stream) => {
    const { post, upstream } = gatewayOf();
    upstream.always({ body: stream ? textStream('Hi') : completion() });
    const plugins = [{ id: 'pareto-router', min_coding_score: 0.7 }];
    const { status, json, chunks } = await post(
      { model: 'service/pareto-code', messages: hello, plugins, stream },
      metadata,
    );
    expect([status, upstream.sent[0]?.body.model]).toEqual([200, 'high']);
    expect(upstream.sent[0]?.body).not.toHaveProperty('plugins');
    expect((stream ? chunks.at(-1) : json)?.service_metadata).toMatchObject({
      strategy: 'pareto',
      params: { tier: 'high', quality_floor: 0.66 },
      pipeline: [{ type: 'plugin', name: 'pareto-router', data: { chosen: ['acme/high', 'acme/higher'] } }],
    });
  });
  it('explains what a request does, under each of its names', async () => {
    const { post, gateway, upstream } = gatewayOf();
    upstream.always({ body: completion() });
    for (const model of ['service/pareto-code', 'service/pareto-code:nitro', 'coder', 'coder:nitro', 'quick'])
      for (const min_coding_score of [0, 0.5, 1]) {
        const body = { model, messages: hello, plugins: [{ id: 'pareto-router' as const, min_coding_score }] };
        const { candidates } = await gateway.explain(body);
        expect((await post(body)).json.model).toBe(candidates[0]?.model);
      }
  });
  it('moves on to a fallback of the tier', async () => {
    const { post, upstream } = gatewayOf();
    upstream.answer({ status: 404, body: '{}' }, { body: completion() });
    const { json } = await post({ model: 'service/pareto-code', messages: hello });
    expect(json.model).toBe('acme/higher');
  });
  it('refuses with 404 where no model is good enough', async () => {
    const { post, upstream } = testGateway({
      catalog: { builtInModels: false },
      models: [priced('low', '0.000001', 0.1)],
      providers: { up: { baseUrl: 'https://up.test/v1', apiKey: 'sk-upstream-0123456789' } },
    });
    const { status } = await post({ model: 'service/pareto-code', messages: hello });
    expect([status, upstream.sent]).toEqual([404, []]);
  });
});
