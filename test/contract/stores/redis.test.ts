import { randomUUID } from 'node:crypto';
import KeyvRedis, { createClient } from '@keyv/redis';
import { Keyv } from 'keyv';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { keepEndedMs, keepWindowsMs, type LedgerOptions, maxSettled } from '../../../src/stores/ledger/ledger.ts';
import type { RedisAdapter } from '../../../src/stores/storage/redis/client.ts';
import { redisStorage } from '../../../src/stores/storage/redis/redis.ts';
import { isLongRun } from '../../support/runs.ts';
import { describeWithOwnRedis, describeWithRedis } from '../../support/services.ts';
import { type StartedService, startRedis } from '../../support/start-service.ts';
import { storeClock } from '../../support/timed-ledger.ts';
import { testConversations } from './conversations.ts';
import { limited, newWorkspace, noonMs, testLedger } from './ledger.ts';
import { testRates } from './rates.ts';
import { testStorage } from './storage.ts';
import { testStoredResponses } from './stored-responses.ts';
import { testSweep } from './sweep.ts';

const options: LedgerOptions = { onLostHold: 'charge' };

describeWithRedis('on Redis', (url) => {
  const namespace = `model-gateway-test-${randomUUID()}`;
  afterAll(async () => {
    const client = await createClient({ url: await url() }).connect();
    for await (const keys of client.scanIterator({ MATCH: `${namespace}*`, COUNT: 1000 })) {
      if (keys.length > 0) await client.unlink(keys);
    }
    client.destroy();
  });

  async function open(ledgerOptions: Partial<LedgerOptions> = {}) {
    const adapter = new KeyvRedis(await url(), { namespace });
    const storage = redisStorage(adapter, { ...options, ...ledgerOptions });
    return { storage, ledger: storage.ledger, rates: storage.rates, close: () => storage.close() };
  }

  testStorage('redis', open);
  testSweep('redis', open);
  testStoredResponses('redis', open);
  testConversations('redis', open);
  testLedger('redis', open);
  testRates('rates: redis', open);
});

