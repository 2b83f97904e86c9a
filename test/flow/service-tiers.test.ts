import { describe, expect, it } from 'vitest';
import { hello, testGateway } from '../support/gateway.ts';
import { completion } from '../support/upstream.ts';

const price = (completionUsd: string) => ({ prompt: '0.000001', completion: completionUsd });
const options = {
  models: [
    {
      slug: 'acme/tiers',
      order: 'price' as const,
      endpoints: [
        { provider: 'up', model: 'm', pricing: price('0.00001') },
        { provider: 'up', variant: 'flex', model: 'm', pricing: price('0.000005') },
        { provider: 'up', variant: 'priority', model: 'm', pricing: price('0.00002') },
      ],
    },
  ],
};

/** What was asked of the provider, and what the answer of two tokens cost beside its prompt of ten. */
async function ask(fields: object, limitUsd?: number) {
  const { post, call, upstream } = testGateway(options);
  if (limitUsd) await call('PUT', '/workspaces/default/budgets/daily', { limit_usd: limitUsd });
  upstream.always({ body: completion() });
  const { status, json } = await post({ model: 'acme/tiers', messages: hello, max_tokens: 50, ...fields });
  return { status, tier: upstream.sent[0]?.body.service_tier, cost: json.usage?.cost, json };
}

describe('an endpoint of a service tier', () => {
  it.each<[string, object, string | undefined, number]>([
    ['is not used unasked', {}, undefined, 0.00003],
    ['is used by its tier', { service_tier: 'flex' }, 'flex', 0.00002],
    ['is used by its full slug', { provider: { only: ['up/priority'] } }, 'priority', 0.00005],
    ['is used under :floor, the cheapest first', { model: 'acme/tiers:floor' }, 'flex', 0.00002],
  ])('%s, and is asked in its tier, at its price', async (_, fields, tier, cost) => {
    expect(await ask(fields)).toMatchObject({ status: 200, tier, cost });
  });
  it('can be held against a budget, where the tier of another endpoint cannot', async () => {
    const only = (slug: string) => ({ provider: { only: [slug] }, service_tier: 'priority' });
    expect(await ask(only('up/priority'), 1)).toMatchObject({ status: 200, tier: 'priority', cost: 0.00005 });
    const { json } = await ask({ service_tier: 'scale' }, 1);
    expect(json.error.metadata?.unpriced).toEqual(['acme/tiers at up in service tier scale']);
  });
});
