import { Keyv } from 'keyv';
import { describe, expect, it } from 'vitest';
import type { GatewayOptions } from '../../src/options.ts';
import { hello, managementKey, testGateway, testKey } from '../support/gateway.ts';
import { chunk, completion, sse, textStream } from '../support/upstream.ts';

const ask = { model: 'acme/fast', messages: hello, max_tokens: 100 };
/** Only output costs: 8 micro-USD a token, so that this request may cost 0.0008 USD; its answer costs 0.000016. */
const pricing = { prompt: '0', completion: '0.000008' };
const ceilingNanoUsd = 800_000;
const costNanoUsd = 16_000;
const endpoint = (provider: string) => ({ provider, model: 'm', pricing });
const models = [
  { slug: 'acme/fast', endpoints: [endpoint('up')] },
  { slug: 'acme/pair', endpoints: [endpoint('up'), endpoint('alt')] },
  { slug: 'acme/free', endpoints: [{ provider: 'up', model: 'free' }] },
];

/** A gateway whose default workspace has budgets, in USD by interval. */
async function budgeted(limits: Record<string, number>, options: Partial<GatewayOptions> = {}) {
  const tested = testGateway({ models, ...options });
  tested.upstream.always({ body: completion() });
  for (const [interval, limit_usd] of Object.entries(limits)) {
    const put = await tested.call('PUT', `/workspaces/default/budgets/${interval}`, { limit_usd });
    expect(put.status).toBe(200);
  }
  return tested;
}

