import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, statSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { Keyv } from 'keyv';
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type SqliteStore, sqliteStore } from '../../adapters/sqlite/sqlite.ts';
import { sqliteStorage } from '../../src/stores/storage/sqlite.ts';

const folder = mkdtempSync(join(tmpdir(), 'model-gateway-sqlite-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let files = 0;
const newPath = () => join(folder, `${files++}.db`);
const opened: SqliteStore[] = [];
function open(options: string | Parameters<typeof sqliteStore>[0] = newPath()): SqliteStore {
  const store = sqliteStore(options);
  opened.push(store);
  return store;
}
afterEach(async () => {
  vi.useRealTimers();
  for (const store of opened.splice(0)) await store.disconnect();
});

describe('as a storage adapter of Keyv', () => {
  let path: string;
  let store: SqliteStore;
  beforeEach(() => {
    path = newPath();
    store = open(path);
  });

  it('is used as it is, not through a bridge', () => {
    expect(new Keyv(store).store).toBe(store);
  });
  it('gives back what was set, and undefined for what was not', async () => {
    expect(await store.get('a')).toBeUndefined();
    expect(await store.set('a', 'one')).toBe(true);
    expect(await store.get('a')).toBe('one');
    expect(await store.set('a', 'two')).toBe(true);
    expect(await store.get('a')).toBe('two');
  });
  it('gives many in the order asked', async () => {
    expect(
      await store.setMany([
        { key: 'a', value: '1' },
        { key: 'b', value: '2' },
        { key: 'a', value: '3' },
      ]),
    ).toEqual([true, true, true]);
    expect(await store.getMany(['b', 'none', 'a', 'b'])).toEqual(['2', undefined, '3', '2']);
    expect(await store.hasMany(['b', 'none', 'a'])).toEqual([true, false, true]);
    expect(await store.getMany([])).toEqual([]);
    expect(await store.setMany([])).toEqual([]);
  });
  it('has what is there', async () => {
    await store.set('a', '');
    expect([await store.has('a'), await store.has('b')]).toEqual([true, false]);
  });
  it('deletes, and says whether there was something', async () => {
    await store.setMany(['a', 'b', 'c'].map((key) => ({ key, value: key })));
    expect([await store.delete('a'), await store.delete('a')]).toEqual([true, false]);
    expect(await store.deleteMany(['b', 'none', 'b', 'c'])).toEqual([true, false, false, true]);
    expect(await store.getMany(['a', 'b', 'c'])).toEqual([undefined, undefined, undefined]);
  });
  it.each([
    ['text with NUL and newlines', 'a\0b\r\n'],
    ['an empty text', ''],
    ['emoji', '🦊👨‍👩‍👧'],
    ['a number as text', '007'],
    ['SQL', `'; DROP TABLE keyv; -- "x" ? :a @b $c`],
    ['a megabyte', 'x'.repeat(1_000_000)],
    ['bytes', new Uint8Array([0, 255, 1])],
  ])('gives back %s exactly, as a value and as a key', async (_, value) => {
    await store.set('key', value);
    expect(await store.get('key')).toEqual(value);
    if (typeof value !== 'string') return;
    await store.set(value, 'found');
    await store.set(`${value}.`, 'other');
    expect(await store.get(value)).toBe('found');
  });
  it.each<[string, (store: SqliteStore) => Promise<unknown>]>([
    ['an object as value', (store) => store.set('key', { value: 'x' })],
    ['undefined as value', (store) => store.set('key', undefined)],
    ['half a surrogate pair in a value', (store) => store.set('key', 'a\ud800')],
    ['half a surrogate pair in a key', (store) => store.get('a\udc00')],
    ['a key that is no text', (store) => store.get(7 as never)],
    [
      'one wrong value of many',
      (store) =>
        store.setMany([
          { key: 'key', value: 'x' },
          { key: 'other', value: 7 as never },
        ]),
    ],
  ])('refuses %s, and writes nothing', async (_, act) => {
    await expect(act(store)).rejects.toThrow(/^sqliteStore: expected /);
    expect(await store.hasMany(['key', 'other'])).toEqual([false, false]);
  });

  describe('namespaces', () => {
    it('keep the same key apart, and clear only their own', async () => {
      for (const namespace of [undefined, 'one', 'two', 'one:']) {
        store.namespace = namespace;
        await store.set('key', `of ${namespace}`);
      }
      store.namespace = 'one';
      await store.clear();
      const seen: unknown[] = [];
      for (const namespace of [undefined, 'one', 'two', 'one:']) {
        store.namespace = namespace;
        seen.push(await store.get('key'));
      }
      expect(seen).toEqual(['of undefined', undefined, 'of two', 'of one:']);
      store.namespace = undefined;
      await store.clear();
      expect(await store.has('key')).toBe(false);
      store.namespace = 'two';
      expect(await store.has('key')).toBe(true);
    });
    it('are those of the call, whatever they are when it is done', async () => {
      const other = open({ path: path, busyTimeoutMs: 5_000 });
      await other.get('any');
      store.database.exec('BEGIN IMMEDIATE');
      other.namespace = 'first';
      const done = other.set('key', 'x');
      other.namespace = 'second';
      store.database.exec('COMMIT');
      await done;
      expect(await other.has('key')).toBe(false);
      other.namespace = 'first';
      expect(await other.has('key')).toBe(true);
    });
  });

  describe('expiry', () => {
    const startMs = Date.UTC(2026, 0, 1);
    beforeEach(() => {
      vi.useFakeTimers({ toFake: ['Date'], now: startMs });
    });
    it('is absolute and to the millisecond', async () => {
      await store.set('a', '1', startMs + 1_000);
      await store.setMany([{ key: 'b', value: '2', expires: startMs + 1_000 }]);
      await store.set('ever', '3');
      vi.setSystemTime(startMs + 999);
      expect(await store.getMany(['a', 'b', 'ever'])).toEqual(['1', '2', '3']);
      vi.setSystemTime(startMs + 1_000);
      expect(await store.getMany(['a', 'b', 'ever'])).toEqual([undefined, undefined, '3']);
      expect([await store.get('a'), await store.has('a'), await store.hasMany(['b', 'ever'])]).toEqual([
        undefined,
        false,
        [false, true],
      ]);
      expect(await store.delete('a')).toBe(false);
    });
    it('is that of the last value', async () => {
      await store.set('a', '1', startMs + 1_000);
      await store.set('a', '2');
      await store.set('b', '1');
      await store.set('b', '2', startMs + 1_000);
      vi.setSystemTime(startMs + 5_000);
      expect(await store.getMany(['a', 'b'])).toEqual(['2', undefined]);
    });
    it('of what is past already: it is not there', async () => {
      await store.set('a', '1');
      await store.set('a', '2', startMs);
      expect(await store.get('a')).toBeUndefined();
    });
    it('leaves nothing behind: what is past goes when something is written', async () => {
      await store.setMany(Array.from({ length: 50 }, (_, n) => ({ key: `k${n}`, value: 'x', expires: startMs + 10 })));
      vi.setSystemTime(startMs + 10);
      for (let n = 0; n < 3; n++) await store.set('other', 'x');
      const rows = await store.database.read(() => store.database.prepare('SELECT key FROM keyv').all());
      expect(rows).toEqual([{ key: 'other' }]);
    });
    it('of an infinite or no number is none', async () => {
      await store.set('a', '1', Number.POSITIVE_INFINITY);
      await store.set('b', '1', Number.NaN);
      expect(await store.hasMany(['a', 'b'])).toEqual([true, true]);
    });
  });

  describe('the iterator', () => {
    const collect = async () => {
      const seen: unknown[] = [];
      for await (const entry of store.iterator()) seen.push(entry);
      return seen;
    };
    it.each([0, 1, 100, 101, 250])('gives each of %i entries once, of its namespace only', async (count) => {
      const keys = Array.from({ length: count }, (_, n) => `k${String(n).padStart(3, '0')}`);
      await store.setMany([{ key: 'other', value: 'x' }]);
      store.namespace = 'one';
      await store.setMany(keys.map((key) => ({ key, value: `of ${key}` })));
      expect(await collect()).toEqual(keys.map((key) => [key, `of ${key}`]));
    });
    it('leaves out what is past its time', async () => {
      await store.set('past', 'x', 1);
      await store.set('here', 'x');
      expect(await collect()).toEqual([['here', 'x']]);
    });
    it('bears changes while it is in flight', async () => {
      await store.setMany(
        Array.from({ length: 150 }, (_, n) => ({ key: `k${String(n).padStart(3, '0')}`, value: 'x' })),
      );
      let seen = 0;
      for await (const [key] of store.iterator()) {
        seen++;
        await store.delete(key as string);
      }
      expect(seen).toBe(150);
      expect(await collect()).toEqual([]);
    });
  });

  it('serves Keyv: values of any kind, times to live, namespaces, the iterator', async () => {
    const keyv = new Keyv(store, { namespace: 'app' });
    const value = { text: 'ü', list: [1, null, true] };
    expect(await keyv.set('a', value)).toBe(true);
    expect(await keyv.set('short', 1, 60_000)).toBe(true);
    expect(await keyv.get(['a', 'short', 'none'])).toEqual([value, 1, undefined]);
    expect(await keyv.has('a')).toBe(true);
    const seen: unknown[] = [];
    for await (const entry of keyv.iterator()) seen.push(entry);
    expect(seen).toEqual([
      ['a', value],
      ['short', 1],
    ]);
    expect(await keyv.delete(['a', 'none'])).toEqual([true, false]);
    await keyv.clear();
    expect(await keyv.get('short')).toBeUndefined();
  });
});

describe('the file', () => {
  it.skipIf(process.platform === 'win32')('is for its owner alone, and so is what SQLite puts beside it', async () => {
    const path = newPath();
    const store = open(path);
    await store.set('a', 'x');
    for (const suffix of ['', '-wal', '-shm']) expect(statSync(path + suffix).mode & 0o777).toBe(0o600);
  });
  it('keeps what was written, also what another connection writes', async () => {
    const path = newPath();
    const store = open(path);
    await store.set('a', 'x');
    const other = open(path);
    expect(await other.get('a')).toBe('x');
    await other.set('b', 'y');
    expect(await store.get('b')).toBe('y');
    await store.disconnect();
    await other.disconnect();
    expect(await open(path).getMany(['a', 'b'])).toEqual(['x', 'y']);
  });
  it('holds several tables apart', async () => {
    const path = newPath();
    const [one, two] = [open({ path, table: 'one' }), open({ path, table: 'two' })];
    await one.set('a', '1');
    expect(await two.has('a')).toBe(false);
  });
  it('is none for :memory:, and then no other connection sees it', async () => {
    const [one, two] = [open(':memory:'), open(':memory:')];
    await one.set('a', 'x');
    expect([await one.get('a'), await two.get('a')]).toEqual(['x', undefined]);
    expect(one.database.isShared).toBe(false);
    expect(open().database.isShared).toBe(true);
  });
  it('that another store has locked while it is opened is used as soon as it lets go', async () => {
    const path = newPath();
    const store = open(path);
    await store.set('a', 'x');
    store.database.exec('BEGIN EXCLUSIVE');
    const other = open({ path, busyTimeoutMs: 5_000 });
    const seen = other.set('b', 'y');
    store.database.exec('COMMIT');
    await seen;
    expect(await store.get('b')).toBe('y');
  });
});

describe('fails loudly', () => {
  it.each<[string, () => string, RegExp]>([
    [
      'a folder that is not there',
      () => join(folder, 'none', 'x.db'),
      /^sqliteStore: the file .*x\.db cannot be opened: .*ENOENT/,
    ],
    ['a folder', () => folder, /^sqliteStore: the file .* cannot be opened: /],
    [
      'a file that is no database',
      () => written('no database, but long enough to be looked at'.repeat(50)),
      /^sqliteStore: the file .* is not an SQLite database$/,
    ],
  ])('for %s', (_, path, message) => {
    expect(() => sqliteStore(path())).toThrow(message);
  });
  it.each<[string, unknown]>([
    ['no path', ''],
    ['a path with NUL', 'a\0b'],
    ['a path that is no text', { path: 7 }],
    ['a table with quotes', { path: 'x.db', table: 'a"b' }],
    ["a table of SQLite's own", { path: 'x.db', table: 'SQLITE_x' }],
    ["a gateway's table", { path: 'x.db', table: 'gateway_records' }],
    ['a negative time', { path: 'x.db', busyTimeoutMs: -1 }],
    ['a time that is no number', { path: 'x.db', busyTimeoutMs: Number.NaN }],
  ])('for %s', (_, options) => {
    expect(() => sqliteStore(options as string)).toThrow(TypeError);
  });
  it('on a runtime without node:sqlite, saying which has it', () => {
    const lookup = vi.spyOn(process, 'getBuiltinModule').mockReturnValue(undefined as never);
    const path = newPath();
    expect(() => sqliteStore(path)).toThrow(/^sqliteStore needs node:sqlite.*Node 22/);
    lookup.mockRestore();
    expect(() => statSync(path)).toThrow('ENOENT');
  });
  it('once it is closed, in every method', async () => {
    const store = open();
    await store.set('a', 'x');
    const waiting = [store.disconnect(), store.disconnect()];
    await Promise.all(waiting);
    const { database } = store;
    for (const act of [
      () => store.get('a'),
      () => store.getMany(['a']),
      () => store.has('a'),
      () => store.hasMany(['a']),
      () => store.set('a', 'x'),
      () => store.setMany([{ key: 'a', value: 'x' }]),
      () => store.delete('a'),
      () => store.deleteMany(['a']),
      () => store.clear(),
      () => store.iterator().next(),
      () => database.transact(() => 1),
    ]) {
      await expect(act()).rejects.toThrow('sqliteStore: the database is closed');
    }
  });
  it('and rejects what waits for the lock when it is closed', async () => {
    const path = newPath();
    const [store, other] = [open(path), open({ path, busyTimeoutMs: 5_000 })];
    await other.set('a', 'x');
    await store.set('a', 'x');
    store.database.exec('BEGIN IMMEDIATE');
    const waiting = [other.set('a', 'y'), other.set('a', 'z')];
    const outcomes = Promise.allSettled(waiting);
    await other.disconnect();
    for (const outcome of await outcomes) expect(outcome).toMatchObject({ status: 'rejected' });
    store.database.exec('ROLLBACK');
    expect(await store.get('a')).toBe('x');
  });
  it('when the disk is full: nothing of the change is there, and it goes on when there is room', async () => {
    const store = open();
    const storage = sqliteStorage(store, { onLostHold: 'charge' });
    const at = (id: string) => ({ partition: 'p', kind: 'k', id });
    await storage.commit([{ at: at('small'), value: 'before' }]);
    await store.set('small', 'before');
    const { page_count: pages } = store.database.prepare('PRAGMA page_count').get() as { page_count: number };
    store.database.exec(`PRAGMA max_page_count = ${pages + 2}`);
    const big = 'x'.repeat(100_000);
    for (let time = 0; time < 3; time++) {
      await expect(
        storage.commit([
          { at: at('small'), value: 'during' },
          { at: at('big'), value: big },
        ]),
      ).rejects.toMatchObject({ code: 'SQLITE_FULL' });
      await expect(
        store.setMany([
          { key: 'small', value: 'during' },
          { key: 'big', value: big },
        ]),
      ).rejects.toThrow('full');
    }
    expect(await storage.getMany([at('small'), at('big')])).toEqual(['before', null]);
    expect(await store.getMany(['small', 'big'])).toEqual(['before', undefined]);
    store.database.exec('PRAGMA max_page_count = 1000000');
    expect(await storage.commit([{ at: at('big'), value: big }])).toBe(true);
    expect(await storage.get(at('big'))).toBe(big);
  });
  it('when the file is damaged: reads reject instead of finding nothing', async () => {
    const path = newPath();
    const store = sqliteStore(path);
    const storage = sqliteStorage(store, { onLostHold: 'charge' });
    const at = (id: string) => ({ partition: 'p', kind: 'k', id });
    await storage.commit(
      Array.from({ length: 500 }, (_, n) => ({ at: at(`id-${n}`), value: 'x'.repeat(200), rank: n })),
    );
    await store.setMany(Array.from({ length: 500 }, (_, n) => ({ key: `key-${n}`, value: 'x'.repeat(200) })));
    await store.disconnect();
    const size = statSync(path).size;
    // All but the first pages, which hold the table of contents.
    const file = openSync(path, 'r+');
    writeSync(file, Buffer.alloc(size - 65_536, 0xa5), 0, size - 65_536, 65_536);
    closeSync(file);
    const damaged = open(path);
    const records = sqliteStorage(damaged, { onLostHold: 'charge' });
    const outcomes = await Promise.allSettled([
      ...Array.from({ length: 500 }, (_, n) => records.get(at(`id-${n}`))),
      ...Array.from({ length: 500 }, (_, n) => damaged.get(`key-${n}`)),
    ]);
    const found = outcomes.filter(({ status }) => status === 'fulfilled');
    expect(found.length).toBeLessThan(1_000);
    for (const outcome of found) expect(outcome).toMatchObject({ value: 'x'.repeat(200) });
    await expect(records.list('p', 'k', { offset: 0, limit: 500 })).rejects.toThrow('malformed');
  });
  it('when the file is cut short', async () => {
    const path = newPath();
    const store = sqliteStore(path);
    await store.setMany(Array.from({ length: 500 }, (_, n) => ({ key: `key-${n}`, value: 'x'.repeat(200) })));
    await store.disconnect();
    const cut = written(readFileSync(path).subarray(0, 20_000));
    expect(() => sqliteStore(cut)).toThrow(/^sqliteStore: the database .* is damaged$/);
  });
  it('through Keyv as an error event', async () => {
    const store = open();
    const keyv = new Keyv(store);
    const errors: unknown[] = [];
    keyv.on('error', (error: unknown) => errors.push(error));
    await store.disconnect();
    await keyv.get('a');
    expect(await keyv.set('a', 1)).toBe(false);
    expect(errors).toHaveLength(2);
  });
});

describe('work on the database', () => {
  it('that throws is undone, and what comes after it is done', async () => {
    const store = open();
    const { database } = store;
    await store.set('a', 'before');
    const failed = database.transact(() => {
      database.prepare("UPDATE keyv SET value = 'during'").run();
      throw new Error('mine');
    });
    const next = store.set('b', 'after');
    await expect(failed).rejects.toThrow('mine');
    await next;
    expect(await store.getMany(['a', 'b'])).toEqual(['before', 'after']);
  });
  it('is not left waiting when it finds the lock taken the moment that the last in line is done', async () => {
    const path = newPath();
    const [store, other] = [open(path), open({ path, busyTimeoutMs: 5_000 })];
    await store.set('a', 'x');
    await other.set('a', 'x');
    store.database.exec('BEGIN IMMEDIATE');
    const first = other.database.transact(() => 1);
    store.database.exec('ROLLBACK');
    const second = first.then(() => {
      store.database.exec('BEGIN IMMEDIATE');
      return { work: other.database.transact(() => 2) };
    });
    const { work } = await second;
    store.database.exec('ROLLBACK');
    expect(await work).toBe(2);
  });
  it('is done in the order of the calls, also while it waits for the lock', async () => {
    const path = newPath();
    const [store, other] = [open(path), open({ path, busyTimeoutMs: 5_000 })];
    await store.set('a', 'x');
    await other.set('a', 'x');
    store.database.exec('BEGIN IMMEDIATE');
    const order: number[] = [];
    const work = Array.from({ length: 20 }, (_, n) => other.database.transact(() => order.push(n)));
    store.database.exec('ROLLBACK');
    const late = other.database.transact(() => order.push(20));
    await Promise.all([...work, late]);
    // Work that found the file locked begins again: what counts is that none overtakes another.
    expect(order).toEqual(Array.from({ length: 21 }, (_, n) => n));
  });
});

function written(content: string | Uint8Array): string {
  const path = newPath();
  writeFileSync(path, content);
  return path;
}
