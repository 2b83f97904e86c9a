import fc from 'fast-check';
import { Keyv } from 'keyv';
import { describe, expect, it } from 'vitest';
import { sqliteStore } from '../../adapters/sqlite/sqlite.ts';
import { randomIds } from '../../src/base/ids.ts';
import { intervals, windowOf } from '../../src/base/windows.ts';
import { defaultWorkspaceId } from '../../src/call/workspace.ts';
import { createGateway } from '../../src/gateway.ts';
import type { GatewayOptions } from '../../src/options.ts';
import type { Ledger } from '../../src/stores/ledger/ledger.ts';
import { memoryLedger } from '../../src/stores/ledger/memory.ts';
import { sqliteLedger } from '../../src/stores/ledger/sqlite.ts';
import type { Transport } from '../../src/transport/transport.ts';
import {
  chatRequest,
  drive,
  hello,
  managementKey,
  nextTurn,
  type TestGateway,
  testGateway,
  upstreamKeys,
} from '../support/gateway.ts';
import { manualClock } from '../support/manual-clock.ts';
import { runs } from '../support/runs.ts';
import { type Process, processOn } from '../support/sums/instance.ts';
import {
  chunk,
  completion,
  errorBody,
  type ScriptedAnswer,
  scriptedUpstream,
  sse,
  textStream,
} from '../support/upstream.ts';

/** USD per token: a prompt token costs 1,000 nano-USD, one of the completion 8,000. */
const pricing = { prompt: '0.000001', completion: '0.000008' };
const endpoint = (provider: string) => ({ provider, model: 'm', pricing });
const models = [{ slug: 'acme/pair', endpoints: [endpoint('up'), endpoint('alt')] }];
const maxTokens = 100;
const leaseMs = 60_000;
/** A prompt of 10 tokens and 2 of output, as the scripted upstream reports. */
const wholeNanoUsd = 10 * 1_000 + 2 * 8_000;
/** What a provider bills at most that goes on without anybody listening. */
const mostNanoUsd = 10 * 1_000 + maxTokens * 8_000;

/** What becomes of a call, and what the provider bills for it. `opens`: it goes on until `release`. */
interface Fate {
  answers: (release: Promise<void>) => ScriptedAnswer[];
  billNanoUsd: number;
  isStream: boolean;
  opens?: true;
  /** The client leaves. */
  leaves?: true;
}

const opening = sse(chunk({ role: 'assistant', content: '' }), chunk({ content: 'Hel' }));
const fates = {
  complete: { answers: () => [{ body: completion() }], billNanoUsd: wholeNanoUsd, isStream: false },
  streamed: { answers: () => [{ body: textStream('Hel', 'lo') }], billNanoUsd: wholeNanoUsd, isStream: true },
  refused: {
    answers: () => [
      { status: 400, body: errorBody('no') },
      { status: 400, body: errorBody('no') },
    ],
    billNanoUsd: 0,
    isStream: false,
  },
  'fails and falls back': {
    answers: () => [{ status: 500, body: errorBody('down') }, { body: completion() }],
    billNanoUsd: wholeNanoUsd,
    isStream: false,
  },
  'breaks before its headers and falls back': {
    answers: () => [{ body: [{ breaks: true }] }, { body: textStream('Hello') }],
    billNanoUsd: wholeNanoUsd + 10 * 1_000,
    isStream: true,
  },
  'is never reached': { answers: () => [{ instead: 'refuse' }, { instead: 'refuse' }], billNanoUsd: 0, isStream: true },
  'breaks in the middle': {
    answers: () => [{ body: [opening, { breaks: true }] }],
    billNanoUsd: 10 * 1_000 + 8_000,
    isStream: true,
  },
  'is left before its headers': {
    answers: () => [{ instead: 'hang' }],
    billNanoUsd: 10 * 1_000,
    isStream: true,
    leaves: true,
  },
  'is left in the middle': {
    answers: (release) => [{ body: [opening, { until: release }] }],
    billNanoUsd: 10 * 1_000 + 8_000,
    isStream: true,
    leaves: true,
  },
  'is late, and hedged': {
    answers: () => [{ body: [{ waitMs: 3_000 }, ...textStream('Hello')] }, { body: textStream('Hello') }],
    billNanoUsd: wholeNanoUsd + 10 * 1_000,
    isStream: true,
  },
  'is open before its headers': {
    answers: (release) => [{ body: [{ until: release }, ...textStream('Hello')] }],
    billNanoUsd: wholeNanoUsd,
    isStream: true,
    opens: true,
  },
  'is open in the middle': {
    answers: (release) => [{ body: [opening, { until: release }, ...textStream('lo').slice(1)] }],
    billNanoUsd: wholeNanoUsd,
    isStream: true,
    opens: true,
  },
  'is open as JSON': {
    answers: (release) => [
      { body: [{ until: release }, JSON.stringify(completion())], headers: { 'content-type': 'application/json' } },
    ],
    billNanoUsd: wholeNanoUsd,
    isStream: false,
    opens: true,
  },
} satisfies Record<string, Fate>;
type FateName = keyof typeof fates;