describe('a budget', () => {
  it('lets through what fits and refuses what might not, before a provider is asked', async () => {
    const { post, upstream } = await budgeted({ daily: 0.001 });
    const answers = [];
    for (let n = 0; n < 20; n++) answers.push(await post(ask));
    // After 13 answers 0.000208 is spent, and 0.0008 more might not fit.
    expect(answers.map(({ status }) => status)).toEqual(Array.from(answers, (_, n) => (n < 13 ? 200 : 402)));
    expect(13 * costNanoUsd + ceilingNanoUsd).toBeGreaterThan(1_000_000);
    expect(upstream.sent).toHaveLength(13);
    expect(answers.at(-1)?.json.error).toMatchObject({
      code: 402,
      message: expect.stringMatching(/daily budget/),
      metadata: {
        error_type: 'payment_required',
        interval: 'daily',
        limit_usd: 0.001,
        spent_usd: 0.000208,
        held_usd: 0,
        resets_at: '2026-01-02T00:00:00.000Z',
      },
    });
  });
  it('names the broadest that is exhausted', async () => {
    const { post } = await budgeted({ daily: 0.0001, weekly: 0.0001, monthly: 10, lifetime: 10 });
    const refused = await post(ask);
    expect(refused.json.error.metadata).toMatchObject({ interval: 'weekly', resets_at: '2026-01-05T00:00:00.000Z' });
  });
  it('says which max_tokens would fit, and no more does', async () => {
    const { post, upstream } = await budgeted({ daily: 0.01 });
    const { json } = await post({ ...ask, max_tokens: 100_000 });
    const fitting = Number(json.error.metadata?.fitting_max_tokens);
    expect(fitting).toBeGreaterThan(100);
    expect(json.error.message).toContain(`With max_tokens of at most ${fitting} the request would fit.`);
    expect((await post({ ...ask, max_tokens: fitting + 1 })).status).toBe(402);
    expect(upstream.sent).toEqual([]);
    expect((await post({ ...ask, max_tokens: fitting })).status).toBe(200);
  });
  it('says nothing of max_tokens where the prompt alone is too dear', async () => {
    const { post } = await budgeted({ daily: 0.000001 });
    const { json } = await post(ask);
    expect([json.error.code, json.error.metadata]).toEqual([
      402,
      expect.not.objectContaining({ fitting_max_tokens: 1 }),
    ]);
    expect(json.error.message).not.toContain('max_tokens');
  });
  it('that lasts a lifetime never resets', async () => {
    const { post } = await budgeted({ lifetime: 0.0001 });
    expect((await post(ask)).json.error.metadata).toMatchObject({ interval: 'lifetime', resets_at: null });
  });
  it('starts anew with its window, and books a request in the window in which it was admitted', async () => {
    const { post, send, clock, call, run, upstream } = await budgeted({ daily: 0.0008 });
    await clock.advance(86_400_000 - (clock.now() % 86_400_000) - 1);
    upstream.answer({ body: completion(), afterMs: 1000 });
    const straddling = send(ask);
    await clock.advance(1);
    // It is not held in the new day, in which this one fits, and would not with it.
    const next = await post(ask);
    expect(next.status, next.text).toBe(200);
    expect((await run(straddling)).status).toBe(200);
    await call('PUT', '/workspaces/default/budgets/daily', { limit_usd: 0.0001 });
    expect((await post(ask)).json.error.metadata).toMatchObject({ spent_usd: 0.000016, held_usd: 0 });
  });
  it('keeps what was spent when its limit changes', async () => {
    const { post, call } = await budgeted({ monthly: 1 });
    const { json } = await post(ask);
    await call('PUT', '/workspaces/default/budgets/monthly', { limit_usd: 0.0005 });
    const refused = await post(ask);
    expect(refused.json.error.metadata).toMatchObject({ limit_usd: 0.0005, spent_usd: json.usage?.cost });
  });
  it('that was made later counts what was spent before', async () => {
    const { post, call } = await budgeted({});
    const { json } = await post(ask);
    await call('PUT', '/workspaces/default/budgets/lifetime', { limit_usd: 0.0005 });
    expect((await post(ask)).json.error.metadata).toMatchObject({ spent_usd: json.usage?.cost });
  });
  it('that was deleted holds nobody back', async () => {
    const { post, call } = await budgeted({ daily: 0.0001 });
    expect((await post(ask)).status).toBe(402);
    await call('DELETE', '/workspaces/default/budgets/daily');
    expect((await post(ask)).status).toBe(200);
  });
  it('is not spent by what failed, and holds nothing for it afterwards', async () => {
    const { post, upstream } = await budgeted(
      { daily: 0.0008 },
      { retry: { maxAttempts: 1 }, health: { failuresToCooldown: 100 } },
    );
    for (let n = 0; n < 20; n++) {
      upstream.answer({ status: 500, body: '{"error":{"message":"no"}}' });
      expect((await post(ask)).status).toBe(502);
    }
    expect((await post(ask)).status).toBe(200);
  });
  it('is spent by a failed attempt that the provider said used something', async () => {
    const { post, call, upstream, records } = await budgeted({ daily: 0.01 }, { retry: { attemptsPerEndpoint: 1 } });
    const usage = { prompt_tokens: 10, completion_tokens: 20, total_tokens: 30 };
    upstream.answer({ body: { id: 'x', object: 'chat.completion', choices: [], usage } });
    const { json } = await post({ ...ask, model: 'acme/pair' });
    const [, second] = records[0]?.attempts ?? [];
    expect(records[0]?.attempts[0]?.costNanoUsd).toBe(20 * 8000);
    expect(second?.status).toBe(200);
    expect(json.usage).toMatchObject({ completion_tokens: 2, cost: 0.000176 });
    expect(records[0]?.costNanoUsd).toBe(176_000);
    await call('PUT', '/workspaces/default/budgets/daily', { limit_usd: 0.0001 });
    expect((await post(ask)).json.error.metadata).toMatchObject({ spent_usd: 0.000176, held_usd: 0 });
  });
  it('is spent by a client that leaves only for what it received', async () => {
    const { send, post, upstream, call, records } = await budgeted({ daily: 0.01 });
    upstream.answer({
      body: [sse(chunk({ role: 'assistant', content: 'Some words that were received' })), { hangs: true }],
    });
    const response = await send({ ...ask, stream: true });
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    await reader.read();
    await reader.cancel();
    const { usage, costNanoUsd: cost, isEstimated } = records[0] as (typeof records)[0];
    expect([usage?.completion_tokens, isEstimated]).toEqual([expect.any(Number), true]);
    expect(cost).toBe((usage?.completion_tokens as number) * 8000);
    await call('PUT', '/workspaces/default/budgets/daily', { limit_usd: 0.0000001 });
    expect((await post(ask)).json.error.metadata).toMatchObject({ spent_usd: (cost as number) / 1e9, held_usd: 0 });
  });
  it('is settled for what closing the gateway cuts off', async () => {
    const store = new Keyv();
    const { send, upstream, gateway, run, records } = await budgeted({ daily: 0.01 }, { store });
    upstream.answer({ body: [sse(chunk({ role: 'assistant', content: 'Some words' })), { hangs: true }] });
    const response = await run(send({ ...ask, stream: true }));
    const rest = response.text();
    await run(Promise.all([rest, gateway.close()]));
    expect(records).toMatchObject([{ outcome: 'cut', status: 503 }]);
    const { post } = await budgeted({ daily: 0.0000001 }, { store });
    const spent_usd = (records[0]?.costNanoUsd as number) / 1e9;
    expect(spent_usd).toBeGreaterThan(0);
    expect((await post(ask)).json.error.metadata).toMatchObject({ spent_usd, held_usd: 0 });
  });
  it('is settled by what a stream reports at its end', async () => {
    const { post, upstream, call } = await budgeted({ daily: 1 });
    upstream.answer({ body: textStream('Hello') });
    const answer = await post({ ...ask, stream: true });
    const cost = answer.chunks.at(-1)?.usage?.cost as number;
    await call('PUT', '/workspaces/default/budgets/daily', { limit_usd: 0.0000001 });
    expect((await post(ask)).json.error.metadata).toMatchObject({ spent_usd: cost, held_usd: 0 });
  });
  it('holds for requests at once what each might cost', async () => {
    const { send, upstream, clock, run } = await budgeted({ daily: 0.0015 });
    upstream.always({ body: completion(), afterMs: 1000 });
    const all = [send(ask), send(ask), send(ask)];
    await clock.advance(1);
    expect(upstream.sent).toHaveLength(1);
    const statuses = (await run(Promise.all(all))).map(({ status }) => status).sort();
    expect(statuses).toEqual([200, 402, 402]);
  });
});

