import { Keyv } from 'keyv';
import { describe, expect, it } from 'vitest';
import { isGatewayError } from '../../src/base/errors.ts';
import { defaultWorkspaceId } from '../../src/call/workspace.ts';
import type { GatewayOptions } from '../../src/options.ts';
import { type Explanation, explanationSchema } from '../../src/schema/chat/explanation.ts';
import { type CallAnswer, hello, managementKey, type TestGateway, testGateway, testKey } from '../support/gateway.ts';
import { tenantGateway } from '../support/tenant-gateway.ts';
import { completion, errorBody } from '../support/upstream.ts';

const path = '/chat/completions/explain';
/** Only output costs: 8 or 4 micro-USD a token, so that 100 tokens are at most 0.0008 or 0.0004 USD. */
const priced = (completion: string) => ({ prompt: '0', completion });
const options: Partial<GatewayOptions> = {
  region: 'eu-1',
  models: [
    {
      slug: 'acme/pair',
      order: 'price',
      endpoints: [
        { provider: 'up', model: 'up-pair', pricing: priced('0.000008') },
        { provider: 'alt', variant: 'turbo', model: 'alt-pair', pricing: priced('0.000004'), quantization: 'fp8' },
      ],
    },
    { slug: 'acme/unpriced', endpoints: [{ provider: 'up', model: 'unpriced' }] },
    { slug: 'acme/off', endpoints: [{ provider: 'up', model: 'off', disabled: true }] },
  ],
  retry: { attemptsPerEndpoint: 1 },
};
const ask = { model: 'acme/pair', messages: hello, max_tokens: 100 };

interface Explaining extends TestGateway {
  /** Explains a request, with the inference key; the answer has to be one, and no provider may have been asked. */
  explain(body: unknown, headers?: Record<string, string>): Promise<Explanation>;
  asked(body: unknown, headers?: Record<string, string>): Promise<CallAnswer>;
}

function explaining(more: Partial<GatewayOptions> = {}, make = testGateway): Explaining {
  const tested = make({ ...options, ...more });
  tested.upstream.always({ body: completion() });
  const asked: Explaining['asked'] = async (body, headers) => {
    const before = tested.upstream.sent.length;
    const records = tested.records.length;
    const answer = await tested.call('POST', path, body, { authorization: `Bearer ${testKey}`, ...headers });
    expect([tested.upstream.sent.length, tested.records.length]).toEqual([before, records]);
    return answer;
  };
  return {
    ...tested,
    asked,
    async explain(body, headers) {
      const { status, json, text } = await asked(body, headers);
      expect([status, text]).toEqual([200, text]);
      expect(Object.keys(json)).toEqual(['data']);
      expect(explanationSchema().strict().parse(json.data)).toEqual(json.data);
      return json.data;
    },
  };
}

/** With budgets of the default workspace, in USD by interval. */
async function budgeted(limits: Record<string, number>, more: Partial<GatewayOptions> = {}): Promise<Explaining> {
  const tested = explaining(more);
  for (const [interval, limit_usd] of Object.entries(limits))
    expect((await tested.call('PUT', `/workspaces/default/budgets/${interval}`, { limit_usd })).status).toBe(200);
  return tested;
}

const providers = ({ candidates }: Explanation) => candidates.map(({ provider }) => provider);

