import 're2js';
import { createHmac } from 'node:crypto';
import { Keyv } from 'keyv';
import { describe, expect, it } from 'vitest';
import { defaultWorkspaceId } from '../../src/call/workspace.ts';
import { type GatewayOptions, OptionsError } from '../../src/options.ts';
import type { BudgetEvent } from '../../src/schema/settings/budget-events.ts';
import { cryptoWork } from '../support/crypto-work.ts';
import { hello, nextTurn, type TestGateway, testGateway } from '../support/gateway.ts';
import { completion } from '../support/upstream.ts';

const ask = { model: 'acme/fast', messages: hello, max_tokens: 100 };
/** A request may cost 0.0008 USD; its answer costs 0.000016. */
const models = [
  { slug: 'acme/fast', endpoints: [{ provider: 'up', model: 'm', pricing: { prompt: '0', completion: '0.000008' } }] },
];
/** After 13 answers, 0.000208 is spent and the next request is refused. */
const limit_usd = 0.001;
const secret = `whsec_${Buffer.from('a secret of the tests, 32 bytes.').toString('base64')}`;

interface Told extends TestGateway {
  events: BudgetEvent[];
}

function telling(options: Partial<GatewayOptions> = {}, thresholds = [5, 10, 20, 90]): Told {
  const events: BudgetEvent[] = [];
  const budgetEvents = { thresholds, onEvent: (event: BudgetEvent) => events.push(event) };
  const test = testGateway({ models, budgetEvents, ...options });
  test.upstream.always({ body: completion() });
  return { ...test, events };
}

const limited = (test: TestGateway, interval = 'daily', limit = limit_usd) =>
  test.call('PUT', `/workspaces/default/budgets/${interval}`, { limit_usd: limit });

async function untilRefused(test: TestGateway, headers = {}): Promise<void> {
  for (;;) {
    if ((await test.post(ask, headers)).status !== 200) break;
    await test.clock.advance(1_000);
  }
  await test.clock.advance(1_000);
}

const shown = ({ type, threshold_percent: percent }: BudgetEvent) => (type === 'budget.refusal' ? 'refusal' : percent);