describe('an endpoint without a known price', () => {
  it('is not tried where there is a budget, and 400 says which lacks a price when none is left', async () => {
    const { post, upstream } = await budgeted({ daily: 1 });
    const refused = await post({ ...ask, model: 'acme/free' });
    expect(refused.status).toBe(400);
    expect(refused.json.error).toMatchObject({
      message: expect.stringContaining('acme/free at up'),
      metadata: { unpriced: ['acme/free at up'] },
    });
    expect(upstream.sent).toEqual([]);
    const served = await post({ ...ask, models: ['acme/free', 'acme/fast'], model: undefined });
    expect([served.status, served.json.model]).toEqual([200, 'acme/fast']);
  });
  it('lacks one in a service tier that costs more', async () => {
    const { post } = await budgeted({ daily: 1 });
    for (const service_tier of ['priority', 'scale']) {
      const refused = await post({ ...ask, service_tier });
      expect([refused.status, refused.json.error.metadata?.unpriced]).toEqual([
        400,
        [`acme/fast at up in service tier ${service_tier}`],
      ]);
    }
    for (const service_tier of ['auto', 'default', 'flex'])
      expect((await post({ ...ask, service_tier })).status).toBe(200);
  });
  it('is free of charge with unknownPrice: allow', async () => {
    const { post } = await budgeted({ daily: 0.000001 }, { budgets: { unknownPrice: 'allow' } });
    expect((await post({ ...ask, model: 'acme/free' })).status).toBe(200);
  });
  it('is nobody’s concern without a budget', async () => {
    const { post } = await budgeted({});
    expect((await post({ ...ask, model: 'acme/free' })).status).toBe(200);
  });
});

describe('tries of different prices', () => {
  const pricing = (completionUsd: string) => ({ prompt: '0', completion: completionUsd });
  const mixedModels = [
    {
      slug: 'acme/mixed',
      endpoints: [
        { provider: 'up', model: 'cheap', pricing: pricing('0.000001') },
        { provider: 'alt', model: 'dear', pricing: pricing('0.0001') },
      ],
    },
  ];
  const mixed = { model: 'acme/mixed', messages: hello, max_tokens: 100 };

  it('a dearer fallback that does not fit is not tried', async () => {
    const { post, upstream } = await budgeted(
      { daily: 0.001 },
      { models: mixedModels, retry: { attemptsPerEndpoint: 1 } },
    );
    upstream.answer({ status: 503, body: '{}' });
    const failed = await post(mixed, { 'x-service-metadata': 'enabled' });
    expect(failed.status).toBe(529);
    expect(upstream.sent.map(({ url }) => new URL(url).host)).toEqual(['up.test']);
    expect((await post(mixed)).status).toBe(200);
  });
  it('when none fits, what stands in the way of the cheapest is named, not of the dearest alone', async () => {
    // 0.0001 and 0.01 USD at most: of the lifetime there is enough left for the one, of the day for neither.
    const { post } = await budgeted({ daily: 0.00005, lifetime: 0.005 }, { models: mixedModels });
    expect((await post(mixed)).json.error).toMatchObject({
      message: expect.stringMatching(/up to \$0\.0001, .*daily budget/),
      metadata: { interval: 'daily', limit_usd: 0.00005 },
    });
  });
  it('one that fits is tried', async () => {
    const { post, upstream } = await budgeted(
      { daily: 0.1 },
      { models: mixedModels, retry: { attemptsPerEndpoint: 1 } },
    );
    upstream.answer({ status: 503, body: '{}' });
    expect((await post(mixed)).status).toBe(200);
    expect(upstream.sent.map(({ url }) => new URL(url).host)).toEqual(['up.test', 'alt.test']);
  });
});