describe('an explanation', () => {
  it('says who would be tried, who not and why, and what it would cost at most', async () => {
    const { explain } = explaining();
    const candidate = {
      model: 'acme/pair',
      is_byok: false,
      is_pinned: false,
      lacks: false,
      has_outage: false,
      is_slow: false,
      latency_ms: null,
      throughput: null,
      max_prompt_tokens: expect.any(Number),
      max_completion_tokens: 100,
    };
    const body = { ...ask, models: ['acme/off'], provider: { preferred_min_throughput: 5 } };
    expect(await explain(body)).toEqual({
      requested: 'acme/pair',
      strategy: 'fallback',
      params: { throughput_floor: 5 },
      region: 'eu-1',
      candidates: [
        { ...candidate, provider: 'alt/turbo', provider_name: 'Alt', ceiling_usd: 0.0004, price_usd_per_million: 1 },
        { ...candidate, provider: 'up', provider_name: 'Up', ceiling_usd: 0.0008, price_usd_per_million: 2 },
      ],
      excluded: [{ model: 'acme/off', provider: 'up', filter: 'disabled' }],
      error: null,
      hold_usd: null,
      budgets: [],
    });
  });
  it('shows what speaks for and against each', async () => {
    const { explain, upstream, post, clock } = explaining({
      retry: { maxAttempts: 1, attemptsPerEndpoint: 1 },
      health: { failuresToCooldown: 100 },
      models: [
        {
          slug: 'acme/pair',
          order: 'price',
          endpoints: [
            { provider: 'up', model: 'up', supportedParameters: ['tools'], pricing: priced('0') },
            { provider: 'alt', model: 'alt', supportedParameters: [] },
          ],
        },
      ],
    });
    const tools = [{ type: 'function', function: { name: 'f' } }];
    await post({ ...ask, session_id: 's' });
    expect((await explain({ ...ask, tools, session_id: 's' })).candidates).toMatchObject([
      { provider: 'up', is_pinned: true, lacks: false, has_outage: false, price_usd_per_million: 0, ceiling_usd: 0 },
      { provider: 'alt', is_pinned: false, lacks: true, price_usd_per_million: null, ceiling_usd: null },
    ]);
    upstream.always({ status: 500, body: errorBody('No') });
    for (let n = 0; n < 5; n++) expect((await post({ ...ask, provider: { only: ['up'] } })).status).toBe(502);
    expect((await explain({ ...ask, session_id: 's' })).candidates).toMatchObject([
      { provider: 'alt', has_outage: false },
      { provider: 'up', has_outage: true },
    ]);
    await clock.advance(60_000);
    expect((await explain(ask)).candidates[0]).toMatchObject({ provider: 'up', has_outage: false });
  });
  it('goes by the session of the header where the body names none', async () => {
    const { explain, post } = explaining();
    await post({ ...ask, provider: { only: ['up'] } }, { 'x-session-id': 's' });
    const marks = async (body: object, headers: Record<string, string>) =>
      (await explain(body, headers)).candidates.map(({ provider, is_pinned }) => [provider, is_pinned]);
    expect((await marks(ask, { 'x-session-id': 's' }))[0]).toEqual(['up', true]);
    expect(await marks({ ...ask, session_id: 'other' }, { 'x-session-id': 's' })).not.toContainEqual(['up', true]);
  });
  it('shows latency and throughput as far as they are known', async () => {
    const { explain, send, upstream, clock, run } = explaining();
    upstream.always({ body: completion(), afterMs: 2000 });
    for (let n = 0; n < 5; n++) {
      const response = await run(send({ ...ask, provider: { only: ['up'] }, stream: true }));
      await run(response.text());
    }
    const { candidates } = await explain({ ...ask, provider: { preferred_max_latency: 1 } });
    expect(candidates.map(({ provider, is_slow }) => [provider, is_slow])).toEqual([
      ['alt/turbo', false],
      ['up', true],
    ]);
    const latency = candidates[1]?.latency_ms ?? 0;
    expect(latency > 1600 && latency < 2400, `${latency}`).toBe(true);
    expect(clock.now()).toBeGreaterThan(0);
  });
  it('names the strategy and the model of a router', async () => {
    const { explain } = explaining();
    expect(await explain({ messages: hello, model: 'service/auto' })).toMatchObject({
      requested: 'service/auto',
      strategy: 'auto',
      params: { cost_quality_tradeoff: 7 },
      candidates: [{ model: 'acme/pair' }, { model: 'acme/pair' }],
    });
  });
  it('goes by the default model and sort of the workspace', async () => {
    const { explain, call } = explaining({ defaultModel: 'acme/unpriced' });
    expect(await explain({ messages: hello })).toMatchObject({ requested: 'acme/unpriced', error: null });
    await call('PATCH', '/workspaces/default', { default_text_model: 'acme/pair', default_provider_sort: 'price' });
    expect(await explain({ messages: hello })).toMatchObject({ requested: 'acme/pair', error: null });
    expect(await explain({ messages: hello, provider: { only: ['x'] } })).toMatchObject({
      requested: 'acme/pair',
      strategy: 'direct',
      error: { code: 404 },
    });
  });
});

