import 're2js';
import { describe, expect, it } from 'vitest';
import { defaultWorkspaceId } from '../../src/call/workspace.ts';
import type { GatewayOptions } from '../../src/options.ts';
import { createGuardrailSchema, storedGuardrailsSchema } from '../../src/schema/tenants/guardrail.ts';
import { askResponses } from '../support/ask-responses.ts';
import { type Answer, checkError, hello, type TestGateway, testGateway, testKey } from '../support/gateway.ts';
import { completion, textStream } from '../support/upstream.ts';

const ask = { model: 'acme/fast', messages: hello, max_tokens: 100 };
/** Only output costs: 8 micro-USD a token, so that this request may cost 0.0008 USD; its answer costs 0.000016. */
const pricing = { prompt: '0', completion: '0.000008' };
const models = [{ slug: 'acme/fast', endpoints: [{ provider: 'up', model: 'm', pricing }] }];
const dayMs = 86_400_000;
/** The hold of one request fits twice in it beside the cost of an answer, and not three times. */
const budget = { limit_usd: 0.0017, reset_interval: 'daily' };
const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

function gatewayOn(options: Partial<GatewayOptions> = {}): TestGateway {
  const test = testGateway({ models, ...options });
  test.upstream.always({ body: completion() });
  return test;
}

/** Imposes a guardrail on the default workspace. */
async function imposed(test: TestGateway, fields: object): Promise<string> {
  const { status, json } = await test.call('POST', '/guardrails', { name: 'Spending', ...fields });
  expect(status).toBe(201);
  const workspaces = { workspace_ids: [defaultWorkspaceId] };
  await test.call('POST', `/guardrails/${json.data.id}/assignments/workspaces`, workspaces);
  return json.data.id;
}

async function newKey(test: TestGateway, fields: object = {}): Promise<string> {
  return (await test.call('POST', '/keys', { name: 'Test', ...fields })).json.key;
}

/** How many requests are answered before one is refused. */
async function answered(test: TestGateway, key: string): Promise<{ count: number; refused: Answer }> {
  for (let count = 0; ; count++) {
    const refused = await test.post(ask, bearer(key));
    if (refused.status !== 200) return { count, refused };
    if (count === 1_000) throw new Error('It is never refused');
  }
}

/** Answers that cost 0.000016 each, until the next may cost more than is left. */
const answersWithin = (limitUsd: number) => Math.floor((limitUsd - 0.0008) / 0.000016 + 1e-9) + 1;