// What is counted is counted on a server that nobody else uses.
describeWithOwnRedis('on a Redis of its own', (program) => {
  let server: StartedService;
  let client: ReturnType<typeof createClient>;
  const opened: { close(): Promise<unknown> }[] = [];
  beforeAll(async () => {
    server = await startRedis(program);
    client = createClient({ url: server.url });
    await client.connect();
  });
  afterEach(async () => {
    for (const { close } of opened.splice(0)) await close();
  });
  afterAll(async () => {
    client?.destroy();
    await server?.stop();
  });

  const { now, timed } = storeClock(noonMs);
  function openOn(adapter: RedisAdapter = new KeyvRedis(server.url)) {
    const storage = redisStorage(adapter, { ...options, now });
    opened.push({ close: () => storage.close() });
    return storage;
  }

  /** Records under an id, in a partition of its own. */
  function place(partition = `p${randomUUID()}`) {
    return { partition, at: (id: string, kind = 'thing') => ({ partition, kind, id }) };
  }

  /** A workspace with two windows, and what its seven keys hold. */
  function tenant(storage = openOn()) {
    const workspaceId = newWorkspace();
    const windows = [limited('daily', 1e6), limited('lifetime', 1e6)];
    const ledger = timed(storage.ledger);
    const key = (name: string) => `{${workspaceId}}:ledger:${name}`;
    return {
      ledger,
      workspaceId,
      windows,
      key,
      async hold(id: string = randomUUID(), { nowMs = noonMs, leaseMs = 60_000 } = {}) {
        const request = { id, workspaceId, amountNanoUsd: 10, windows, nowMs, leaseUntilMs: nowMs + leaseMs };
        expect(await ledger.hold(request)).toEqual({ isHeld: true });
        return id;
      },
      async sizes() {
        const [windows, holds, expired] = await Promise.all(
          ['windows', 'holds', 'expired'].map((n) => client.hLen(key(n))),
        );
        const [ends, leases, ended, settled] = await Promise.all(
          ['ends', 'leases', 'ended', 'settled'].map((n) => client.zCard(key(n))),
        );
        return { windows, ends, holds, leases, ended, expired, settled };
      },
    };
  }

  /** What the server ran meanwhile, but for what asks it. */
  async function commandsOf(work: () => Promise<unknown>): Promise<Record<string, number>> {
    await client.configResetStat();
    await work();
    const calls: Record<string, number> = {};
    for (const [, name, count] of (await client.info('commandstats')).matchAll(/cmdstat_([^:]+):calls=(\d+)/g)) {
      if (name !== 'info' && !name?.startsWith('config')) calls[name as string] = Number(count);
    }
    return calls;
  }

  it.runIf(isLongRun)(
    'lists 1,000 records among 200,000 foreign keys in one short script',
    async () => {
      const foreign = `for i = ARGV[1], ARGV[2] do redis.call('SET', 'foreign:' .. i, i) end`;
      for (let from = 1; from < 200_000; from += 20_000) {
        await client.eval(foreign, { keys: [], arguments: [`${from}`, `${from + 19_999}`] });
      }
      expect(await client.dbSize()).toBeGreaterThanOrEqual(200_000);
      const storage = openOn();
      const { partition, at } = place();
      for (let from = 0; from < 1_000; from += 100) {
        await storage.commit(
          Array.from({ length: 100 }, (_, n) => ({ at: at(`id-${from + n}`), value: 'x'.repeat(500), rank: from + n })),
        );
      }
      const list = () => storage.list(partition, 'thing', { offset: 0, limit: 1_000 });
      await list();
      const calls = await commandsOf(async () => {
        const { records, total } = await list();
        expect([records.length, total, records[999]?.id]).toEqual([1_000, 1_000, 'id-999']);
      });
      // No scan, and one round trip.
      expect(calls).toEqual({ evalsha: 1, zcard: 1, zrange: 1, hget: 1_000 });
      const startedMs = performance.now();
      for (let n = 0; n < 10; n++) await list();
      expect((performance.now() - startedMs) / 10).toBeLessThan(100);
    },
    30_000,
  );

  it('needs one round trip for each step of a ledger', async () => {
    const { ledger, workspaceId, windows, hold } = tenant();
    const ids = [await hold(), await hold(), await hold()] as const;
    await ledger.read(workspaceId, windows, noonMs);
    const warm = async (step: () => Promise<unknown>) => {
      await step();
      return (await commandsOf(step)).evalsha;
    };
    expect(await warm(() => hold())).toBe(1);
    expect(await warm(() => ledger.settle(workspaceId, ids[0], 5, noonMs))).toBe(1);
    expect(await warm(() => ledger.release(workspaceId, ids[1], noonMs))).toBe(1);
    expect(await warm(() => ledger.renew(workspaceId, ids, noonMs + 1e6))).toBe(1);
    expect(await warm(() => ledger.add(workspaceId, randomUUID(), [{ window: windows[0]!, nanoUsd: 1 }], noonMs))).toBe(
      1,
    );
    expect(await warm(() => ledger.expire(workspaceId, noonMs))).toBe(1);
    expect(await warm(() => ledger.read(workspaceId, windows, noonMs))).toBe(1);
    expect(await warm(() => ledger.forget(workspaceId))).toBe(1);
  });

  it('takes what comes at the same time in one round trip', async () => {
    const { ledger, workspaceId, windows, hold } = tenant();
    await ledger.settle(workspaceId, await hold(), 0, noonMs);
    const ids = Array.from({ length: 64 }, () => randomUUID() as string);
    expect((await commandsOf(() => Promise.all(ids.map((id) => hold(id))))).evalsha).toBe(1);
    const settle = () => Promise.all(ids.map((id) => ledger.settle(workspaceId, id, 1, noonMs)));
    expect((await commandsOf(settle)).evalsha).toBe(1);
    const [state] = await ledger.read(workspaceId, windows, noonMs);
    expect(state).toEqual({ spentNanoUsd: 64, heldNanoUsd: 0 });
  });

  it('lets a step on a damaged record fail alone', async () => {
    const { ledger, workspaceId, windows, hold, key } = tenant();
    const ids = [await hold(), await hold(), await hold(), await hold()];
    await client.hSet(key('holds'), ids[2] as string, 'no hold');
    const ended = await Promise.allSettled(ids.map((id) => ledger.settle(workspaceId, id, 1, noonMs)));
    expect(ended.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled']);
    const [state] = await ledger.read(workspaceId, windows, noonMs);
    expect(state).toEqual({ spentNanoUsd: 3, heldNanoUsd: 10 });
  });

  it('works on when the server has forgotten its scripts', async () => {
    const storage = openOn();
    const { at } = place();
    await storage.commit([{ at: at('a'), value: 'x' }]);
    expect(await storage.get(at('a'))).toBe('x');
    await client.scriptFlush();
    // Many at once, each of which is told so.
    expect(await Promise.all(Array.from({ length: 20 }, () => storage.get(at('a'))))).toEqual(Array(20).fill('x'));
  });

  it('leaves nothing but their ids of holds that were settled', async () => {
    const { ledger, workspaceId, hold, sizes } = tenant();
    for (let n = 0; n < 50; n++) await ledger.settle(workspaceId, await hold(), 7, noonMs);
    expect(await sizes()).toEqual({ windows: 2, ends: 1, holds: 0, leases: 0, ended: 0, expired: 0, settled: 50 });
  });

  it('forgets ids a day after they have ended, a few with each that follows', async () => {
    const { ledger, workspaceId, windows, hold, sizes } = tenant();
    for (let n = 0; n < 20; n++) {
      await ledger.release(workspaceId, await hold(), noonMs);
      await ledger.add(workspaceId, randomUUID(), [{ window: windows[0]!, nanoUsd: 1 }], noonMs);
      await hold(randomUUID(), { leaseMs: 1 });
    }
    await ledger.expire(workspaceId, noonMs + 1);
    expect(await sizes()).toMatchObject({ holds: 0, leases: 0, ended: 60, expired: 20 });
    for (let n = 0; n < 6; n++) await ledger.release(workspaceId, randomUUID(), noonMs + keepEndedMs);
    expect(await sizes()).toMatchObject({ ended: 26, expired: 20 });
    for (let n = 0; n < 6; n++) await ledger.release(workspaceId, randomUUID(), noonMs + 1 + keepEndedMs);
    expect(await sizes()).toMatchObject({ ended: 12, expired: 0 });
  });

  it('forgets ids of settled holds after a day, and earlier where there are 100,000', async () => {
    const { ledger, workspaceId, hold, sizes, key } = tenant();
    for (let n = 0; n < 20; n++) await ledger.settle(workspaceId, await hold(), 1, noonMs);
    const laterMs = noonMs + keepEndedMs;
    const settle = async () => ledger.settle(workspaceId, await hold(randomUUID(), { nowMs: laterMs }), 1, laterMs);
    for (let n = 0; n < 7; n++) await settle();
    expect((await sizes()).settled).toBe(7);
    const fill = `for i = 1, ARGV[1] do redis.call('ZADD', KEYS[1], ARGV[2], 'other-' .. i) end`;
    await client.eval(fill, { keys: [key('settled')], arguments: [`${maxSettled + 5}`, `${laterMs + 1}`] });
    for (let n = 0; n < 10; n++) await settle();
    expect((await sizes()).settled).toBeLessThanOrEqual(maxSettled);
    expect((await sizes()).settled).toBeGreaterThan(maxSettled - 10);
  });

  it('lets the server drop the ids of a workspace that nobody uses, but no money and no hold', async () => {
    const { ledger, workspaceId, key, hold } = tenant();
    await hold();
    await ledger.settle(workspaceId, await hold(), 1, noonMs);
    await hold(randomUUID(), { leaseMs: 1 });
    await ledger.expire(workspaceId, noonMs + 1);
    for (const name of ['ended', 'expired', 'settled']) {
      const leftMs = await client.pTTL(key(name));
      // By its own clock, which is not the caller's.
      expect(leftMs).toBeGreaterThan(keepEndedMs);
      expect(leftMs).toBeLessThanOrEqual(2 * keepEndedMs);
    }
    for (const name of ['windows', 'ends', 'holds', 'leases']) expect(await client.pTTL(key(name))).toBe(-1);
  });

  it('drops windows 40 days after their end when others begin, and never a lifetime', async () => {
    const { ledger, workspaceId, sizes, windows } = tenant();
    const book = async (nowMs: number) => {
      for (const interval of ['daily', 'lifetime'] as const) {
        const window = limited(interval, 0, { atMs: nowMs });
        await ledger.add(workspaceId, randomUUID(), [{ window, nanoUsd: 1 }], nowMs);
      }
    };
    const dayMs = 86_400_000;
    for (let day = 0; day < 60; day++) await book(noonMs + day * dayMs);
    // Today's, those of 40 days, and the lifetime.
    expect(await sizes()).toMatchObject({ windows: 42, ends: 41 });
    const laterMs = windows[0]!.endMs! + 59 * dayMs + keepWindowsMs;
    for (let day = 0; day < 6; day++) await book(laterMs + day * dayMs);
    expect(await sizes()).toMatchObject({ windows: 7, ends: 6 });
    const [lifetime] = await ledger.read(workspaceId, [windows[1]!], laterMs);
    expect(lifetime).toEqual({ spentNanoUsd: 66, heldNanoUsd: 0 });
  });

  it('leaves no key of a workspace that was forgotten, nor of records that were removed', async () => {
    const storage = openOn();
    const { ledger, workspaceId, hold } = tenant(storage);
    const { at } = place(workspaceId);
    await storage.commit([{ at: at('a'), value: 'x', rank: 1 }]);
    await hold(randomUUID(), { leaseMs: 1 });
    await hold(randomUUID(), { nowMs: noonMs + 1 });
    expect(await client.keys(`*${workspaceId}*`)).toHaveLength(8);
    await ledger.forget(workspaceId);
    await storage.commit([{ at: at('a'), value: null }]);
    expect(await client.keys(`*${workspaceId}*`)).toEqual([]);
  });

  it.each([
    ['a sum with a fraction', (t: Tenant) => t.ledger.settle(t.workspaceId, randomUUID(), 0.5, noonMs)],
    ['a negative sum', (t: Tenant) => t.ledger.settle(t.workspaceId, randomUUID(), -1, noonMs)],
    ['a sum beyond what is exact', (t: Tenant) => t.ledger.settle(t.workspaceId, randomUUID(), 2 ** 53, noonMs)],
    ['no sum', (t: Tenant) => t.ledger.settle(t.workspaceId, randomUUID(), Number.NaN, noonMs)],
    ['no time', (t: Tenant) => t.ledger.expire(t.workspaceId, Number.NaN)],
    ['an endless lease', (t: Tenant) => t.ledger.renew(t.workspaceId, [randomUUID()], Number.POSITIVE_INFINITY)],
    [
      'an account of two lines',
      (t: Tenant) => t.ledger.read(t.workspaceId, [{ ...t.windows[0]!, account: 'workspace\nkey:a' }], noonMs),
    ],
  ])('refuses %s before anything is sent', async (_, step) => {
    const here = tenant();
    await here.hold();
    expect(await commandsOf(() => expect(step(here)).rejects.toThrow(/exact|negative|one line/))).toEqual({});
  });
  type Tenant = ReturnType<typeof tenant>;

  it('takes the time of a clock that is finer than a millisecond', async () => {
    const { ledger, workspaceId, hold } = tenant();
    await hold(randomUUID(), { nowMs: noonMs + 0.75, leaseMs: 100 });
    expect(await ledger.expire(workspaceId, noonMs + 99.9)).toBe(0);
    expect(await ledger.expire(workspaceId, noonMs + 100.8)).toBe(1);
  });

  it('counts no further than is exact, rather than to lose what is above', async () => {
    const { ledger, workspaceId } = tenant();
    const window = limited('lifetime', 0);
    for (const nanoUsd of [Number.MAX_SAFE_INTEGER, 5]) {
      await ledger.add(workspaceId, randomUUID(), [{ window, nanoUsd }], noonMs);
    }
    const [state] = await ledger.read(workspaceId, [window], noonMs);
    expect(state).toEqual({ spentNanoUsd: Number.MAX_SAFE_INTEGER, heldNanoUsd: 0 });
  });

  it('writes nothing at all where a key belongs to something else', async () => {
    const storage = openOn();
    const { partition, at } = place();
    await client.set(`{${partition}}:other`, 'not ours');
    await client.set(`{${partition}}:third:ranks`, 'not ours');
    const good = { at: at('a'), value: 'x', rank: 1 };
    await expect(storage.commit([good, { at: at('a', 'other'), value: 'x' }])).rejects.toThrow('WRONGTYPE');
    await expect(storage.commit([good, { at: at('a', 'third'), value: 'x', rank: 1 }])).rejects.toThrow('WRONGTYPE');
    await expect(storage.commit([good, { at: at('b'), value: 'x', rank: 0.5 }])).rejects.toThrow('integer');
    await expect(storage.get(at('a', 'other'))).rejects.toThrow('WRONGTYPE');
    expect(await storage.get(at('a'))).toBeNull();
    expect(await client.keys(`{${partition}}:*`)).toHaveLength(2);
  });

  describe('the adapter', () => {
    it('gives keys its namespace, which keeps others out', async () => {
      const [one, two, none] = [{ namespace: 'one' }, { namespace: 'two' }, {}].map((options) =>
        openOn(new KeyvRedis(server.url, options)),
      ) as [Store, Store, Store];
      const { partition, at } = place();
      for (const [index, storage] of [one, two, none].entries()) {
        expect(await storage.commit([{ at: at('a'), expect: null, value: `${index}`, rank: 1 }])).toBe(true);
      }
      expect(await one.get(at('a'))).toBe('0');
      expect((await client.keys(`*{${partition}}:thing`)).toSorted()).toEqual(
        [`one::{${partition}}:thing`, `two::{${partition}}:thing`, `{${partition}}:thing`].toSorted(),
      );
    });

    it('may get another namespace from another Keyv: what was begun stays where it is', async () => {
      const adapter = new KeyvRedis(server.url);
      const keyv = new Keyv(adapter, { namespace: 'mine' });
      const storage = openOn(keyv.store as KeyvRedis<string>);
      const { at } = place();
      await storage.commit([{ at: at('a'), value: 'x' }]);
      new Keyv(adapter, { namespace: 'theirs' });
      expect(adapter.namespace).toBe('theirs');
      expect(await storage.get(at('a'))).toBe('x');
    });

    it('is not cleared with the entries of its Keyv', async () => {
      const adapter = new KeyvRedis(server.url, { namespace: 'cleared' });
      const keyv = new Keyv(adapter, { namespace: 'cleared' });
      const storage = openOn(adapter);
      const { at } = place();
      await keyv.set('entry', 'x');
      await storage.commit([{ at: at('a'), value: 'x' }]);
      await keyv.clear();
      expect([await keyv.get('entry'), await storage.get(at('a'))]).toEqual([undefined, 'x']);
      await keyv.disconnect();
    });

    it('may get another client', async () => {
      const adapter = new KeyvRedis(server.url);
      const storage = openOn(adapter);
      const { at } = place();
      await storage.commit([{ at: at('a'), value: 'x' }]);
      const first = adapter.client;
      adapter.client = createClient({ url: server.url }) as unknown as typeof first;
      expect(await storage.get(at('a'))).toBe('x');
      expect([first.isOpen, adapter.client.isOpen]).toEqual([true, true]);
      await storage.close();
      expect([first.isOpen, adapter.client.isOpen]).toEqual([false, false]);
    });

    it.each([
      ['that throws errors', () => new KeyvRedis(server.url, { throwOnErrors: true })],
      ['that swallows errors', () => new KeyvRedis(server.url, { throwOnErrors: false, throwOnConnectError: false })],
      ['that queues nothing', () => new KeyvRedis({ url: server.url, disableOfflineQueue: true })],
      ['that speaks RESP 2', () => new KeyvRedis({ url: server.url, RESP: 2 as never })],
      ['with a prefix of its client', () => new KeyvRedis({ url: server.url, keyPrefix: 'app:' })],
      ['that gives bytes', () => new KeyvRedis({ url: server.url, commandOptions: { typeMapping: { 36: Buffer } } })],
      [
        'that gives integers as text',
        () => new KeyvRedis({ url: server.url, commandOptions: { typeMapping: { 58: String } } }),
      ],
      ['of another database', () => new KeyvRedis(`${server.url}/3`)],
    ])('is one %s', async (_, create) => {
      const storage = openOn(create());
      const { partition, at } = place();
      expect(await storage.commit([{ at: at('a'), expect: null, value: 'ä', rank: 1 }])).toBe(true);
      expect(await storage.commit([{ at: at('a'), expect: null, value: 'ö', rank: 1 }])).toBe(false);
      expect(await storage.getMany([at('a'), at('b')])).toEqual(['ä', null]);
      expect(await storage.list(partition, 'thing', { offset: 0, limit: 5 })).toEqual({
        records: [{ id: 'a', value: 'ä' }],
        total: 1,
      });
      const { ledger, workspaceId, windows, hold } = tenant(storage);
      const id = await hold();
      expect(
        await ledger.hold({
          id: randomUUID(),
          workspaceId,
          amountNanoUsd: 1e6,
          windows,
          nowMs: noonMs,
          leaseUntilMs: noonMs + 1,
        }),
      ).toEqual({
        isHeld: false,
        states: windows.map(() => ({ spentNanoUsd: 0, heldNanoUsd: 10 })),
      });
      expect(await ledger.settle(workspaceId, id, 3, noonMs)).toBe('ended');
      expect(await ledger.settle(workspaceId, id, 3, noonMs)).toBe('repeated');
      expect(await ledger.expire(workspaceId, noonMs)).toBe(0);
    });

    it('is connected by the first call, and calls at once share the connection', async () => {
      const adapter = new KeyvRedis(server.url);
      const storage = openOn(adapter);
      expect(adapter.client.isOpen).toBe(false);
      const { at } = place();
      const seen = await Promise.all(Array.from({ length: 20 }, () => storage.get(at('a'))));
      expect(seen).toEqual(Array(20).fill(null));
      expect(adapter.client.isOpen).toBe(true);
    });

    it('may be connecting already, by whoever made it', async () => {
      const own = createClient({ url: server.url });
      const connecting = own.connect();
      expect(await openOn(new KeyvRedis(own as never)).get(place().at('a'))).toBeNull();
      await connecting;
      own.destroy();
    });

    it('is waited for when it has just lost its connection', async () => {
      const adapter = new KeyvRedis(server.url);
      const storage = openOn(adapter);
      const { at } = place();
      for (let lost = 0; lost < 3; lost++) {
        await storage.commit([{ at: at('a'), value: `${lost}` }]);
        const own = adapter.client as ReturnType<typeof createClient>;
        // Read when it is lost: it may be back before the answer to the next command is.
        const isReadyWhenLost = new Promise<boolean>((resolve) => own.once('error', () => resolve(own.isReady)));
        await client.sendCommand(['CLIENT', 'KILL', 'ID', `${await own.clientId()}`]);
        expect(await isReadyWhenLost).toBe(false);
        expect(await Promise.all([storage.get(at('a')), storage.get(at('b'))])).toEqual([`${lost}`, null]);
      }
    });

    it('is closed where the storage opened it, and left open where the host app did', async () => {
      const lazy = new KeyvRedis(server.url);
      const ready = new KeyvRedis(server.url);
      await ready.getClient();
      for (const adapter of [lazy, ready]) {
        const storage = redisStorage(adapter, options);
        await storage.get(place().at('a'));
        await storage.close();
        await expect(storage.get(place().at('a'))).rejects.toThrow('closed');
      }
      expect([lazy.client.isOpen, ready.client.isOpen]).toEqual([false, true]);
      await ready.disconnect();
      // One that was never used has nothing to close.
      await redisStorage(new KeyvRedis(server.url), options).close();
    });
  });
  type Store = ReturnType<typeof openOn>;
});
