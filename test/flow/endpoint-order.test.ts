import { describe, expect, it } from 'vitest';
import { createGateway } from '../../src/gateway.ts';
import type { GatewayOptions } from '../../src/options.ts';
import { hello, testGateway, testKey } from '../support/gateway.ts';
import { seeded } from '../support/routing.ts';
import { completion, errorBody } from '../support/upstream.ts';

type ModelOption = NonNullable<GatewayOptions['models']>[number];

const cheap = { prompt: '0.000001', completion: '0.000001' };
const dear = { prompt: '0.00001', completion: '0.00001' };
const listed: ModelOption['endpoints'] = [
  { provider: 'up', model: 'first', pricing: dear },
  { provider: 'alt', model: 'backup', pricing: cheap },
];

function ordered(model: Partial<ModelOption>, seed = 1) {
  const tested = testGateway({
    models: [{ slug: 'acme/pair', endpoints: listed, ...model }],
    random: seeded(seed),
    retry: { attemptsPerEndpoint: 1 },
  });
  tested.upstream.always({ body: completion() });
  const served = async (fields: object = {}) =>
    (await tested.post({ model: 'acme/pair', messages: hello, ...fields })).json.provider;
  const servers = async (fields: object = {}) => {
    const counts: Record<string, number> = {};
    for (let n = 0; n < 40; n++) {
      const name = String(await served(fields));
      counts[name] = (counts[name] ?? 0) + 1;
    }
    return counts;
  };
  return { ...tested, served, servers };
}

describe("the endpoints of the host app's models", () => {
  it('are tried as they are listed, whatever they cost', async () => {
    const { servers } = ordered({});
    expect(await servers()).toEqual({ Up: 40 });
    expect(await ordered({ order: 'listed' }).servers()).toEqual({ Up: 40 });
  });
  it('fall back in that order, and every conversation begins with the first again', async () => {
    const { served, upstream, clock } = ordered({});
    upstream.answer({ status: 500, body: errorBody('No') });
    expect(await served({ session_id: 's' })).toBe('Alt');
    // The outage is over.
    await clock.advance(31_000);
    expect(await served({ session_id: 's' })).toBe('Up');
  });
  it('are chosen by price where the model says so', async () => {
    const { Alt = 0, Up = 0 } = await ordered({ order: 'price' }).servers();
    expect([Alt > 35, Alt + Up]).toEqual([true, 40]);
  });
  it('are ordered by what the request says first', async () => {
    expect(await ordered({}).servers({ provider: { sort: 'price' } })).toEqual({ Alt: 40 });
    expect(await ordered({}).servers({ provider: { order: ['alt'] } })).toEqual({ Alt: 40 });
  });
  it('share the requests by weight; those without one come after them', async () => {
    const endpoints: ModelOption['endpoints'] = [
      { provider: 'up', model: 'backup', pricing: cheap },
      { provider: 'alt', model: 'one', variant: 'one', pricing: dear, weight: 1 },
      { provider: 'alt', model: 'three', variant: 'three', pricing: dear, weight: 3 },
    ];
    const tested = ordered({ endpoints });
    expect(await tested.servers()).toEqual({ Alt: 40 });
    const three = tested.upstream.sent.filter(({ body }) => body.model === 'three').length;
    expect([three > 22, three < 38]).toEqual([true, true]);
    tested.upstream.answer({ status: 500, body: errorBody('No') }, { status: 500, body: errorBody('No') });
    expect(await tested.served()).toBe('Up');
  });
  it('take no weight beside the order by price: it would have no effect', () => {
    const make = () =>
      createGateway({
        providers: { up: { baseUrl: 'https://up.test/v1' } },
        models: [{ slug: 'acme/a', order: 'price', endpoints: [{ provider: 'up', model: 'a', weight: 2 }] }],
        apiKeys: [{ key: testKey }],
      });
    expect(make).toThrow("models[0].endpoints[0].weight: expected no weight, or not the model's order: 'price'");
  });
});
