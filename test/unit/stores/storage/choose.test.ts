import { EventEmitter } from 'node:events';
import KeyvPostgres from '@keyv/postgres';
import KeyvRedis from '@keyv/redis';
import { createKeyv, Keyv, KeyvBridgeAdapter, KeyvMemoryAdapter } from 'keyv';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { defaultWorkspaceId } from '../../../../src/call/workspace.ts';
import type { Ledger, LimitedWindow } from '../../../../src/stores/ledger/ledger.ts';
import { type ChooseStorageOptions, chooseStorage } from '../../../../src/stores/storage/choose.ts';
import { manualClock } from '../../../support/manual-clock.ts';

/** The storages of servers, which other tests run: here it is only asked which one is made, and over what. */
const { made, standIn } = vi.hoisted(() => {
  const made: { kind: string; adapter: unknown; options: unknown }[] = [];
  const standIn = (kind: string) => (adapter: unknown, options: unknown) => {
    made.push({ kind, adapter, options });
    return { kind, isShared: true, ledger: { of: kind }, get: async () => kind, close: async () => undefined };
  };
  return { made, standIn };
});
vi.mock('../../../../src/stores/storage/redis/redis.ts', () => ({ redisStorage: standIn('redis') }));
vi.mock('../../../../src/stores/storage/postgres/postgres.ts', () => ({ postgresStorage: standIn('postgres') }));
vi.mock('../../../../src/stores/storage/sqlite.ts', () => ({ sqliteStorage: standIn('sqlite') }));

let lines: { fields: object; message: string }[];
beforeEach(() => {
  lines = [];
  made.length = 0;
});
const clock = manualClock();
const choose = (store?: object, more: Partial<ChooseStorageOptions> = {}) =>
  chooseStorage(store, {
    clock,
    timeoutMs: 250,
    onLostHold: 'charge',
    logger: { info: () => undefined, warn: (fields, message) => void lines.push({ fields, message }) },
    ...more,
  });

const redis = () => new KeyvRedis('redis://127.0.0.1:1');
/** The constructor connects; what it makes besides are its fields. */
function postgres(): object {
  const adapter: object = Object.create(KeyvPostgres.prototype);
  const fields = { _uri: 'postgresql://localhost:5432', _schema: 'public', _table: 'keyv', query: async () => [] };
  return Object.assign(adapter, fields, { on: () => adapter });
}
const sqlite = () => ({
  database: { prepare: () => null, exec: () => null, define: () => null, read: () => null, transact: () => null },
  ...asynchronous(),
});
/** An adapter of a store that nobody has heard of. */
const asynchronous = () => {
  const bytes = new Map<string, unknown>();
  return {
    opts: {},
    get: async (key: string) => bytes.get(key),
    set: async (key: string, value: unknown) => void bytes.set(key, value),
    delete: async (key: string) => bytes.delete(key),
    clear: async () => bytes.clear(),
  };
};