type Step =
  | { kind: 'call'; fate: FateName; by: 'first' | 'second' }
  | { kind: 'pass'; ms: number }
  | { kind: 'ledger fails'; by: 'first' | 'second'; calls: number };

interface Scenario {
  limited: readonly (typeof intervals)[number][];
  keyLimit: { limit_reset: string | null } | null;
  steps: readonly Step[];
  /** What the first instance does while its calls are open. */
  end: 'dies' | 'stalls and comes back' | 'lives';
  /** So many turns of the event loop after the last call; null: when all is written. */
  turnsToEnd: number | null;
}

const by = fc.constantFrom('first' as const, 'second' as const);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('call' as const),
      fate: fc.constantFrom(...(Object.keys(fates) as FateName[])),
      by,
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('pass' as const), ms: fc.constantFrom(1, 1_500, 25_000) }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('ledger fails' as const), by, calls: fc.integer({ min: 1, max: 3 }) }),
  },
);
const scenario: fc.Arbitrary<Scenario> = fc.record({
  limited: fc.subarray([...intervals], { minLength: 1 }),
  keyLimit: fc.option(fc.record({ limit_reset: fc.constantFrom(null, 'daily', 'monthly') })),
  steps: fc.array(step, { minLength: 1, maxLength: 8 }),
  end: fc.constantFrom('dies', 'stalls and comes back', 'lives'),
  turnsToEnd: fc.option(fc.nat(12)),
});

const stores = {
  memory: (now: () => number) => ({
    store: new Keyv(),
    ledger: memoryLedger({ onLostHold: 'charge', now }),
    close: async () => undefined,
  }),
  SQLite: (now: () => number) => {
    const store = sqliteStore(':memory:');
    return {
      store,
      ledger: sqliteLedger(store.database, { onLostHold: 'charge', now }),
      close: () => store.disconnect(),
    };
  },
};