describe('who may ask for an explanation', () => {
  it('is who has a key for inference, or for management', async () => {
    const { asked, upstream } = explaining();
    for (const key of [testKey, managementKey])
      expect((await asked(ask, { authorization: `Bearer ${key}` })).status).toBe(200);
    const { status, json } = await asked(ask, { authorization: 'Bearer sk-test-unknown' });
    expect([status, json.error.code]).toEqual([401, 401]);
    expect(upstream.sent).toEqual([]);
  });
  it('is nobody with no permission: 403', async () => {
    const { asked } = explaining({
      authenticate: () => ({ permissions: [] }),
    });
    expect((await asked(ask)).status).toBe(403);
  });
  it('is asked by POST: 405', async () => {
    const { call } = explaining();
    expect((await call('GET', path)).status).toBe(405);
  });
});

describe('a request that would be refused for what it is', () => {
  const tools = [{ type: 'web_search' }];
  it.each<[string, unknown, number]>([
    ['no JSON', '{"model":', 400],
    ['no object', '[]', 400],
    ['no messages', { model: 'acme/pair' }, 400],
    ['empty messages', { ...ask, messages: [] }, 400],
    ['an unknown preference', { ...ask, provider: { onyl: ['up'] } }, 400],
    ['an unknown sort', { ...ask, provider: { sort: 'fast' } }, 400],
    ['a temperature too high', { ...ask, temperature: 3 }, 400],
    ['an unknown model', { ...ask, model: 'no/model' }, 400],
    ['an unknown model among others', { ...ask, models: ['no/model:nitro'] }, 400],
    ['no model at all', { messages: hello }, 400],
    ['a plugin that is not here', { ...ask, plugins: [{ id: 'web' }] }, 400],
    ['a suffix that asks for it', { ...ask, model: 'acme/pair:online' }, 400],
    ['a tool that is not here', { ...ask, tools }, 400],
    ['what contradicts itself', { ...ask, reasoning: { effort: 'low' }, reasoning_effort: 'high' }, 422],
  ])('is refused in the same words: %s', async (_, body, status) => {
    const { asked, post, gateway } = explaining();
    const explained = await asked(body);
    const live = await post(body);
    expect([explained.status, live.status]).toEqual([status, status]);
    expect(explained.json.error).toEqual(live.json.error);
    const inProcess = await gateway.explain(body).catch((error: unknown) => error);
    expect(isGatewayError(inProcess) && [inProcess.status, inProcess.message]).toEqual([
      status,
      live.json.error.message,
    ]);
  });
});