describe('the events of a budget', () => {
  it('are raised at each threshold and at the first refusal, once', async () => {
    const test = telling();
    await limited(test);
    await untilRefused(test);
    for (let n = 0; n < 3; n++) await test.post(ask);
    await test.clock.advance(10_000);
    expect(test.events.map(shown)).toEqual([5, 10, 20, 'refusal']);
    expect(test.events[0]).toEqual({
      id: expect.any(String),
      type: 'budget.threshold',
      created_at: expect.stringMatching(/^2026-01-01T/),
      workspace_id: defaultWorkspaceId,
      scope: 'workspace',
      api_key_hash: null,
      guardrail_id: null,
      interval: 'daily',
      threshold_percent: 5,
      limit_usd,
      spent_usd: 0.000064,
      held_usd: 0,
      resets_at: '2026-01-02T00:00:00.000Z',
    });
    expect(test.events.at(-1)).toMatchObject({
      type: 'budget.refusal',
      threshold_percent: null,
      spent_usd: 0.000208,
      limit_usd,
    });
    expect(new Set(test.events.map(({ id }) => id)).size).toBe(4);
  });
  it('are raised anew in the next interval, and where the limit is changed', async () => {
    const test = telling({}, [20]);
    await limited(test);
    await untilRefused(test);
    await test.clock.advance(86_400_000);
    await untilRefused(test);
    expect(test.events.map(shown)).toEqual([20, 'refusal', 20, 'refusal']);
    await limited(test, 'daily', 0.0009);
    await test.clock.advance(10_000);
    await test.post({ ...ask, max_tokens: 10 });
    await test.clock.advance(10_000);
    expect(test.events.map(shown)).toEqual([20, 'refusal', 20, 'refusal', 20]);
    expect(test.events.at(-1)).toMatchObject({ limit_usd: 0.0009 });
  });
  it('tell of the limit of a key, and of the budget of a guardrail', async () => {
    const test = telling({}, [20]);
    const made = await test.call('POST', '/keys', { name: 'k', limit: limit_usd, limit_reset: 'weekly' });
    const { json } = await test.call('POST', '/guardrails', { name: 'g', limit_usd, reset_interval: 'monthly' });
    const keys = { key_hashes: [made.json.data.hash] };
    await test.call('POST', `/guardrails/${json.data.id}/assignments/keys`, keys);
    await untilRefused(test, { authorization: `Bearer ${made.json.key}` });
    const common = { api_key_hash: made.json.data.hash, workspace_id: defaultWorkspaceId };
    const byInterval = test.events.toSorted((a, b) => a.interval.localeCompare(b.interval));
    expect(byInterval).toMatchObject([
      { ...common, type: 'budget.threshold', scope: 'guardrail', guardrail_id: json.data.id, interval: 'monthly' },
      { ...common, type: 'budget.refusal', scope: 'guardrail', guardrail_id: json.data.id, interval: 'monthly' },
      { ...common, type: 'budget.threshold', scope: 'key', guardrail_id: null, interval: 'weekly' },
    ]);
  });
  it('are not raised by an explanation, nor where nobody is to be told', async () => {
    const test = telling();
    await limited(test, 'daily', 0.0001);
    expect((await test.call('POST', '/chat/completions/explain', ask)).json.data.error.code).toBe(402);
    await test.clock.advance(10_000);
    expect(test.events).toEqual([]);
  });
  it('are raised once by all instances on a store, also after a new start', async () => {
    const store = new Keyv();
    const instances = [telling({ store }, [20]), telling({ store }, [20])];
    const [first, second] = instances as [Told, Told];
    await limited(first);
    for (let n = 0; n < 7; n++) for (const one of instances) await one.post(ask);
    for (const one of instances) await one.clock.advance(10_000);
    for (const one of instances) await one.post(ask);
    for (const one of instances) await one.clock.advance(10_000);
    expect([...first.events, ...second.events].map(shown).sort()).toEqual([20, 'refusal']);
    const third = telling({ store }, [20]);
    await third.post(ask);
    await third.clock.advance(10_000);
    expect(third.events).toEqual([]);
  });
  it('come before the gateway is closed', async () => {
    const test = telling({}, [1]);
    await limited(test);
    await test.post(ask);
    await test.clock.advance(1_000);
    await test.post(ask);
    await test.run(test.gateway.close());
    expect(test.events.map(shown)).toEqual([1]);
  });
  it('leave nothing behind of a workspace that is deleted', async () => {
    const values = new Map<string, string>();
    const store = new Keyv({ store: values });
    const test = telling({ store }, [1]);
    const { json } = await test.call('POST', '/workspaces', { name: 'Other', slug: 'other' });
    const made = await test.call('POST', '/keys', { name: 'k', workspace_id: json.data.id, limit: limit_usd });
    await test.post(ask, { authorization: `Bearer ${made.json.key}` });
    await test.clock.advance(1_000);
    expect(test.events).toHaveLength(1);
    expect([...values.keys()].some((key) => key.includes('budget-event'))).toBe(true);
    await test.call('DELETE', `/keys/${made.json.data.hash}`);
    expect((await test.call('DELETE', '/workspaces/other')).status).toBe(200);
    const left = [...values].filter(
      ([key, value]) => key.includes('budget-event') && !/^\{"value":(?:null|\[\])/.test(value),
    );
    expect(left.filter(([, value]) => value.includes('percent'))).toEqual([]);
  });
});

describe('the webhook', () => {
  /** A receiver that answers with these statuses, then with 204; `null`: it cannot be reached. */
  function receiver(statuses: (number | null)[] = []) {
    const got: { url: string; headers: Record<string, string>; body: string }[] = [];
    const fetch = (async (url: string, init: { headers: Record<string, string>; body: string }) => {
      got.push({ url, headers: init.headers, body: init.body });
      const status = statuses.shift();
      if (status === null) throw new Error(`connect ECONNREFUSED ${url} ${secret}`);
      return new Response(null, { status: status ?? 204 });
    }) as unknown as typeof globalThis.fetch;
    return { got, fetch };
  }

  function hooked(statuses: (number | null)[] = [], webhook: object = {}) {
    const { got, fetch } = receiver(statuses);
    const logged: string[] = [];
    const log = (fields: object, text: string) => void logged.push(`${JSON.stringify(fields)} ${text}`);
    const logger = { debug() {}, info() {}, warn: log, error: log };
    const test = testGateway({
      models,
      logger: logger as never,
      fetch,
      budgetEvents: { thresholds: [1, 2, 3], webhook: { url: 'https://hook.test/budgets', secret, ...webhook } },
    });
    test.upstream.always({ body: completion() });
    return { ...test, got, logged };
  }

  /** Moves the clock second by second, as far as the work on other threads lets it. */
  async function pass(test: TestGateway, seconds: number): Promise<void> {
    for (let second = 0; second < seconds; second++) {
      await test.clock.advance(1_000);
      while (cryptoWork.pending > 0) await nextTurn();
    }
    await test.clock.advance(0);
  }

  it('gets each event as JSON, signed as Standard Webhooks says', async () => {
    const test = hooked();
    await limited(test);
    await test.post(ask);
    await pass(test, 2);
    expect(test.got).toHaveLength(1);
    const [{ url, headers, body } = { url: '', headers: {} as Record<string, string>, body: '' }] = test.got;
    const event = JSON.parse(body) as BudgetEvent;
    expect([url, event.threshold_percent]).toEqual(['https://hook.test/budgets', 1]);
    expect(headers['webhook-id']).toBe(event.id);
    const signed = `${event.id}.${headers['webhook-timestamp']}.${body}`;
    const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
    expect(headers['webhook-signature']).toBe(`v1,${createHmac('sha256', key).update(signed).digest('base64')}`);
  });
  it('gets an event again where it fails, in order, until it takes it', async () => {
    const test = hooked([500, null, 429]);
    await limited(test, 'daily', 0.0016);
    await test.post(ask);
    await pass(test, 60);
    await test.post(ask);
    await pass(test, 60);
    const percents = test.got.map(({ body }) => JSON.parse(body).threshold_percent);
    expect(percents).toEqual([1, 1, 1, 1, 2]);
    expect(new Set(test.got.slice(0, 4).map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    expect(test.logged).toEqual([]);
  });
  it.each([
    ['refuses it', [400], 1],
    ['is never there', Array.from({ length: 10 }, () => null), 3],
  ])('that %s gets it no more, and the log says so without the address or the secret', async (_, statuses, times) => {
    const test = hooked(statuses, { maxRetries: 2 });
    await limited(test, 'daily', 0.0016);
    await test.post(ask);
    await pass(test, 600);
    expect(test.got).toHaveLength(times);
    expect(test.logged).toEqual([expect.stringContaining('an event of a budget was not delivered to the webhook')]);
    expect(test.logged.join()).not.toMatch(/hook\.test|whsec_/);
  });
  it('that is slow drops what does not fit, and closing does not wait for it for long', async () => {
    const pending = new Promise<Response>(() => undefined);
    const test = testGateway({
      models,
      fetch: (() => pending) as unknown as typeof fetch,
      budgetEvents: {
        thresholds: [1, 2, 3],
        webhook: { url: 'https://hook.test/', secret, maxWaiting: 1, timeoutMs: 900_000 },
      },
    });
    test.upstream.always({ body: completion() });
    await limited(test, 'daily', 0.0016);
    for (let n = 0; n < 3; n++) {
      await test.post(ask);
      await test.clock.advance(2_000);
    }
    const before = test.clock.now();
    await test.run(test.gateway.close());
    expect(test.clock.now() - before).toBeLessThanOrEqual(10_000);
  });
  it.each([
    [{ url: 'ftp://hook.test/', secret }, 'budgetEvents.webhook.url'],
    [{ url: 'https://hook.test/', secret: 'short' }, 'budgetEvents.webhook.secret'],
    [{ url: 'https://hook.test/' }, 'budgetEvents.webhook.secret'],
  ])('refuses %j at the start', (webhook, path) => {
    let error: unknown;
    try {
      testGateway({ budgetEvents: { webhook: webhook as never } });
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toBeInstanceOf(OptionsError);
    expect((error as OptionsError).issues[0]?.path).toBe(path);
    expect((error as OptionsError).message).not.toContain('whsec_YSBz');
  });
});
