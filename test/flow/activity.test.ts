import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { sqliteStore } from '../../adapters/sqlite/sqlite.ts';
import { randomIds } from '../../src/base/ids.ts';
import { defaultWorkspaceId } from '../../src/call/workspace.ts';
import type { GatewayOptions } from '../../src/options.ts';
import type { Activity } from '../../src/schema/records/activity.ts';
import { recordSettingsSchema } from '../../src/schema/settings/records.ts';
import { memoryLedger } from '../../src/stores/ledger/memory.ts';
import { memoryStorage } from '../../src/stores/storage/memory.ts';
import { createVault } from '../../src/stores/vault/index.ts';
import { createRecords } from '../../src/telemetry/records/records.ts';
import { segmentsOf } from '../../src/telemetry/records/sums.ts';
import { brittleStore } from '../support/brittle-store.ts';
import { randomBytes } from '../support/credentials.ts';
import { hello, type TestGateway, testGateway } from '../support/gateway.ts';
import { manualClock } from '../support/manual-clock.ts';
import { completion } from '../support/upstream.ts';

const folder = mkdtempSync(join(tmpdir(), 'gateway-activity-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

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
    for (const query of ['?group_by=user', '?date=today', '?from=2020-01-01', '?date=2026-01-01&to=2026-01-02'])
      expect((await tested.call('GET', `/activity${query}`)).status).toBe(400);
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
      const [day] = await records.sums.days(defaultWorkspaceId, clock.now(), clock.now() + dayMs);
      expect(day?.cells).toMatchObject([{ requests: count }]);
      const cells = await records.sums.between(defaultWorkspaceId, clock.now() - 3 * dayMs, clock.now() + 1);
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