describe('a request that would be refused for how things stand', () => {
  /** Explains it and sends it: both have to say the same. */
  async function both({ explain, post, upstream }: Explaining, body: object): Promise<Explanation> {
    const explanation = await explain(body);
    const { status, json } = await post(body);
    const { metadata } = json.error;
    const { error_type: _, excluded, ...rest } = (metadata ?? {}) as Record<string, unknown>;
    expect([explanation.error?.code, explanation.error?.message]).toEqual([status, json.error.message]);
    expect(explanation.error?.metadata ?? {}).toEqual(rest);
    if (excluded !== undefined) expect(explanation.excluded).toEqual(excluded);
    expect([explanation.candidates, explanation.hold_usd, upstream.sent]).toEqual([[], null, []]);
    return explanation;
  }

  it('says that preferences leave nothing: 404', async () => {
    const explanation = await both(explaining(), { ...ask, provider: { only: ['alt'], quantizations: ['fp16'] } });
    expect(explanation.error?.code).toBe(404);
    expect(explanation.excluded).toEqual([
      { model: 'acme/pair', provider: 'up', filter: 'only' },
      { model: 'acme/pair', provider: 'alt/turbo', filter: 'quantizations' },
    ]);
  });
  it('says that a router finds nothing: 404', async () => {
    const explanation = await both(explaining(), { messages: hello, model: 'service/free' });
    expect(explanation).toMatchObject({ strategy: 'free', requested: 'service/free', error: { code: 404 } });
  });
  it('says that all has to rest: 503', async () => {
    const tested = explaining();
    tested.upstream.answer({ status: 401, body: errorBody('No') }, { status: 401, body: errorBody('No') });
    expect((await tested.post(ask)).status).toBe(502);
    tested.upstream.sent.length = 0;
    const explanation = await both(tested, ask);
    expect(explanation.error?.code).toBe(503);
    expect(explanation.excluded).toEqual([
      { model: 'acme/pair', provider: 'up', filter: 'cooldown' },
      { model: 'acme/pair', provider: 'alt/turbo', filter: 'cooldown' },
    ]);
  });
  it('says that a budget does not have it: 402', async () => {
    const explanation = await both(await budgeted({ daily: 0.0003, monthly: 1 }), ask);
    expect(explanation.error).toMatchObject({
      code: 402,
      metadata: { interval: 'daily', limit_usd: 0.0003, spent_usd: 0, held_usd: 0 },
    });
    expect(explanation.excluded.map(({ filter }) => filter)).toEqual(['budget', 'budget']);
    expect(explanation.budgets).toEqual([
      expect.objectContaining({ interval: 'daily', limit_usd: 0.0003, hold_usd: 0, remaining_usd: 0.0003 }),
      expect.objectContaining({ interval: 'monthly', limit_usd: 1, hold_usd: 0, remaining_usd: 1 }),
    ]);
  });
  it('says that a price is not known, where money is limited: 400', async () => {
    const explanation = await both(await budgeted({ daily: 1 }), { ...ask, model: 'acme/unpriced' });
    expect(explanation.error).toMatchObject({ code: 400, metadata: { unpriced: ['acme/unpriced at up'] } });
  });
});