async function play(
  open: (typeof stores)[keyof typeof stores],
  { limited, keyLimit, steps, end, turnsToEnd }: Scenario,
) {
  const clock = manualClock();
  const upstream = scriptedUpstream(clock);
  const { store, ledger, close } = open(() => clock.now());
  /** Of the call that was made last: of one that is refused before it is sent, no answer is left for the next. */
  let script: ScriptedAnswer[] = [];
  const transport: Transport = {
    send(request) {
      upstream.answer(script.shift() ?? { status: 400, body: errorBody('Nothing is scripted') });
      return upstream.transport.send(request);
    },
  };
  const shared = { clock, ledger: ledger as Ledger, transport };
  const instance = ({ clock, ledger, transport }: Process) =>
    createGateway({
      providers: {
        up: { baseUrl: 'https://up.test/v1', apiKey: upstreamKeys.up, name: 'Up' },
        alt: { baseUrl: 'https://alt.test/v1', apiKey: upstreamKeys.alt, name: 'Alt' },
      },
      models,
      apiKeys: [{ key: managementKey, permissions: ['management'] }],
      records: { enabled: true },
      hedge: { enabled: true, afterMs: 1_000, maxShare: 1 },
      health: { failuresToCooldown: 1_000 },
      timeouts: { totalMs: 600_000, idleMs: 600_000 },
      random: () => 0.5,
      ids: randomIds,
      store,
      clock,
      ledger,
      transport,
    });
  const processes = { first: processOn(shared), second: processOn(shared) };
  const gateways = { first: instance(processes.first), second: instance(processes.second) };
  const run = <T>(promise: Promise<T>) => drive(clock, promise, () => upstream.sent.length);
  const manage = async (method: string, path: string, body?: object, gateway = gateways.second) => {
    const request = new Request(`http://gateway.test/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${managementKey}`, 'content-type': 'application/json' },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    const response = await run(gateway.fetch(request));
    const json = await run(response.json());
    expect({ path, status: response.status < 300, json }).toMatchObject({ status: true });
    return json;
  };

  for (const interval of limited) await manage('PUT', `/workspaces/default/budgets/${interval}`, { limit_usd: 10 });
  const created = await manage('POST', '/keys', { name: 'k', ...(keyLimit ? { ...keyLimit, limit: 10 } : {}) });
  const { hash } = created.data;
  const headers = { authorization: `Bearer ${created.key}` };
  const opens: { by: 'first' | 'second'; release: () => void; response: Promise<unknown> }[] = [];
  let calls = 0;
  let billNanoUsd = 0;

  for (const one of steps) {
    if (one.kind === 'pass') await clock.advance(one.ms);
    else if (one.kind === 'ledger fails') processes[one.by].failLedger(one.calls);
    else {
      const fate: Fate = fates[one.fate];
      let release: () => void = () => undefined;
      const released = new Promise<void>((resolve) => {
        release = resolve;
      });
      const before = upstream.sent.length;
      script = fate.answers(released);
      const leaving = new AbortController();
      const body = {
        model: 'acme/pair',
        messages: hello,
        max_tokens: maxTokens,
        stream: fate.isStream,
        user: `u${calls % 3}`,
      };
      calls++;
      const response = gateways[one.by]
        .fetch(chatRequest(body, headers, leaving.signal))
        .then((given) => given.text())
        .catch(() => undefined);
      if (fate.opens || fate.leaves) for (let turn = 0; turn < 8; turn++) await nextTurn();
      if (fate.leaves) leaving.abort(new Error('The client leaves'));
      if (fate.opens) opens.push({ by: one.by, release, response });
      else await run(response);
      if (upstream.sent.length === before) continue;
      const isNeverHeard = fate.opens && end === 'dies' && one.by === 'first';
      billNanoUsd += isNeverHeard ? mostNanoUsd : fate.billNanoUsd;
    }
  }

  for (const one of Object.values(processes)) one.failLedger(0);
  // The records of a store in memory die with their process.
  const isWritten = turnsToEnd === null || open === stores.memory;
  if (isWritten) await clock.advance(5_000);
  for (let turn = 0; turn < (isWritten ? 8 : turnsToEnd); turn++) await nextTurn();
  if (end !== 'lives') processes.first.stop();
  for (const { by: who, release, response } of opens) {
    if (who === 'first' && end !== 'lives') continue;
    release();
    await run(response);
  }
  await clock.advance(leaseMs + 1);
  // Two at once see that the holds of the first are lost.
  const third = instance(processOn(shared));
  await Promise.all([manage('GET', '/activity'), manage('GET', '/activity', undefined, third)]);
  for (let turn = 0; turn < 8; turn++) await nextTurn();
  if (end !== 'dies') {
    // The holds of one that stalls are lost meanwhile, as the second sees.
    await manage('GET', `/keys/${hash}`);
    await manage('GET', '/activity');
    processes.first.wake();
    for (const { release, response } of opens) {
      release();
      await run(response);
    }
    await clock.advance(40_000);
    for (let turn = 0; turn < 8; turn++) await nextTurn();
  }

  const nano = (usd: number) => Math.round(usd * 1e9);
  const key = (await manage('GET', `/keys/${hash}`)).data;
  const budgets = (await manage('GET', '/workspaces/default/budgets')).data as { spent_usd: number }[];
  const listed = (await manage('GET', '/generations?limit=100')).data as {
    cost_nano_usd: number;
    api_key_hash: string;
    external_user: string | null;
  }[];
  const byUser = (await manage('GET', '/activity?group_by=user')).data as {
    cost_nano_usd: number;
    requests: number;
    user: string | null;
  }[];
  const activity = (await manage('GET', `/activity?group_by=day,key&api_key_hash=${hash}`)).data as {
    cost_nano_usd: number;
    requests: number;
  }[];
  const nowMs = clock.now();
  const windows = ['workspace', `key:${hash}`].flatMap((account) =>
    intervals.map((interval) => ({ account, interval, ...windowOf(interval, nowMs) })),
  );
  const states = await run(ledger.read(defaultWorkspaceId, windows));
  const records = listed.reduce((sum, { cost_nano_usd }) => sum + cost_nano_usd, 0);
  const found = {
    records,
    calls: listed.length,
    byKey: listed.every(({ api_key_hash }) => api_key_hash === hash),
    activity: activity.reduce((sum, { cost_nano_usd }) => sum + cost_nano_usd, 0),
    requests: activity.reduce((sum, { requests }) => sum + requests, 0),
    byUser: Object.fromEntries(byUser.map((row) => [row.user, [row.requests, row.cost_nano_usd]])),
    key: [key.usage, key.usage_daily, key.usage_weekly, key.usage_monthly].map(nano),
    budgets: budgets.map(({ spent_usd }) => nano(spent_usd)),
    ledger: states.map(({ spentNanoUsd }) => spentNanoUsd),
    held: states.reduce((sum, { heldNanoUsd }) => sum + heldNanoUsd, 0),
  };
  const wanted = {
    records,
    // What has cost nothing may be lost.
    calls: isWritten || end !== 'dies' ? calls : listed.length,
    byKey: true,
    activity: records,
    requests: listed.length,
    byUser: Object.fromEntries(
      [...Map.groupBy(listed, ({ external_user }) => external_user)].map(([user, of]) => [
        user,
        [of.length, of.reduce((sum, { cost_nano_usd }) => sum + cost_nano_usd, 0)],
      ]),
    ),
    key: Array(4).fill(records),
    budgets: Array(limited.length).fill(records),
    ledger: Array(8).fill(records),
    held: 0,
  };
  if (end !== 'dies') processes.first.wake();
  await run(Promise.all([gateways.second.close(), third.close()]));
  await close();
  return { found, wanted, billNanoUsd };
}

