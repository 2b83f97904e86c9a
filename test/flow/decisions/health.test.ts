import { describe, expect, it } from 'vitest';
import { sqliteStore } from '../../../adapters/sqlite/sqlite.ts';
import type { Target } from '../../../src/call/plan.ts';
import { createHealth, type Health, type HealthDeps, type Observation } from '../../../src/catalog/health/index.ts';
import { resolveOptions } from '../../../src/options.ts';
import { createHedging } from '../../../src/pipeline/attempt/patience.ts';
import { healthRecords } from '../../../src/stores/health-records.ts';
import { memoryLedger } from '../../../src/stores/ledger/memory.ts';
import { chooseStorage } from '../../../src/stores/storage/choose.ts';
import { memoryStorage } from '../../../src/stores/storage/memory.ts';
import { hello, nextTurn, type TestGateway, testGateway, testKey, upstreamKeys } from '../../support/gateway.ts';
import { type ManualClock, manualClock } from '../../support/manual-clock.ts';
import { newSqliteFile } from '../../support/race/stores.ts';
import { seeded } from '../../support/routing.ts';
import { chunk, completion, errorBody, sse, textStream } from '../../support/upstream.ts';

const ask = { model: 'acme/fast', messages: hello };
const failure = { status: 500, body: errorBody('Broken') };
const once = { retry: { maxAttempts: 1 } };
const key = 'up m';

/** What the endpoint of `acme/fast` is shown with. */
async function shown({ call }: TestGateway) {
  return (await call('GET', '/models/acme/fast/endpoints')).json.data.endpoints[0];
}

function healthOf(deps: Partial<HealthDeps> = {}): { health: Health; clock: ManualClock } {
  const clock = manualClock();
  return { clock, health: createHealth({ clock, ...deps }) };
}

function see(health: Health, count: number, seen: Observation, of = key): void {
  for (let n = 0; n < count; n++) health.observe(of, seen);
}

const ok = { outcome: 'ok' } as const;
const failed = { outcome: 'failed' } as const;
const limited = { outcome: 'limited' } as const;

/** Two instances on one store. */
function instances(): { clock: ManualClock; one: Health; two: Health; tell(): Promise<void> } {
  const clock = manualClock();
  const storage = memoryStorage(memoryLedger({ onLostHold: 'release' }));
  const records = healthRecords({ ...storage, kind: 'redis', isShared: true });
  if (records === null) throw new Error('Nothing is shared');
  const named = (name: string) => createHealth({ clock, sharing: { records, instance: () => name, logger: null } });
  const [one, two] = [named('one'), named('two')];
  return {
    clock,
    one,
    two,
    async tell() {
      for (let round = 0; round < 2; round++) {
        for (const health of [one, two]) health.view(clock.now());
        await clock.advance(2_000);
      }
    },
  };
}

const streaming = { model: 'acme/pair', messages: hello, stream: true, max_tokens: 100, provider: { order: ['up'] } };
const firstAfter = (waitMs: number) => ({ body: [{ waitMs }, ...textStream('Hi')] });

/** A stream whose first token comes after `slowMs`, and beside it another after 100 ms, if there is one. */
async function hedged(tested: TestGateway, slowMs: number, meanwhile?: () => Promise<void>): Promise<void> {
  tested.upstream.answer(firstAfter(slowMs), firstAfter(100));
  const pending = tested.send(streaming);
  for (let turn = 0; turn < 8; turn++) await nextTurn();
  await tested.clock.advance(1_050);
  await meanwhile?.();
  await tested.run(pending.then((response) => tested.run(response.text())));
}

const hedge = { enabled: true, afterMs: 1_000, maxShare: 1 };