describe('what a request would hold', () => {
  it('is its dearest try, of each limit', async () => {
    const { explain, post } = await budgeted({ daily: 0.01, lifetime: 2 });
    const first = await explain(ask);
    expect(first.hold_usd).toBe(0.0008);
    const window = { scope: 'workspace', spent_usd: 0, held_usd: 0, hold_usd: 0.0008 };
    expect(first.budgets).toEqual([
      { ...window, interval: 'daily', limit_usd: 0.01, remaining_usd: 0.0092, resets_at: '2026-01-02T00:00:00.000Z' },
      { ...window, interval: 'lifetime', limit_usd: 2, remaining_usd: 1.9992, resets_at: null },
    ]);
    const { json } = await post(ask);
    const cost = json.usage?.cost as number;
    const [daily] = (await explain(ask)).budgets;
    expect(daily).toMatchObject({ spent_usd: cost, held_usd: 0, hold_usd: 0.0008 });
    expect(daily?.remaining_usd).toBeCloseTo(0.01 - cost - 0.0008, 9);
  });
  it('leaves out what does not fit, and holds for the rest', async () => {
    const { explain } = await budgeted({ daily: 0.0005 });
    const explanation = await explain(ask);
    expect([providers(explanation), explanation.hold_usd]).toEqual([['alt/turbo'], 0.0004]);
    expect(explanation.excluded).toEqual([{ model: 'acme/pair', provider: 'up', filter: 'budget' }]);
  });
  it('is not held: a request that needs all of the budget still has it', async () => {
    const { explain, post, gateway } = await budgeted({ daily: 0.0008 });
    for (let n = 0; n < 3; n++) {
      expect(await explain(ask)).toMatchObject({ error: null, budgets: [{ held_usd: 0, remaining_usd: 0 }] });
      await gateway.explain(ask);
    }
    const answer = await post({ ...ask, provider: { only: ['up'] } });
    expect([answer.status, answer.text]).toEqual([200, answer.text]);
  });
  it('counts what others hold at the moment', async () => {
    const { explain, send, upstream, clock, run } = await budgeted({ daily: 0.001 });
    upstream.answer({ body: completion(), afterMs: 1000 });
    const inFlight = send(ask);
    await clock.advance(1);
    expect(await explain(ask)).toMatchObject({
      error: { code: 402, metadata: { held_usd: 0.0008 } },
      budgets: [{ held_usd: 0.0008, remaining_usd: 0.0002 }],
    });
    await (await run(inFlight)).text();
    expect(await explain(ask)).toMatchObject({ error: null, budgets: [{ held_usd: 0, hold_usd: 0.0008 }] });
  });
  it('is as much as there is, where requests are made to fit', async () => {
    const { explain, post, upstream } = await budgeted({ daily: 0.0002 }, { budgets: { shrinkToFit: true } });
    const explanation = await explain(ask);
    expect(explanation.candidates).toMatchObject([
      { provider: 'alt/turbo', max_completion_tokens: 50, ceiling_usd: 0.0002 },
      { provider: 'up', max_completion_tokens: 25, ceiling_usd: 0.0002 },
    ]);
    expect([explanation.hold_usd, explanation.error]).toEqual([0.0002, null]);
    expect((await post(ask)).status).toBe(200);
    expect(upstream.sent[0]?.body).toMatchObject({ model: 'alt-pair', max_tokens: 50 });
  });
  it('counts against the limit of a key as well', async () => {
    const tested = tenantGateway({ ...options, store: new Keyv() });
    const { key } = await tested.key({ limit: 0.002, limit_reset: 'daily' });
    await tested.manage('PUT', '/workspaces/default/budgets/monthly', { limit_usd: 0.01 });
    const { status, json } = await tested.call('POST', path, ask, { authorization: `Bearer ${key}` });
    expect([status, explanationSchema().parse(json.data).hold_usd]).toEqual([200, 0.0008]);
    const limits = (json.data as Explanation).budgets.map(({ scope, interval, remaining_usd }) => [
      scope,
      interval,
      remaining_usd,
    ]);
    expect(limits.sort()).toEqual([
      ['key', 'daily', 0.0012],
      ['workspace', 'monthly', 0.0092],
    ]);
  });
});

describe("a workspace's own credentials", () => {
  const secrets = { current: 'a master secret of the tests, which is long enough' };
  const groq: Partial<GatewayOptions> = {
    secrets,
    providers: { groq: { apiKey: 'gsk-operator-0123456789', baseUrl: 'https://groq.test/v1', byok: true } },
    models: [{ slug: 'acme/pair', endpoints: [{ provider: 'groq', model: 'm', pricing: priced('0.000008') }] }],
  };

  it('are shown as candidates of their own, which cost the budget nothing', async () => {
    const tested = explaining(groq);
    await tested.call('PUT', '/workspaces/default/budgets/daily', { limit_usd: 0.0001 });
    expect(await tested.explain(ask)).toMatchObject({ error: { code: 402 } });
    const { status } = await tested.call('POST', '/byok', { provider: 'groq', key: 'gsk-own-0123456789' });
    expect(status).toBe(201);
    const explanation = await tested.explain(ask);
    expect(explanation.candidates).toMatchObject([{ provider: 'groq', is_byok: true, ceiling_usd: 0.0008 }]);
    expect([explanation.hold_usd, explanation.error]).toEqual([0, null]);
    expect(JSON.stringify(explanation)).not.toMatch(/gsk|own-0/);
    const { json } = await tested.post(ask);
    expect(json.usage).toMatchObject({ is_byok: true });
  });
  it('come before the operator’s', async () => {
    const tested = explaining(groq);
    await tested.call('POST', '/byok', { provider: 'groq', key: 'gsk-own-0123456789' });
    await tested.call('POST', '/byok', { provider: 'groq', key: 'gsk-last-0123456789', is_fallback: true });
    const { candidates } = await tested.explain(ask);
    expect(candidates.map(({ is_byok }) => is_byok)).toEqual([true, false, true]);
  });
});

