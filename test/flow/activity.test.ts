import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { sqliteStore } from '../../adapters/sqlite/sqlite.ts';
import { randomIds } from '../../src/base/ids.ts';
import { defaultWorkspaceId } from '../../src/call/workspace.ts';
import type { HostCaller } from '../../src/http/host-caller.ts';
import type { GatewayOptions } from '../../src/options.ts';
import type { Activity } from '../../src/schema/records/activity.ts';
import { recordSettingsSchema } from '../../src/schema/settings/records.ts';
import { memoryLedger } from '../../src/stores/ledger/memory.ts';
import { memoryStorage } from '../../src/stores/storage/memory.ts';
import { createVault } from '../../src/stores/vault/index.ts';
import type { CellName } from '../../src/telemetry/records/cell.ts';
import { createRecords } from '../../src/telemetry/records/records.ts';
import { segmentsOf } from '../../src/telemetry/records/sums.ts';
import { brittleStore } from '../support/brittle-store.ts';
import { randomBytes } from '../support/credentials.ts';
import { hello, type TestGateway, testGateway } from '../support/gateway.ts';
import { manualClock } from '../support/manual-clock.ts';
import { completion } from '../support/upstream.ts';

const folder = mkdtempSync(join(tmpdir(), 'gateway-activity-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const priced = { provider: 'up', model: 'm', pricing: { prompt: '0.000001', completion: '0.000008' } };
const ask = { model: 'acme/fast', messages: hello, max_tokens: 100 };

function open(options: Partial<GatewayOptions> = {}): TestGateway {
  const tested = testGateway({ ids: randomIds, records: { enabled: true }, ...options });
  tested.upstream.always({ body: completion() });
  return tested;
}

const activity = async (tested: TestGateway, query = '', headers = {}): Promise<Activity[]> => {
  const { status, json } = await tested.call('GET', `/activity${query}`, undefined, headers);
  expect(status).toBe(200);
  return json.data;
};

describe('GET /activity', () => {
  it('tells a user of the host app what he himself has asked, and nothing that only names him', async () => {
    const users: Record<string, HostCaller> = {
      ann: { permissions: ['inference'], userId: 'ann' },
      bob: { permissions: ['inference'], userId: 'bob' },
      nobody: { permissions: ['inference'] },
      boss: { permissions: ['management'], userId: 'boss' },
    };
    const tested = open({
      authenticate: (request) => users[request.headers.get('x-user') ?? ''] ?? null,
      apiKeys: undefined,
    });
    const as = (user: string) => ({ 'x-user': user });
    await tested.post(ask, as('ann'));
    await tested.post({ ...ask, model: 'acme/other' }, as('ann'));
    await tested.post(ask, as('bob'));
    // Whoever names another user has not asked in his name.
    await tested.post({ ...ask, user: 'ann' }, as('nobody'));
    await tested.post({ ...ask, user: 'ann' }, as('bob'));
    const costs = tested.records.map(({ costNanoUsd }) => costNanoUsd as number);
    const [all] = await activity(tested, '?group_by=none', as('ann'));
    expect([all?.requests, all?.cost_nano_usd]).toEqual([2, (costs[0] ?? 0) + (costs[1] ?? 0)]);
    const byModel = await activity(tested, '?group_by=time,model', as('ann'));
    expect(byModel.map(({ model, requests }) => [model, requests])).toEqual([
      ['acme/fast', 1],
      ['acme/other', 1],
    ]);
    const [every] = await activity(tested, '?group_by=none', as('boss'));
    expect(every?.requests).toBe(5);
    const statusOf = async (query: string, user: string) =>
      (await tested.call('GET', `/activity${query}`, undefined, as(user))).status;
    expect(await statusOf('?user=bob', 'ann')).toBe(403);
    expect(await statusOf('?user=ann&group_by=user', 'ann')).toBe(200);
    expect(await statusOf('?grain=hour', 'ann')).toBe(400);
    expect(await statusOf('', 'nobody')).toBe(403);
  });
  it('sums by day, model and provider what the records say, also those of a failure', async () => {
    const tested = open();
    for (const model of ['acme/fast', 'acme/fast', 'acme/other']) await tested.post({ ...ask, model });
    await tested.clock.advance(86_400_000);
    await tested.post(ask);
    tested.upstream.always({ status: 400, body: { error: { message: 'no' } } });
    await tested.post(ask);
    const costs = tested.records.map(({ costNanoUsd }) => costNanoUsd as number);
    const [first, second, third] = await activity(tested);
    expect(first).toMatchObject({
      date: '2026-01-01',
      model: 'acme/fast',
      provider_name: 'Up',
      requests: 2,
      failed: 0,
      cost_nano_usd: (costs[0] as number) + (costs[1] as number),
      prompt_tokens: 2 * (tested.records[0]?.usage?.prompt_tokens as number),
    });
    expect(second).toMatchObject({ date: '2026-01-01', model: 'acme/other', provider_name: 'Alt', requests: 1 });
    expect(third).toMatchObject({ date: '2026-01-02', requests: 2, failed: 1, cost_nano_usd: costs[3] });
    const [all, ...others] = await activity(tested, '?group_by=model&model=acme/fast');
    expect(others).toEqual([]);
    expect(all).toMatchObject({ date: null, provider_name: null, requests: 4, failed: 1 });
    expect(await activity(tested, '?date=2026-01-02')).toEqual([third]);
    expect(await activity(tested, '?from=2025-01-01&to=2025-12-31')).toEqual([]);
    for (const query of [
      '?group_by=users',
      '?sort=price',
      '?limit=0',
      '?limit=1001',
      '?date=today',
      '?from=2020-01-01',
      '?date=2026-01-01&to=2026-01-02',
    ])
      expect((await tested.call('GET', `/activity${query}`)).status).toBe(400);
  });
  it('sums by minute and hour what the records say, with errors, cache reads, percentiles and a running cost', async () => {
    const tested = open();
    await tested.post(ask);
    await tested.clock.advance(60_000);
    await tested.post(ask);
    tested.upstream.always({ status: 400, body: { error: { message: 'no' } } });
    await tested.post(ask);
    const times = (rows: Activity[]) => rows.map(({ time, requests, failed }) => [time, requests, failed]);
    const byMinute = await activity(tested, '?group_by=time&grain=minute');
    const [first = '', second = ''] = tested.records.map(({ receivedAtMs }) =>
      new Date(receivedAtMs - (receivedAtMs % 60_000)).toISOString(),
    );
    expect(times(byMinute)).toEqual([
      [first, 1, 0],
      [second, 2, 1],
    ]);
    const costs = tested.records.map(({ costNanoUsd }) => costNanoUsd as number);
    expect(byMinute.map(({ running_cost_nano_usd }) => running_cost_nano_usd)).toEqual([
      costs[0],
      costs.reduce((sum, cost) => sum + cost),
    ]);
    const failure = tested.records[2]?.error?.type as string;
    expect(byMinute.map(({ errors }) => errors)).toEqual([{}, { [failure]: 1 }]);
    const [all, ...others] = await activity(tested, '?group_by=none&grain=hour');
    expect(others).toEqual([]);
    expect(all).toMatchObject({ time: null, requests: 3, errors: { [failure]: 1 }, running_cost_nano_usd: null });
    const cached = tested.records.map(({ usage }) => usage?.prompt_tokens_details?.cached_tokens ?? 0);
    expect(all?.cached_tokens).toBe(cached.reduce((sum, tokens) => sum + tokens));
    const took = tested.records.filter(({ outcome }) => outcome === 'ok').map(({ totalMs }) => totalMs);
    expect(Math.abs((all?.duration_ms?.p99 ?? 0) - Math.max(...took))).toBeLessThanOrEqual(
      Math.max(...took) * 0.08 + 1,
    );
    expect(await activity(tested, `?group_by=time&grain=minute&to=${first}`)).toEqual([]);
    expect(await activity(tested, '?group_by=user')).toMatchObject([
      { requests: 3, errors: {}, duration_ms: null, first_token_ms: null },
    ]);
    for (const query of [
      '?grain=second',
      '?group_by=user&grain=hour',
      '?group_by=none,model',
      '?grain=minute&from=2025-12-30',
      '?grain=hour&from=2025-01-01',
    ])
      expect((await tested.call('GET', `/activity${query}`)).status).toBe(400);
  });
  it('has the same sums in each of its forms: by one name, by several, by the hour, by the day, and of the highest', async () => {
    const tested = open({
      apiKeys: [
        { key: 'sk-management-of-the-tests', permissions: ['management'] },
        { key: 'sk-web-0123456789', tags: ['web', 'eu'] },
        { key: 'sk-job-0123456789', tags: ['job'] },
      ],
    });
    for (let hour = 0; hour < 50; hour++) {
      const [key, model] = [hour % 3 ? 'web' : 'job', hour % 2 ? 'acme/fast' : 'acme/other'];
      await tested.post({ ...ask, model, user: `user-${hour % 4}` }, { authorization: `Bearer sk-${key}-0123456789` });
      await tested.clock.advance(3_600_000);
    }
    const management = { authorization: 'Bearer sk-management-of-the-tests' };
    const span = 'from=2026-01-01&to=2026-01-04';
    const rows = (query: string) => activity(tested, `?${span}&${query}`, management);
    const total = async (query: string) => {
      const found = await rows(query);
      const sum = (of: (row: Activity) => number) => found.reduce((all, row) => all + of(row), 0);
      return [sum(({ requests }) => requests), sum((row) => row.cost_nano_usd ?? 0), sum((row) => row.prompt_tokens)];
    };
    const whole = await total('group_by=none');
    expect(whole[0]).toBe(50);
    for (const groups of ['model', 'provider', 'key', 'user', 'time', 'day,model', 'model,provider', 'model,key,user'])
      expect(await total(`group_by=${groups}`), groups).toEqual(whole);
    for (const groups of ['none', 'model', 'provider', 'key', 'time', 'time,model', 'model,key'])
      expect(await total(`grain=hour&group_by=${groups}`), groups).toEqual(whole);
    const ofOne = 'model=acme/fast&group_by=';
    for (const groups of ['none', 'key', 'time', 'provider', 'user'])
      expect(await total(ofOne + groups), groups).toEqual(await total(`${ofOne}time&grain=hour`));
    const [all] = await rows('group_by=none');
    const [ofHours] = await rows('group_by=none&grain=hour');
    expect([ofHours?.duration_ms, ofHours?.first_token_ms]).toEqual([all?.duration_ms, all?.first_token_ms]);
    expect(all?.duration_ms).not.toBeNull();
    const named = async (query: string) => [...new Set((await rows(query)).map((row) => row.model ?? row.tag))];
    const [highest] = await rows('group_by=model&sort=usage');
    expect(await named('group_by=time,model&grain=hour&top=1')).toEqual([highest?.model]);
    expect(await total('group_by=time,model&grain=hour&top=1')).toEqual(
      await total('group_by=model&sort=usage&limit=1'),
    );
    expect(await total('group_by=model,key&top=1')).toEqual(await total('group_by=model,key&sort=usage&limit=1'));
    expect(await total('group_by=time,user&top=2&sort=requests')).toEqual(
      await total('group_by=user&sort=requests&limit=2'),
    );
    expect((await named('group_by=day,tag&top=2&sort=requests')).sort()).toEqual(['eu', 'web']);
    expect(await rows('group_by=time,model&top=3&model=acme/none')).toEqual([]);
    for (const query of ['?top=0', '?top=1001', '?top=many'])
      expect((await tested.call('GET', `/activity${query}`, undefined, management)).status).toBe(400);
  });
  it('names the user and the tag that cost most in one call', async () => {
    const tested = open({
      apiKeys: [
        { key: 'sk-management-of-the-tests', permissions: ['management'] },
        { key: 'sk-web-0123456789', tags: ['web', 'eu'] },
        { key: 'sk-job-0123456789', tags: ['job', 'eu'] },
      ],
    });
    const management = { authorization: 'Bearer sk-management-of-the-tests' };
    const rows = (query: string) => activity(tested, query, management);
    for (const [key, user, model] of [
      ['web', 'ann', 'acme/fast'],
      ['web', 'bob', 'acme/fast'],
      ['job', 'bob', 'acme/other'],
      ['job', undefined, 'acme/fast'],
    ])
      await tested.post({ ...ask, model, user }, { authorization: `Bearer sk-${key}-0123456789` });
    const [most, ...others] = await rows('?date=2026-01-01&group_by=user&sort=usage&limit=1');
    expect(others).toEqual([]);
    expect(most).toMatchObject({ user: 'bob', requests: 2, model: null, tag: null, date: null });
    const names = (sums: Activity[], name: 'user' | 'tag') => sums.map((sum) => [sum[name], sum.requests]);
    expect(names(await rows('?group_by=user&sort=requests'), 'user')).toEqual([
      ['bob', 2],
      ['ann', 1],
      [null, 1],
    ]);
    expect(names(await rows('?group_by=tag'), 'tag').sort()).toEqual([
      ['eu', 4],
      ['job', 2],
      ['web', 2],
    ]);
    expect(await rows('?group_by=user,model,tag&user=bob&tag=job')).toMatchObject([
      { user: 'bob', tag: 'job', model: 'acme/other', requests: 1 },
    ]);
    expect(await rows('?group_by=day&tag=eu')).toMatchObject([{ requests: 4, user: null, tag: null }]);
    const { json } = await tested.call('GET', '/generations?tag=job', undefined, management);
    expect([json.data.length, json.total_count]).toEqual([2, null]);
  });
  it('keeps the users who cost most where they are too many to tell apart, and loses no sum', async () => {
    const tested = open();
    await tested.post(ask);
    const [sample] = tested.records as [(typeof tested.records)[0]];
    const clock = manualClock();
    const records = createRecords({
      storage: memoryStorage(memoryLedger({ onLostHold: 'release' })),
      vault: createVault({ sealer: null, randomBytes }),
      clock,
      logger: null,
      settings: recordSettingsSchema().parse({ queueLength: 100_000 }),
      instance: () => 'one',
      bookLost: async () => undefined,
    });
    const count = 20_000;
    for (let at = 0; at < count; at++) {
      const isDear = at % 1_000 === 0;
      records.write({
        ...sample,
        id: `gen-${at}`,
        receivedAtMs: clock.now(),
        // Each dear one comes again and again, between 19,980 who come once with a model of their own.
        user: isDear ? `dear-${at}` : `user-${at}`,
        model: isDear ? 'acme/fast' : `acme/${at % 700}`,
        costNanoUsd: isDear ? 5_000_000 : 1_000,
      });
    }
    const startMs = clock.now() - (clock.now() % 86_400_000);
    const day = { grain: 'day', fromMs: startMs, toMs: startMs + 86_400_000 } as const;
    const rows = await records.sums.rows([defaultWorkspaceId], { ...day, names: new Set(['user', 'model']) });
    const cells = rows.flatMap((row) => row.cells);
    expect(cells.length).toBeLessThanOrEqual(32 * 64);
    expect(cells.filter(({ user }) => user?.startsWith('dear')).map(({ costNanoUsd }) => costNanoUsd)).toEqual(
      Array(20).fill(5_000_000),
    );
    expect(cells.reduce((sum, { costNanoUsd }) => sum + costNanoUsd, 0)).toBe(20 * 5_000_000 + 19_980 * 1_000);
    expect(cells.reduce((sum, { requests }) => sum + requests, 0)).toBe(count);
    await records.close();
  });
  it('shows null, and not 0, where no price is known', async () => {
    const models = [{ slug: 'acme/unpriced', endpoints: [{ provider: 'up', model: 'm' }] }];
    for (const [compat, amount] of [
      [undefined, null],
      ['openrouter', 0],
    ] as const) {
      const tested = open({ models, ...(compat && { compat }) });
      await tested.post({ ...ask, model: 'acme/unpriced' });
      const [id] = tested.records.map((record) => record.id);
      const { json } = await tested.call('GET', `/generation?id=${id}`);
      expect(json.data).toMatchObject({ total_cost: amount, usage: amount, cost_nano_usd: null });
      const list = await tested.call('GET', '/generations');
      expect(list.json.data).toMatchObject([{ total_cost: amount, usage: amount }]);
      expect(await activity(tested)).toMatchObject([{ usage: amount, requests: 1, unpriced: 1 }]);
    }
    const mixed = open({ models: [...models, { slug: 'acme/priced', endpoints: [priced] }] });
    for (const model of ['acme/unpriced', 'acme/priced']) await mixed.post({ ...ask, model });
    const [sum] = await activity(mixed, '?group_by=day');
    expect(sum).toMatchObject({ requests: 2, unpriced: 1, cost_nano_usd: mixed.records[1]?.costNanoUsd });
    expect(sum?.cost_nano_usd).toBeGreaterThan(0);
  });
  it('shows a workspace its own sums alone, and operators those of all', async () => {
    const tested = open();
    const workspaceOf = async (slug: string) =>
      (await tested.call('POST', '/workspaces', { name: slug, slug })).json.data.id;
    const keyOf = async (workspace_id: string) =>
      (await tested.call('POST', '/keys', { name: 'K', workspace_id, permissions: ['inference', 'management'] })).json;
    const [north, south] = [await workspaceOf('north'), await workspaceOf('south')];
    const [ofNorth, ofSouth] = [await keyOf(north), await keyOf(south)];
    const by = ({ key }: { key: string }) => ({ authorization: `Bearer ${key}` });
    await tested.post(ask, by(ofNorth));
    await tested.post(ask, by(ofNorth));
    await tested.post(ask, by(ofSouth));
    const ofAll = await activity(tested, '?group_by=workspace,key');
    expect(
      ofAll.map(({ workspace_id, api_key_hash, requests }) => [workspace_id, api_key_hash, requests]).sort(),
    ).toEqual(
      [
        [north, ofNorth.data.hash, 2],
        [south, ofSouth.data.hash, 1],
      ].sort(),
    );
    expect(await activity(tested, '?group_by=workspace', by(ofSouth))).toMatchObject([
      { workspace_id: south, requests: 1 },
    ]);
    const foreign = await tested.call('GET', `/activity?workspace_id=${north}`, undefined, by(ofSouth));
    expect(foreign.status).toBe(404);
  });
  it('adds the sums of two instances, and of one that was started again', async () => {
    const path = join(folder, 'two.db');
    const [first, second] = [open({ store: sqliteStore(path) }), open({ store: sqliteStore(path) })];
    for (const tested of [first, second, first]) {
      await tested.post(ask);
      await tested.run(tested.call('GET', '/activity'));
    }
    await first.gateway.close();
    const third = open({ store: sqliteStore(path) });
    await third.post(ask);
    expect(await activity(third, '?group_by=day')).toMatchObject([{ requests: 4 }]);
    expect((await third.call('GET', '/generations?outcome=ok&limit=1')).json).toMatchObject({ total_count: 4 });
    await second.gateway.close();
    await third.gateway.close();
  });
  it('also has what the queue had no room for', async () => {
    const { state, store } = brittleStore();
    const tested = open({ store, records: { enabled: true, queueLength: 2 } });
    await tested.post(ask);
    await tested.clock.advance(1_000);
    state.fault = () => Promise.reject(Object.assign(new Error('gone'), { code: 'ECONNREFUSED' }));
    for (let at = 0; at < 6; at++) expect((await tested.post(ask)).status).toBe(200);
    state.fault = null;
    await tested.clock.advance(5_000);
    expect(await activity(tested, '?group_by=day')).toMatchObject([{ requests: 7 }]);
    expect((await tested.call('GET', '/generations')).json.total_count).toBe(3);
    await tested.gateway.close();
  });
});

describe('sums', () => {
  it('are read with as many reads for 20,000 records as for a few', async () => {
    const readsFor = async (count: number) => {
      const clock = manualClock();
      const storage = memoryStorage(memoryLedger({ onLostHold: 'release' }));
      let reads = 0;
      let rows = 0;
      const counted = {
        ...storage,
        list: async (...given: Parameters<typeof storage.list>) => {
          reads++;
          const listed = await storage.list(...given);
          rows += listed.records.length;
          return listed;
        },
      };
      const settings = recordSettingsSchema().parse({ queueLength: 100_000 });
      const vault = createVault({ sealer: null, randomBytes });
      const bookLost = async () => undefined;
      const instance = () => 'one';
      const records = createRecords({ storage: counted, vault, clock, logger: null, settings, instance, bookLost });
      const { records: made, ...tested } = open();
      await tested.post(ask);
      const [sample] = made;
      for (let at = 0; at < count; at++)
        records.write({ ...(sample as (typeof made)[0]), id: `gen-${at}`, receivedAtMs: clock.now() + (at % 50) });
      await records.list(defaultWorkspaceId, {}, { offset: 0, limit: 1 });
      reads = 0;
      rows = 0;
      const dayMs = 86_400_000;
      const fromMs = clock.now() - (clock.now() % dayMs);
      const names = new Set<CellName>();
      const [day] = await records.sums.rows([defaultWorkspaceId], {
        grain: 'day',
        fromMs,
        toMs: fromMs + dayMs,
        names,
      });
      expect(day?.cells).toMatchObject([{ requests: count }]);
      const time = { fromMs: clock.now() - 3 * dayMs, toMs: clock.now() + 1 };
      const found = await records.sums.between([defaultWorkspaceId], { grain: 'minute', ...time, names });
      const cells = found.flatMap((row) => row.cells);
      expect(cells.reduce((total, { requests }) => total + requests, 0)).toBe(count);
      return { reads, rows };
    };
    const few = await readsFor(10);
    expect(await readsFor(20_000)).toEqual(few);
    expect(few.reads).toBeLessThan(20);
  });
  it('of a time are minutes, hours and days that leave nothing out', () => {
    const at = (text: string) => Date.parse(`2026-01-${text}:00Z`);
    const segments = segmentsOf(at('01T22:58'), at('04T02:03'), 0);
    expect(segments.map(({ grain }) => grain)).toEqual(['minute', 'hour', 'day', 'hour', 'minute']);
    expect(segments[0]?.fromMs).toBe(at('01T22:58'));
    expect(segments.at(-1)?.toMs).toBe(at('04T02:03'));
    for (const [index, { fromMs }] of segments.entries()) if (index > 0) expect(fromMs).toBe(segments[index - 1]?.toMs);
    expect(segmentsOf(at('01T22:58'), at('02T00:00'), at('03T00:00'))).toEqual([
      { grain: 'hour', fromMs: at('01T22:00'), toMs: at('02T00:00') },
    ]);
  });
});
