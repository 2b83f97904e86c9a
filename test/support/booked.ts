import { expect } from 'vitest';
import type { GatewayOptions } from '../../src/options.ts';
import { type TestGateway, testGateway } from './gateway.ts';

/** USD per token. A prompt token costs 1,000 nano-USD, one of the completion 8,000. */
export const bookedPricing = { prompt: '0.000001', completion: '0.000008' };

const endpoint = (provider: string, more: object = {}) => ({ provider, model: 'm', pricing: bookedPricing, ...more });

/** `acme/one` at up, `acme/two` at up and alt, `acme/thinks` at up, which may reason. */
export const bookedModels = [
  { slug: 'acme/one', endpoints: [endpoint('up')] },
  { slug: 'acme/two', endpoints: [endpoint('up'), endpoint('alt')] },
  {
    slug: 'acme/thinks',
    endpoints: [endpoint('up', { model: 'm-thinks', supportedParameters: ['reasoning'], contextLength: 10_000 })],
  },
];

/** A gateway whose default workspace has a lifetime budget, in USD. */
export async function withBudget(limit_usd: number, options: Partial<GatewayOptions> = {}): Promise<TestGateway> {
  const tested = testGateway({ models: bookedModels, ...options });
  const put = await tested.call('PUT', '/workspaces/default/budgets/lifetime', { limit_usd });
  expect(put.status).toBe(200);
  return tested;
}

/** What the ledger has booked and still holds, in nano-USD: the refusal of a request says so. */
export async function ledgerOf(
  { call, post }: TestGateway,
  model = 'acme/one',
): Promise<{ spent: number; held: number }> {
  await call('PUT', '/workspaces/default/budgets/lifetime', { limit_usd: 0.000000001 });
  const refused = await post({ model, messages: [{ role: 'user', content: 'x' }], max_tokens: 100 });
  expect(refused.status).toBe(402);
  const { spent_usd, held_usd } = refused.json.error.metadata as { spent_usd: number; held_usd: number };
  return { spent: Math.round(spent_usd * 1e9), held: Math.round(held_usd * 1e9) };
}

/** The most that a request can cost at `acme/one`, as it is held; in nano-USD. */
export async function holdOf(body: object, options: Partial<GatewayOptions> = {}): Promise<number> {
  const tested = await withBudget(1, options);
  tested.upstream.answer({ instead: 'hang' });
  const controller = new AbortController();
  const pending = tested.send(body, {}, controller.signal).catch(() => undefined);
  await tested.clock.advance(1);
  const { held } = await ledgerOf(tested);
  controller.abort();
  await pending;
  return held;
}