describe('the storage of', () => {
  it.each<[string, string, () => { store: object; adapter: object }]>([
    ['redis', 'a Keyv on Redis', () => over(redis())],
    ['redis', 'the adapter for Redis alone', () => alone(redis())],
    ['redis', 'an adapter of an earlier Keyv for Redis', () => bridged(redis())],
    ['redis', 'a Redis cluster', () => over(new KeyvRedis({ rootNodes: [{ url: 'redis://127.0.0.1:1' }] }))],
    ['postgres', 'a Keyv on PostgreSQL', () => over(postgres())],
    ['postgres', 'the adapter for PostgreSQL alone', () => alone(postgres())],
    ['sqlite', 'a Keyv on SQLite', () => over(sqlite())],
    ['sqlite', 'the adapter for SQLite alone', () => alone(sqlite())],
  ])('%s is made for %s, over the adapter itself', (kind, _, make) => {
    const { store, adapter } = make();
    expect(choose(store).kind).toBe(kind);
    expect(made).toMatchObject([{ kind, adapter, options: { onLostHold: 'charge' } }]);
    expect(made[0]?.adapter).toBe(adapter);
    expect(lines).toEqual([]);
  });
  it.each<[string, () => object | undefined]>([
    ['nothing', () => undefined],
    ['a Keyv without a store', () => new Keyv()],
    ['a Keyv on a Map', () => new Keyv({ store: new Map() })],
    ['a Keyv made for memory', () => createKeyv(new Map())],
    ['a Map', () => new Map()],
    ['the adapter for memory', () => new KeyvMemoryAdapter(new Map())],
  ])('memory is made for %s, without a warning, and works', async (_, make) => {
    const storage = choose(make());
    expect([storage.kind, storage.isShared, made, lines]).toEqual(['memory', false, [], []]);
    const at = { partition: 'p', kind: 'thing', id: 'a' };
    expect(await storage.commit([{ at, expect: null, value: 'x', rank: 1 }])).toBe(true);
    expect(await storage.get(at)).toBe('x');
  });
  it.each<[string, () => object]>([
    ['a Keyv on an adapter nobody has heard of', () => new Keyv({ store: asynchronous() })],
    ['that adapter alone', () => asynchronous()],
    ['an adapter for another database', () => new Keyv({ store: mysql() })],
    ['a cache that drops what is old', () => new Keyv({ store: dropsTheOld() })],
    ['an adapter with some client', () => new Keyv({ store: { ...asynchronous(), client: { get: () => null } } })],
  ])('any Keyv is made for %s, with a warning that budgets hold per process, and works', async (_, make) => {
    const storage = choose(make());
    expect([storage.kind, storage.isShared, made]).toEqual(['keyv', false, []]);
    expect(lines).toMatchObject([{ message: expect.stringMatching(/^budgets hold within this process only/) }]);
    const at = { partition: 'p', kind: 'thing', id: 'a' };
    expect(await storage.commit([{ at, expect: null, value: 'x', rank: 1 }])).toBe(true);
    expect((await storage.list('p', 'thing', { offset: 0, limit: 1 })).records).toEqual([{ id: 'a', value: 'x' }]);
  });
  it('any Keyv is refused where budgets must hold in all processes, unless they have a ledger', () => {
    const onUnsharedStore = 'refuse';
    expect(() => choose(asynchronous(), { onUnsharedStore })).toThrow(/^budgets hold within this process only/);
    expect(choose(asynchronous(), { onUnsharedStore, ledger: {} as Ledger }).kind).toBe('keyv');
    expect(choose(undefined, { onUnsharedStore }).kind).toBe('memory');
    expect(lines).toEqual([]);
  });
  it.each<[string, object]>([
    ['no method', {}],
    ['get alone', { get: () => null }],
    ['no delete', { get: () => null, set: () => null, clear: () => null }],
  ])('what has %s is none', (_, store) => {
    expect(() => choose(store)).toThrow(TypeError);
  });
  it('an adapter that Keyv would replace by memory fails', async () => {
    const storage = choose({ get: async () => null, set: async () => null, delete: async () => null });
    await expect(storage.get({ partition: 'p', kind: 'thing', id: 'a' })).rejects.toThrow();
  });
  it('a Keyv that encrypts, on a server that would be written to without it, is refused', () => {
    const encryption = { encrypt: (text: string) => text, decrypt: (text: string) => text };
    expect(() => choose(new Keyv({ store: redis(), encryption }))).toThrow(/in the clear/);
    expect(choose(new Keyv({ store: asynchronous(), encryption })).kind).toBe('keyv');
  });
});