describe('gateway.explain', () => {
  it('says the same as the operation, of an object and of a text', async () => {
    const { gateway, explain } = await budgeted({ daily: 1 });
    const expected = await explain(ask);
    expect(await gateway.explain(ask)).toEqual(expected);
    expect(await gateway.explain(JSON.stringify(ask))).toEqual(expected);
    expect(await gateway.explain(ask, {})).toEqual(expected);
    expect(await gateway.explain(ask, { workspaceId: defaultWorkspaceId })).toEqual(expected);
  });
  it('asks for another workspace: its budgets, its defaults', async () => {
    const tested = tenantGateway({ ...options, store: new Keyv() });
    const id = await tested.workspace('other');
    await tested.manage('PUT', `/workspaces/${id}/budgets/weekly`, { limit_usd: 0.0005 });
    await tested.manage('PATCH', `/workspaces/${id}`, { default_text_model: 'acme/pair' });
    expect(await tested.gateway.explain(ask)).toMatchObject({ hold_usd: null, budgets: [] });
    const explanation = await tested.gateway.explain({ messages: hello, max_tokens: 100 }, { workspaceId: id });
    expect([providers(explanation), explanation.budgets.map(({ interval }) => interval)]).toEqual([
      ['alt/turbo'],
      ['weekly'],
    ]);
  });
  it.each(['', 'a b', '{x}', 'x'.repeat(65)])('takes no workspace that cannot be one: "%s"', async (workspaceId) => {
    const { gateway } = explaining();
    const error = await gateway.explain(ask, { workspaceId }).catch((thrown: unknown) => thrown);
    expect(isGatewayError(error) && [error.status, error.message]).toEqual([
      400,
      'of.workspaceId: expected the id of a workspace',
    ]);
  });
});

describe('to be explained changes nothing', () => {
  it('of which endpoint is tried again after a rest', async () => {
    const { explain, post, upstream, clock } = explaining({ health: { failuresToCooldown: 1, cooldownMs: 1000 } });
    const only = { ...ask, provider: { only: ['up'] } };
    upstream.answer({ status: 500, body: errorBody('No') });
    await post(only);
    expect(await explain(only)).toMatchObject({ error: { code: 503 } });
    await clock.advance(1000);
    // One attempt at a time may find out whether it is back, and an explanation is none.
    for (let n = 0; n < 3; n++) expect(await explain(only)).toMatchObject({ error: null });
    expect((await post(only)).status).toBe(200);
  });
  it('of where a conversation stays', async () => {
    const { explain, clock, post } = explaining({ sticky: { ttlMs: 1000 } });
    await post({ ...ask, session_id: 's', provider: { only: ['up'] } });
    await clock.advance(600);
    expect((await explain({ ...ask, session_id: 's' })).candidates[0]).toMatchObject({
      provider: 'up',
      is_pinned: true,
    });
    await clock.advance(600);
    expect((await explain({ ...ask, session_id: 's' })).candidates).not.toContainEqual(
      expect.objectContaining({ is_pinned: true }),
    );
  });
});