describe('the budget of a guardrail', () => {
  it('is for each key on its own, and begins anew with the interval', async () => {
    const test = gatewayOn();
    const id = await imposed(test, budget);
    const [one, other] = [await newKey(test), await newKey(test)];
    for (const key of [one, other, testKey]) {
      const { count, refused } = await answered(test, key);
      expect(count).toBe(answersWithin(0.0017));
      checkError(402, refused.json);
      expect(refused.json.error).toMatchObject({
        code: 402,
        message: expect.stringContaining('the daily budget that a guardrail gives this API key'),
        metadata: {
          error_type: 'payment_required',
          scope: 'guardrail',
          guardrail_id: id,
          interval: 'daily',
          limit_usd: 0.0017,
          held_usd: 0,
          resets_at: '2026-01-02T00:00:00.000Z',
        },
      });
    }
    expect(test.upstream.sent).toHaveLength(3 * answersWithin(0.0017));
    await test.clock.advance(dayMs);
    expect((await test.post(ask, bearer(one))).status).toBe(200);
  });
  it('counts what the key has spent before, also where it is changed', async () => {
    const test = gatewayOn();
    const key = await newKey(test);
    for (let n = 0; n < 20; n++) await test.post(ask, bearer(key));
    const id = await imposed(test, budget);
    expect((await answered(test, key)).count).toBe(answersWithin(0.0017) - 20);
    const changed = await test.call('PATCH', `/guardrails/${id}`, { limit_usd: 0.0018 });
    expect(changed.json.data).toMatchObject({ limit_usd: 0.0018, reset_interval: 'daily' });
    expect((await answered(test, key)).count).toBe(answersWithin(0.0018) - answersWithin(0.0017));
    await test.call('PATCH', `/guardrails/${id}`, { limit_usd: null, reset_interval: null });
    expect((await test.post(ask, bearer(key))).status).toBe(200);
  });
  it('holds in streams and on Responses, and for requests at the same moment', async () => {
    const test = gatewayOn();
    await imposed(test, budget);
    const key = await newKey(test);
    test.upstream.always({ body: textStream('Hi') });
    const sent = await Promise.all(Array.from({ length: 10 }, () => test.send({ ...ask, stream: true }, bearer(key))));
    expect(sent.filter(({ status }) => status === 200)).toHaveLength(2);
    expect(sent.filter(({ status }) => status === 402)).toHaveLength(8);
    for (const response of sent) await test.run(response.text());
    test.upstream.always({ body: completion() });
    await answered(test, key);
    const { status } = await askResponses(test, { model: 'acme/fast', max_output_tokens: 100 }, bearer(key));
    expect(status).toBe(402);
  });
  it.each([
    ['is lower than', 0.0017, 0.003, 'guardrail'],
    ['is higher than', 0.003, 0.0017, 'key'],
  ])('holds where it %s the limit of the key for the same interval', async (_, ofGuardrail, ofKey, scope) => {
    const test = gatewayOn();
    await imposed(test, { limit_usd: ofGuardrail, reset_interval: 'daily' });
    const key = await newKey(test, { limit: ofKey, limit_reset: 'daily' });
    const { count, refused } = await answered(test, key);
    expect([count, refused.json.error.metadata?.scope]).toEqual([answersWithin(0.0017), scope]);
  });
  it('holds beside a budget of the workspace, a limit of the key and another guardrail', async () => {
    const test = gatewayOn();
    await test.call('PUT', '/workspaces/default/budgets/daily', { limit_usd: 0.005 });
    await imposed(test, { limit_usd: 0.003, reset_interval: 'weekly' });
    const lowest = await imposed(test, { limit_usd: 0.0017, reset_interval: 'weekly' });
    const keys = [await newKey(test, { limit: 1, limit_reset: 'monthly' }), await newKey(test), await newKey(test)];
    const counts: number[] = [];
    const scopes: unknown[] = [];
    for (const key of keys) {
      const { count, refused } = await answered(test, key);
      counts.push(count);
      scopes.push(refused.json.error.metadata?.guardrail_id ?? refused.json.error.metadata?.scope);
    }
    const each = answersWithin(0.0017);
    expect(counts).toEqual([each, each, each]);
    expect(scopes).toEqual([lowest, lowest, lowest]);
    const more = await newKey(test);
    const { count, refused } = await answered(test, more);
    expect(count).toBeLessThan(each * 2);
    expect(3 * each + count).toBe(Math.min(4 * each, answersWithin(0.005)));
    expect(refused.status).toBe(402);
  });
  it('is shared by all calls without a key', async () => {
    const test = gatewayOn({
      authenticate: () => ({ workspaceId: defaultWorkspaceId, permissions: ['inference', 'management'] }),
    });
    const { json } = await test.call('POST', '/guardrails', { name: 'Spending', ...budget });
    const workspaces = { workspace_ids: [defaultWorkspaceId] };
    await test.call('POST', `/guardrails/${json.data.id}/assignments/workspaces`, workspaces);
    let count = 0;
    while ((await test.post(ask)).status === 200) count++;
    expect(count).toBe(answersWithin(0.0017));
  });
  it('shows in an explanation', async () => {
    const test = gatewayOn();
    await imposed(test, budget);
    const { json } = await test.call('POST', '/chat/completions/explain', ask);
    expect(json.data.budgets).toMatchObject([
      { scope: 'guardrail', interval: 'daily', limit_usd: 0.0017, spent_usd: 0, hold_usd: 0.0008 },
    ]);
  });
});

describe('a budget of a guardrail that is half given', () => {
  it.each([
    [{ limit_usd: 5 }, 'reset_interval'],
    [{ reset_interval: 'daily' }, 'limit_usd'],
    [{ limit_usd: 0, reset_interval: 'daily' }, 'limit_usd'],
    [{ limit_usd: 5, reset_interval: 'lifetime' }, 'reset_interval'],
  ])('is refused: %j names %s', async (fields, path) => {
    const { call } = gatewayOn();
    const { status, json } = await call('POST', '/guardrails', { name: 'x', ...fields });
    expect([status, json.error.metadata.issues[0].path]).toEqual([400, path]);
  });
  it('is refused as a change, too', async () => {
    const test = gatewayOn();
    const id = await imposed(test, budget);
    const { status } = await test.call('PATCH', `/guardrails/${id}`, { limit_usd: null });
    expect(status).toBe(400);
    expect((await test.call('GET', `/guardrails/${id}`)).json.data).toMatchObject(budget);
  });
});

it('reads a guardrail that was stored before guardrails had budgets', () => {
  const {
    workspace_id: _,
    limit_usd: __,
    reset_interval: ___,
    ...settings
  } = createGuardrailSchema().parse({ name: 'Old' });
  const stored = {
    id: 'a',
    settings,
    setBy: 'operator',
    ofWorkspace: true,
    keyHashes: [],
    createdAtMs: 1,
    updatedAtMs: null,
  };
  const [guardrail] = storedGuardrailsSchema().parse({ guardrails: [stored] }).guardrails;
  expect(guardrail?.settings).toMatchObject({ limit_usd: null, reset_interval: null });
});