describe('the ledger', () => {
  const ledger = { of: 'the host app' } as unknown as Ledger;
  it.each<[string, () => object | undefined]>([
    ['memory', () => undefined],
    ['any Keyv', () => new Keyv({ store: asynchronous() })],
    ['Redis', () => redis()],
  ])('that is passed replaces that of %s, counts as shared, and needs no warning', async (_, make) => {
    const storage = choose(make(), { ledger });
    expect(storage.ledger).toBe(ledger);
    expect([storage.isShared, lines]).toEqual([true, []]);
    expect(await storage.get({ partition: 'p', kind: 'thing', id: 'a' })).toBe(made.length > 0 ? 'redis' : null);
    await storage.close();
  });
  it('is one for two gateways on one store, and another for another store or namespace', async () => {
    const map = new Map();
    const kv = new Keyv({ store: map });
    const [first, second] = [choose(kv).ledger, choose(new Keyv({ store: map })).ledger];
    const others = [choose().ledger, choose(new Map()).ledger, choose(new Keyv({ store: map, namespace: 'x' })).ledger];
    const window: LimitedWindow = {
      account: 'workspace',
      interval: 'lifetime',
      startMs: 0,
      endMs: null,
      limitNanoUsd: 10,
    };
    const hold = (of: Ledger, id: string) =>
      of.hold({
        id,
        workspaceId: defaultWorkspaceId,
        amountNanoUsd: 10,
        windows: [window],
        leaseMs: 60_000,
      });
    expect((await hold(first, crypto.randomUUID())).isHeld).toBe(true);
    expect((await hold(second, crypto.randomUUID())).isHeld).toBe(false);
    for (const other of others) expect((await hold(other, crypto.randomUUID())).isHeld).toBe(true);
  });
});

describe('an error that the store tells of', () => {
  const error = Object.assign(new Error('connect to redis://user:hunter2@10.0.0.1:6379'), { code: 'ECONNRESET' });
  afterEach(() => expect(JSON.stringify(lines)).not.toMatch(/hunter2|10\.0/));

  it.each<[string, () => { store: object; emit: () => void }]>([
    [
      'a Keyv',
      () => {
        const store = new Keyv();
        return { store, emit: () => store.emit('error', error) };
      },
    ],
    [
      'the adapter of a Keyv',
      () => {
        const adapter = Object.assign(new EventEmitter(), asynchronous());
        return { store: new Keyv({ store: adapter }), emit: () => adapter.emit('error', error) };
      },
    ],
    [
      'an adapter alone',
      () => {
        const adapter = Object.assign(new EventEmitter(), asynchronous());
        return { store: adapter, emit: () => adapter.emit('error', error) };
      },
    ],
  ])('by %s is no uncaught exception; its class is in the log', (_, make) => {
    const { store, emit } = make();
    choose(store);
    lines.length = 0;
    emit();
    expect(lines).toEqual([{ fields: { error: 'Error ECONNRESET' }, message: 'store error' }]);
  });
  it('is in the log once a second, and the listener stays after closing', async () => {
    const store = new Keyv();
    const storage = choose(store);
    for (let n = 0; n < 100; n++) store.emit('error', error);
    expect(lines).toHaveLength(1);
    await clock.advance(1000);
    store.emit('error', error);
    expect(lines).toHaveLength(2);
    await storage.close();
    expect(() => store.emit('error', error)).not.toThrow();
  });
  it('needs no logger, and not one that works', () => {
    const silent = new Keyv();
    choose(silent, { logger: undefined });
    const broken = new Keyv();
    const fail = () => {
      throw new Error('disk full');
    };
    choose(broken, { logger: { info: fail, warn: fail } });
    for (const store of [silent, broken]) expect(() => store.emit('error', error)).not.toThrow();
  });
});

function over(adapter: object) {
  return { store: new Keyv({ store: adapter }), adapter: adapter };
}

function alone(adapter: object) {
  return { store: adapter, adapter };
}

function bridged(adapter: KeyvRedis<unknown>) {
  return { store: new Keyv({ store: new KeyvBridgeAdapter(adapter as never) }), adapter };
}

function mysql() {
  return { ...asynchronous(), query: async () => [], uri: 'mysql://localhost', table: 'keyv', schema: 'keyv' };
}

/** A Map in all but name. */
function dropsTheOld() {
  const map = new Map<string, unknown>();
  return {
    get: (key: string) => map.get(key),
    set: (key: string, value: unknown) => void map.set(key, value),
    delete: (key: string) => map.delete(key),
    has: (key: string) => map.has(key),
    clear: () => map.clear(),
  };
}