describe('the sums of records, activity, key, workspace and budgets', () => {
  it.each(Object.entries(stores))(
    'are one sum, to the nano-dollar, and no less than the bill, whatever fails and whoever dies: %s',
    async (_, open) => {
      await fc.assert(
        fc.asyncProperty(scenario, async (one) => {
          const { found, wanted, billNanoUsd } = await play(open, one);
          expect(found).toEqual(wanted);
          expect(found.records).toBeGreaterThanOrEqual(billNanoUsd);
        }),
        { numRuns: runs(12, 200), seed: runs(1, Date.now() % 1e9), endOnFailure: true },
      );
    },
    600_000,
  );
});

/** USD per token, as above, of a provider that workspaces bring a key for. */
const byokModels = [{ slug: 'groq/llama', endpoints: [{ provider: 'groq', model: 'llama', pricing }] }];

/** What the sums say of a workspace with one key, in nano-USD. */
async function sumsOf(tested: TestGateway, hash: string) {
  const get = async (path: string) => (await tested.call('GET', path)).json.data;
  const [key, listed, activity] = [
    await get(`/keys/${hash}`),
    await get('/generations'),
    await get('/activity?group_by=key'),
  ];
  const sum = (rows: Record<string, number>[], field: string) =>
    rows.reduce((total, row) => total + (row[field] as number), 0);
  const nano = (usd: number) => Math.round(usd * 1e9);
  return {
    usage: nano(key.usage),
    byok: nano(key.byok_usage),
    records: sum(listed, 'cost_nano_usd'),
    activity: sum(activity, 'cost_nano_usd'),
    activityOfByok: nano(sum(activity, 'byok_usage_inference')),
  };
}