describe('what is decided of health, hedging and explain', () => {
  it('What an outage is', async () => {
    const [percent, seconds] = [20, 30];
    const hasOutage = (fails: number, oks: number, limits = 0) => {
      const { health, clock } = healthOf();
      see(health, fails, failed);
      see(health, oks, ok);
      see(health, limits, limited);
      return health.view(clock.now()).hasOutage(key);
    };
    const oksOf = (fails: number) => (fails * (100 - percent)) / percent;
    expect([hasOutage(1, oksOf(1)), hasOutage(1, oksOf(1) + 1), hasOutage(2, oksOf(2))]).toEqual([true, false, true]);
    expect([hasOutage(0, 0), hasOutage(1, oksOf(1), 50), hasOutage(0, 0, 50)]).toEqual([false, true, false]);
    const { health, clock } = healthOf();
    see(health, 1, failed);
    await clock.advance((seconds - 5) * 1_000 - 1);
    expect(health.view(clock.now()).hasOutage(key)).toBe(true);
    await clock.advance(5_001);
    expect(health.view(clock.now()).hasOutage(key)).toBe(false);
  });
  it('When a stream counts', async () => {
    const start = sse(chunk({ content: 'Hi' }));
    const tested = testGateway(once);
    const stream = { ...ask, stream: true };
    for (let n = 0; n < 5; n++) {
      tested.upstream.answer({ body: [start, { breaks: true }] });
      expect((await tested.post(stream)).status).toBe(200);
    }
    expect((await tested.post(stream)).status).toBe(503);
    expect((await shown(tested)).uptime_last_5m).toBe(0);
    const open = testGateway(once);
    for (let n = 0; n < 5; n++) {
      open.upstream.answer({ body: [start, { waitMs: 1_000 }, sse(chunk({}, 'stop'), '[DONE]')] });
      const response = await open.run(open.send(stream));
      expect((await shown(open)).uptime_last_5m).toBe(null);
      await open.run(response.text());
    }
    expect((await shown(open)).uptime_last_5m).toBe(100);
  });
  it('What counts neither for nor against', async () => {
    const statuses = [429, 400, 404, 413, 422];
    for (const status of [...statuses, 500, 401]) {
      const tested = testGateway({ ...once, retry: { maxAttempts: 1, cooldownMs: 0 } });
      for (let n = 0; n < 5; n++) {
        tested.upstream.answer({ status, body: errorBody('No') });
        await tested.post(ask);
      }
      const counts = !statuses.includes(status);
      expect([status, (await shown(tested)).uptime_last_5m]).toEqual([status, counts ? 0 : null]);
      tested.upstream.answer({ body: completion() });
      expect([status, (await tested.post(ask)).status]).toEqual([status, counts ? 503 : 200]);
    }
  });
  it('Failures in a row', async () => {
    const [failures, firstS, mostS] = [5, 5, 60];
    const tested = testGateway(once);
    const { post, upstream, clock } = tested;
    const fail = async (status = 502) => {
      upstream.answer(failure);
      expect((await post(ask)).status).toBe(status);
    };
    for (let n = 1; n < failures; n++) await fail();
    upstream.answer({ body: completion() });
    expect((await post(ask)).status).toBe(200);
    for (let n = 0; n < failures; n++) await fail();
    for (let seconds = firstS, round = 0; round < 6; round++) {
      const { status, headers } = await post(ask);
      expect([status, headers.get('retry-after')]).toEqual([503, String(seconds)]);
      await clock.advance(seconds * 1_000);
      if (round < 5) await fail();
      seconds = Math.min(2 * seconds, mostS);
    }
    upstream.answer({ afterMs: 100, body: completion() });
    const probe = tested.send(ask);
    await clock.advance(0);
    upstream.always({ body: completion() });
    expect((await post({ ...ask, models: ['acme/other'] })).json.model).toBe('acme/other');
    expect((await post(ask)).status).toBe(503);
    expect((await tested.run(probe)).status).toBe(200);
    expect((await post(ask)).status).toBe(200);
  });
  it('A 429 to the attempt', async () => {
    const { health, clock } = healthOf();
    see(health, 5, failed);
    await clock.advance(5_000);
    expect([health.started(key), health.started(key)]).toEqual([true, false]);
    health.observe(key, limited);
    expect(health.view(clock.now()).cooldownUntil(key)).toBe(undefined);
    expect([health.started(key), health.started(key)]).toEqual([true, false]);
    health.observe(key, failed);
    expect(health.view(clock.now()).cooldownUntil(key)).toBe(clock.now() + 10_000);
  });
  it('What ends a rest early', async () => {
    const { health, clock } = healthOf();
    const untilMs = clock.now() + 60_000;
    health.started(key);
    health.coolDown(key, untilMs);
    health.observe(key, ok);
    expect(health.view(clock.now()).cooldownUntil(key)).toBe(untilMs);
    health.started(key);
    health.observe(key, ok);
    expect(health.view(clock.now()).cooldownUntil(key)).toBe(undefined);
  });
  it('`status` of an endpoint', async () => {
    const [half, most] = [50, 95];
    const statusOf = async (arrange: (health: Health, clock: ManualClock) => void | Promise<void>) => {
      const { health, clock } = healthOf();
      await arrange(health, clock);
      return health.statistics(key, clock.now()).status;
    };
    /** So many percent of a hundred, no five failures in a row, and no outage any more. */
    const uptime = (percent: number) => async (health: Health, clock: ManualClock) => {
      for (let n = 0; n < 100; n++) health.observe(key, (n * percent) % 100 < percent ? ok : failed);
      await clock.advance(60_000);
    };
    expect(await statusOf(() => undefined)).toBe('default');
    expect(await statusOf((health) => see(health, 5, failed))).toBe('down');
    expect([await statusOf(uptime(half - 1)), await statusOf(uptime(half))]).toEqual(['down', 'degraded']);
    expect([await statusOf(uptime(most - 1)), await statusOf(uptime(most))]).toEqual(['degraded', 'default']);
    expect(await statusOf((health) => see(health, 1, failed))).toBe('degraded');
    expect(await statusOf((health, clock) => health.coolDown(key, clock.now() + 9_000))).toBe('degraded');
    const rested = async (health: Health, clock: ManualClock) => {
      see(health, 5, failed);
      await clock.advance(360_000);
    };
    expect(await statusOf(rested)).toBe('degraded');
  });
  it('From how many on', async () => {
    const [least, leastP95] = [5, 20];
    const knownAfter = (count: number) => {
      const { health, clock } = healthOf();
      see(health, count, { outcome: 'ok', firstTokenMs: 10, tokensPerSecond: 10 });
      const { uptime5m, latency30m, throughput30m } = health.statistics(key, clock.now());
      const view = health.view(clock.now());
      const figures = [uptime5m, latency30m, throughput30m, view.latency(key), view.throughput(key)];
      return {
        all: figures.every((one) => one !== null),
        any: figures.some((one) => one !== null),
        p95: view.latencyP95(key),
      };
    };
    expect(knownAfter(least - 1)).toEqual({ all: false, any: false, p95: null });
    expect(knownAfter(least)).toEqual({ all: true, any: true, p95: null });
    expect([knownAfter(leastP95 - 1).p95, knownAfter(leastP95).p95]).toEqual([null, expect.any(Number)]);
  });
  it('How exact percentiles', async () => {
    const most = 0.19;
    const random = seeded(1);
    let worst = 0;
    const spread = Array.from({ length: 100 }, () =>
      Array.from({ length: 5 + Math.floor(random() * 50) }, () => 10 ** (1 + 3 * random())),
    );
    // Worst where all are the same, at an end of a bucket.
    const same = Array.from({ length: 100 }, (_, at) => new Array<number>(200).fill(10 * 1.01 ** at));
    for (const values of [...spread, ...same]) {
      const { health, clock } = healthOf();
      for (const firstTokenMs of values) health.observe(key, { firstTokenMs });
      const sorted = values.toSorted((a, b) => a - b);
      const told = health.statistics(key, clock.now()).latency30m;
      for (const [name, percent] of [
        ['p50', 50],
        ['p75', 75],
        ['p90', 90],
        ['p99', 99],
      ] as const) {
        const exact = sorted[Math.ceil((percent / 100) * sorted.length) - 1] as number;
        worst = Math.max(worst, Math.abs((told?.[name] ?? 0) - exact) / exact);
      }
    }
    expect(worst).toBeLessThan(most + 0.005);
    expect(worst).toBeGreaterThan(most - 0.02);
  });
  it("What a workspace's own credential meets", async () => {
    const tested = testGateway({
      retry: { maxAttempts: 1 },
      secrets: { current: 'a master secret of the tests, which is long enough' },
      providers: { groq: { apiKey: upstreamKeys.up, baseUrl: 'https://groq.test/v1', byok: true } },
      models: [{ slug: 'acme/fast', endpoints: [{ provider: 'groq', model: 'm' }] }],
    });
    const brought = await tested.call('POST', '/byok', { provider: 'groq', key: 'gsk-0123456789-0123456789' });
    expect(brought.status).toBe(201);
    tested.upstream.answer(...Array.from({ length: 5 }, () => failure));
    for (let n = 0; n < 5; n++) await tested.post(ask);
    expect(tested.upstream.sent.every(({ headers }) => headers.authorization?.includes('gsk-'))).toBe(true);
    expect(await shown(tested)).toMatchObject({ status: 'default', uptime_last_5m: null });
    tested.upstream.answer({ body: completion() });
    expect((await tested.post(ask)).status).toBe(200);
    expect(tested.upstream.sent.at(-1)?.headers.authorization).toContain(upstreamKeys.up);

    const { one, two, clock, tell } = instances();
    const ownKey = `${key} 7d44c1a8-6a0e-4a52-8ff5-9c5c4f1e9a10`;
    see(one, 5, { outcome: 'ok', firstTokenMs: 10 });
    see(one, 5, { outcome: 'ok', firstTokenMs: 10 }, ownKey);
    one.coolDown(ownKey, clock.now() + 60_000);
    await tell();
    const heard = two.view(clock.now());
    expect([heard.latency(key) === null, heard.latency(ownKey), heard.cooldownUntil(ownKey) === undefined]).toEqual([
      false,
      null,
      false,
    ]);
    const days = [key, ownKey].map((of) => two.statistics(of, clock.now()).uptime1d);
    expect(days).toEqual([100, null]);
  });
  it('Which instances tell each other', async () => {
    const options = { clock: manualClock(), timeoutMs: 250, onLostHold: 'charge' as const };
    const shares = (store: object | undefined) => healthRecords(chooseStorage(store, options)) !== null;
    // By their shape: what is behind them is not asked here.
    const away = () => Promise.reject(new Error('away'));
    const redis = { client: { sendCommand: away, connect: away }, createKeyPrefix: () => '' };
    const postgres = { uri: 'postgres://x.test', schema: 'public', table: 'keyv', query: away };
    const file = await newSqliteFile();
    const sqlite = sqliteStore({ path: file.at.path });
    expect([redis, postgres, sqlite].map(shares)).toEqual([true, true, true]);
    await sqlite.disconnect();
    await file.clear();
    const foreign = { opts: {}, get: away, set: away, delete: away, clear: away };
    expect([undefined, new Map(), foreign].map(shares)).toEqual([false, false, false]);

    const { one, two, clock, tell } = instances();
    see(one, 5, failed);
    await tell();
    expect(two.view(clock.now()).cooldownUntil(key)).toBeGreaterThan(clock.now());
    await clock.advance(5_000);
    expect([one.started(key), two.started(key), two.started(key)]).toEqual([true, true, false]);
  });
  it('When a stream is hedged', async () => {
    const [percent, samples, share, saved] = [95, 20, 5, 10];
    const off = testGateway();
    await hedged(off, 9_000);
    expect(off.upstream.sent).toHaveLength(1);
    for (const [slowMs, targets] of [
      [1_001, 2],
      [999, 1],
    ] as const) {
      const on = testGateway({ hedge });
      await hedged(on, slowMs);
      expect([slowMs, on.upstream.sent.length]).toEqual([slowMs, targets]);
    }
    const { health, clock } = healthOf();
    const settings = resolveOptions({ apiKeys: [{ key: testKey }], hedge: { enabled: true } }).hedge;
    expect([settings.afterMs, settings.maxShare]).toEqual([null, share / 100]);
    const hedging = createHedging(health, { ...settings, afterMs: 7_000 });
    const step = {
      endpoint: { providerSlug: 'up', tag: 'up', upstreamModel: 'm' },
      credential: { kind: 'operator' },
    } as Target;
    for (let n = 1; n <= 100; n++) {
      if (n === samples) expect(hedging.patienceMs(step, clock.now())).toBe(7_000);
      health.observe(key, { firstTokenMs: n <= percent ? 100 : 4_000 });
    }
    await clock.advance(1_000);
    expect(hedging.patienceMs(step, clock.now())).toBeLessThan(120);
    for (let n = 0; n < 1_000; n++) hedging.patienceMs(step, clock.now());
    const take = () => {
      let taken = 0;
      while (hedging.take()) taken++;
      return taken;
    };
    expect(take()).toBe(saved);
    for (let n = 0; n < 100; n++) hedging.patienceMs(step, clock.now());
    expect(Math.abs(take() - share)).toBeLessThanOrEqual(1);
  });
  it('What a hedged stream costs', async () => {
    const inBudget = async (limit_usd: number) => {
      const tested = testGateway({ hedge });
      await tested.call('PUT', '/workspaces/default/budgets/daily', { limit_usd });
      return tested;
    };
    const plenty = await inBudget(1);
    const { holdUsd } = await holdOf(plenty);
    let held = 0;
    await hedged(plenty, 9_000, async () => {
      held = await heldIn(plenty);
    });
    expect(held).toBeCloseTo(2 * holdUsd, 9);
    const [record] = plenty.records;
    expect(record?.attempts.map(({ provider, status }) => [provider, status])).toEqual([
      ['Up', 499],
      ['Alt', 200],
    ]);
    const late = record?.attempts[0]?.costNanoUsd ?? 0;
    // The model has a price for reasoning, which nobody would have seen.
    expect(late).toBe(Math.round(holdUsd * 1e9));
    // 10 tokens, and 2 of the answer at 8 micro-USD.
    expect(record?.costNanoUsd).toBe(late + 36_000);
    const scarce = await inBudget(1.5 * holdUsd);
    await hedged(scarce, 9_000);
    expect([scarce.upstream.sent.length, scarce.records[0]?.provider]).toEqual([1, 'Up']);
  });
  it('What `explain` answers', async () => {
    const tested = testGateway(once);
    const { call, upstream, post } = tested;
    const explain = async (fields: object) => {
      const { status, json } = await call('POST', '/chat/completions/explain', { ...ask, ...fields });
      return [status, status === 200 ? (json.data.error?.code ?? null) : json.error.code];
    };
    expect(await explain({})).toEqual([200, null]);
    expect(await explain({ provider: { only: ['nobody'] } })).toEqual([200, 404]);
    for (const mistaken of [{ model: 'no/such' }, { messages: 'Hello' }, { model: 'acme/fast:online' }]) {
      expect(await explain(mistaken)).toEqual([400, 400]);
      expect((await post({ ...ask, ...mistaken })).status).toBe(400);
    }
    const { holdUsd } = await holdOf(tested, { max_tokens: 100 });
    await call('PUT', '/workspaces/default/budgets/daily', { limit_usd: holdUsd * 1.000001 });
    for (let n = 0; n < 3; n++) expect(await explain({ max_tokens: 100 })).toEqual([200, null]);
    expect(await explain({ max_tokens: 10_000 })).toEqual([200, 402]);
    expect(upstream.sent).toHaveLength(0);
    upstream.answer({ body: completion() });
    expect((await post({ ...ask, max_tokens: 100 })).status).toBe(200);
    await call('DELETE', '/workspaces/default/budgets/daily');
    upstream.answer(...Array.from({ length: 5 }, () => failure));
    for (let n = 0; n < 5; n++) await post(ask);
    expect(await explain({})).toEqual([200, 503]);
  });
});

/** What would be held for a request. */
async function holdOf({ call }: TestGateway, fields: object = streaming): Promise<{ holdUsd: number }> {
  const { json } = await call('POST', '/chat/completions/explain', { ...ask, ...fields });
  return { holdUsd: json.data.candidates[0].ceiling_usd };
}

/** What is held in the default workspace today. */
async function heldIn({ gateway }: TestGateway): Promise<number> {
  const { budgets } = await gateway.explain(ask);
  return budgets[0]?.held_usd ?? 0;
}