describe('the largest output', () => {
  it('is sent upstream where neither the caller nor the endpoint names one', async () => {
    const { post, upstream } = await budgeted({ daily: 1 }, { budgets: { defaultMaxTokens: 500 } });
    await post({ model: 'acme/fast', messages: hello });
    expect(upstream.sent[0]?.body.max_tokens).toBe(500);
    const { post: free, upstream: unlimited } = await budgeted({});
    await free({ model: 'acme/fast', messages: hello });
    expect(unlimited.sent[0]?.body).not.toHaveProperty('max_tokens');
  });
  it('shrinks to what the budget still affords, where that is asked for', async () => {
    const { post, upstream } = await budgeted({ daily: 0.0005 }, { budgets: { shrinkToFit: true } });
    expect((await post({ ...ask, max_tokens: 100_000 })).status).toBe(200);
    const sent = upstream.sent[0]?.body.max_tokens as number;
    expect(sent).toBeGreaterThan(10);
    expect(sent * 8e-6).toBeLessThanOrEqual(0.0005);
  });
  it('does not shrink where it is not', async () => {
    const { post } = await budgeted({ daily: 0.0005 });
    expect((await post({ ...ask, max_tokens: 100_000 })).status).toBe(402);
  });
});

describe('a key with a limit of its own', () => {
  it('is refused once it is spent, though its workspace has no budget', async () => {
    const { post, call, upstream } = await budgeted({});
    const made = await call('POST', '/keys', { name: 'limited', limit: 0.001, limit_reset: 'daily' });
    expect(made.status).toBe(201);
    const limited = { authorization: `Bearer ${made.json.key}` };
    const statuses = [];
    for (let n = 0; n < 20; n++) statuses.push((await post(ask, limited)).status);
    expect(statuses[0]).toBe(200);
    expect(statuses.at(-1)).toBe(402);
    const refused = await post(ask, limited);
    expect(refused.json.error.message).toMatch(/key/i);
    const before = upstream.sent.length;
    expect((await post(ask)).status).toBe(200);
    expect(upstream.sent).toHaveLength(before + 1);
    const shown = await call('GET', '/key', undefined, limited);
    expect(shown.json.data).toMatchObject({ limit: 0.001, limit_reset: 'daily' });
    expect(shown.json.data.usage_daily).toBeGreaterThan(0);
    expect(shown.json.data.limit_remaining).toBeCloseTo(0.001 - shown.json.data.usage_daily, 9);
  });
});

describe('who may manage', () => {
  it('is not who may only infer', async () => {
    const { call } = await budgeted({});
    const refused = await call('GET', '/workspaces', undefined, { authorization: `Bearer ${testKey}` });
    expect(refused.status).toBe(403);
    expect((await call('GET', '/workspaces', undefined, { authorization: `Bearer ${managementKey}` })).status).toBe(
      200,
    );
  });
});

it('usage is settled where the provider reported none, from what was counted, and marked', async () => {
  const { post, upstream, call } = await budgeted({ daily: 1 });
  const { usage: _, ...rest } = completion() as { usage?: object };
  upstream.answer({ body: rest });
  const { json } = await post(ask);
  expect(json.usage).toMatchObject({ estimated: true });
  await call('PUT', '/workspaces/default/budgets/daily', { limit_usd: 0.0000001 });
  expect((await post(ask)).json.error.metadata).toMatchObject({ spent_usd: json.usage?.cost, held_usd: 0 });
});

it('what is counted here is no more than was asked for, and the client is told what is booked', async () => {
  const { post, upstream, call, records } = await budgeted({ daily: 1 });
  const { usage: _, ...rest } = completion({}, { content: 'Far more words than that. '.repeat(20) }) as Record<
    string,
    unknown
  >;
  upstream.answer({ body: rest });
  const { json } = await post({ ...ask, max_tokens: 5 });
  expect(json.usage).toMatchObject({ estimated: true, completion_tokens: 5, cost: 0.00004 });
  expect(records[0]?.costNanoUsd).toBe(40_000);
  await call('PUT', '/workspaces/default/budgets/daily', { limit_usd: 0.0000001 });
  expect((await post(ask)).json.error.metadata).toMatchObject({ spent_usd: 0.00004, held_usd: 0 });
});