async function withKey(options: Partial<GatewayOptions>) {
  const tested = testGateway({
    secrets: { current: 'a master secret of the tests, which is long enough' },
    records: { enabled: true },
    ...options,
  });
  await tested.call('PUT', '/workspaces/default/budgets/daily', { limit_usd: 1 });
  const { json } = await tested.call('POST', '/keys', { name: 'k' });
  return { ...tested, hash: json.data.hash as string, headers: { authorization: `Bearer ${json.key}` } };
}

describe('what is spent with a credential of the workspace', () => {
  it.each([
    ['and served by it', [{ body: textStream('Hello') }], { usage: 0, byok: wholeNanoUsd }],
    [
      'and served by the operator’s after it broke',
      [{ body: [{ breaks: true }] }, { status: 401, body: errorBody('no') }, { body: textStream('Hello') }],
      { usage: wholeNanoUsd, byok: expect.toSatisfy((spent: number) => spent > 0) },
    ],
    [
      'and never served',
      [{ body: [{ breaks: true }] }, { status: 400, body: errorBody('no') }, { status: 400, body: errorBody('no') }],
      { usage: 0, byok: expect.toSatisfy((spent: number) => spent > 0) },
    ],
  ] satisfies [string, ScriptedAnswer[], object][])(
    'is in the records and in the sums as it is booked: %s',
    async (_, answers, booked) => {
      const groq = { apiKey: upstreamKeys.up, byok: true };
      const tested = await withKey({ providers: { groq }, models: byokModels });
      expect((await tested.call('POST', '/byok', { provider: 'groq', key: 'gsk-own-0123456789' })).status).toBe(201);
      tested.upstream.answer(...answers);
      const ask = { model: 'groq/llama', messages: hello, max_tokens: maxTokens, stream: true };
      await tested.run(tested.send(ask, tested.headers).then((response) => response.text()));
      const sums = await sumsOf(tested, tested.hash);
      expect(sums).toMatchObject(booked);
      expect(sums).toMatchObject({
        records: sums.usage + sums.byok,
        activity: sums.records,
        activityOfByok: sums.byok,
      });
    },
  );
});

describe('a failed attempt whose successor has no known price', () => {
  it('is in the records and in the sums as it is booked', async () => {
    const tested = await withKey({
      budgets: { unknownPrice: 'allow' },
      models: [{ slug: 'acme/pair', endpoints: [endpoint('up'), { provider: 'alt', model: 'free' }] }],
    });
    tested.upstream.answer({ body: [{ breaks: true }] }, { body: textStream('Hello') });
    const ask = { model: 'acme/pair', messages: hello, max_tokens: maxTokens, stream: true };
    await tested.run(tested.send(ask, tested.headers).then((response) => response.text()));
    const { usage, records, activity } = await sumsOf(tested, tested.hash);
    expect(usage).toBeGreaterThan(0);
    expect({ records, activity }).toEqual({ records: usage, activity: usage });
  });
});
