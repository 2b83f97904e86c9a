import { EventEmitter } from 'node:events';
import { Keyv, type KeyvOptions } from 'keyv';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Ledger } from '../../../../src/stores/ledger/ledger.ts';
import { keyvStorage } from '../../../../src/stores/storage/keyv.ts';
import type { Change, Storage } from '../../../../src/stores/storage/storage.ts';
import { type ManualClock, manualClock, settle } from '../../../support/manual-clock.ts';

const timeoutMs = 250;

type Operation = 'get' | 'set' | 'delete';
/** What a store does instead of what it was asked; `carryOn` does that. */
type Fault = (operation: Operation, key: string, carryOn: () => unknown) => unknown;

const never = () => new Promise(() => undefined);
const refuse = () => Promise.reject(new Error('connection to redis://user:hunter2@10.0.0.1 lost'));
const throwAtOnce = () => {
  throw new Error('hunter2');
};

/** A store whose bytes and behaviour the test has in hand, behind a Keyv. */
function scripted(more: Partial<KeyvOptions> & { getMany?: boolean } = {}) {
  const bytes = new Map<string, unknown>();
  const script = { fault: null as Fault | null, calls: [] as string[] };
  /** The bytes after each write. */
  const history: Map<string, unknown>[] = [];
  const events = new EventEmitter();
  const run = (operation: Operation, key: string, work: () => unknown): unknown => {
    script.calls.push(`${operation} ${key}`);
    const carryOn = () => {
      const result = work();
      if (operation !== 'get') history.push(new Map(bytes));
      return result;
    };
    return script.fault ? script.fault(operation, key, carryOn) : carryOn();
  };
  const adapter = Object.assign(events, {
    opts: {},
    get: async (key: string) => run('get', key, () => bytes.get(key)),
    set: async (key: string, value: unknown) => run('set', key, () => void bytes.set(key, value)),
    delete: async (key: string) => run('delete', key, () => bytes.delete(key)),
    clear: async () => bytes.clear(),
  });
  const { getMany, ...options } = more;
  if (getMany)
    Object.assign(adapter, { getMany: (keys: string[]) => Promise.all(keys.map((key) => adapter.get(key))) });
  const clock: ManualClock = manualClock();
  const kv = new Keyv({ store: adapter, ...options });
  const open = (over: Keyv = kv): Storage =>
    keyvStorage(() => over, { kind: 'keyv', ledger: {} as Ledger, isShared: false, clock, timeoutMs });
  return { bytes, script, history, events, adapter, clock, kv, open };
}

const at = (id: string, kind = 'thing', partition = 'p') => ({ partition, kind, id });
const keyOf = (id: string) => `gw:p:thing:${id}`;
const ids = async (storage: Storage, kind = 'thing') =>
  (await storage.list('p', kind, { offset: 0, limit: 100 })).records.map(({ id }) => id);

async function outcome(clock: ManualClock, promise: Promise<unknown>) {
  const fromMs = clock.now();
  const result: unknown = await clock.until(
    promise.then(
      (value) => ({ value }),
      (error: unknown) => ({ error }),
    ),
  );
  return { ...(result as { value?: unknown; error?: unknown }), afterMs: clock.now() - fromMs };
}

let unhandled: unknown[];
const note = (reason: unknown) => void unhandled.push(reason);
beforeEach(() => {
  unhandled = [];
  process.on('unhandledRejection', note);
});
afterEach(async () => {
  await settle();
  process.off('unhandledRejection', note);
  expect(unhandled).toEqual([]);
});

const reads: [string, (storage: Storage) => Promise<unknown>][] = [
  ['get', (storage) => storage.get(at('a'))],
  ['getMany', (storage) => storage.getMany([at('none'), at('a')])],
  ['list', (storage) => storage.list('p', 'thing', { offset: 0, limit: 10 })],
  ['a commit that expects nothing', (storage) => storage.commit([{ at: at('a'), expect: null, value: 'stolen' }])],
  ['a commit that expects what is there', (storage) => storage.commit([{ at: at('a'), expect: 'x', value: 'y' }])],
];

describe('an outage is never read as not found:', () => {
  const faults: [string, (events: EventEmitter) => Fault][] = [
    ['refuses', () => refuse],
    ['throws at once', () => throwAtOnce],
    ['never answers', () => never],
    [
      'says nothing is there and tells of the failure by an event',
      (events) => () => {
        events.emit('error', new Error('lost'));
        return undefined;
      },
    ],
    [
      'tells of the failure by an event before it answers nothing',
      (events) => async () => {
        events.emit('error', new Error('lost'));
        await settle();
        return null;
      },
    ],
  ];
  it.each(
    faults.flatMap(([how, fault]) =>
      reads.flatMap(([what, read]) => [true, false].map((getMany) => [what, how, getMany, fault, read] as const)),
    ),
  )(
    '%s, of a store that %s (getMany: %s), rejects in time, and works when it is back',
    async (_w, _h, getMany, fault, read) => {
      const { script, events, clock, open, bytes } = scripted({ getMany });
      await open().commit([{ at: at('a'), value: 'x', rank: 1 }]);
      const before = new Map(bytes);
      const storage = open();
      script.fault = fault(events);
      const { error, afterMs } = await outcome(clock, read(storage));
      expect(error).toBeInstanceOf(Error);
      expect(afterMs).toBeLessThanOrEqual(timeoutMs);
      expect(bytes).toEqual(before);
      script.fault = null;
      expect(await storage.get(at('a'))).toBe('x');
      expect(await storage.getMany([at('none'), at('a')])).toEqual([null, 'x']);
      expect(await ids(storage)).toEqual(['a']);
      expect(clock.pending).toBe(0);
    },
  );
  it.each<[string, unknown]>([
    ['too few answers', []],
    ['too many answers', [null, null, null]],
    ['no list', undefined],
  ])('a store that gives %s for several keys is not believed', async (_, answer) => {
    const { adapter, open } = scripted();
    const storage = open(new Keyv({ store: Object.assign(adapter, { getMany: async () => answer }) }));
    await expect(storage.getMany([at('a'), at('b')])).rejects.toThrow('did not respond for every key');
  });
  it('a Keyv that cannot be had is asked for again', async () => {
    const { kv, clock } = scripted();
    const answers: (() => Keyv)[] = [throwAtOnce, () => kv];
    const storage = keyvStorage(() => (answers.shift() as () => Keyv)(), {
      kind: 'keyv',
      ledger: {} as Ledger,
      isShared: false,
      clock,
      timeoutMs,
    });
    await expect(storage.get(at('a'))).rejects.toThrow();
    expect(await storage.get(at('a'))).toBeNull();
  });
});

describe('what is stored', () => {
  it.each<[string, unknown]>([
    ['no JSON', '{"value'],
    ['JSON of something else', '[1]'],
    ['no value', '{}'],
    ['a value of somebody else', '{"value":"x"}'],
    ['a text that is none', '{"value":{"text":1,"rank":null}}'],
    ['a rank that is none', '{"value":{"text":"x","rank":"1"}}'],
    ['no rank', '{"value":{"text":"x"}}'],
  ])('and is damaged (%s) is an error of its own, never an absence', async (_, raw) => {
    const { bytes, open } = scripted();
    bytes.set(keyOf('a'), raw);
    const storage = open();
    for (const [what, read] of reads.filter(([name]) => name !== 'list')) {
      await expect(read(storage), what).rejects.toMatchObject({
        kind: 'internal',
        message: 'A stored record is damaged',
      });
    }
    expect(bytes.get(keyOf('a'))).toBe(raw);
  });
  it('and is a damaged list fails, and is not written over', async () => {
    const { bytes, open } = scripted();
    const storage = open();
    await storage.commit([{ at: at('a'), value: 'x', rank: 1 }]);
    const [part] = [...bytes.keys()].filter((key) => key.startsWith('gw:p:thing::'));
    bytes.set(part as string, '{"value":[[1]]}');
    await expect(ids(storage)).rejects.toMatchObject({ kind: 'internal' });
    await expect(storage.commit([{ at: at('a'), value: null }])).resolves.toBe(true);
    expect(bytes.get(part as string)).toBe('{"value":[[1]]}');
  });
  it('with an end that has come is not there', async () => {
    const { bytes, clock, open } = scripted();
    bytes.set(keyOf('a'), JSON.stringify({ value: { text: 'x', rank: null }, expires: clock.now() + 1000 }));
    expect(await open().get(at('a'))).toBe('x');
    await clock.advance(1000);
    expect(await open().get(at('a'))).toBeNull();
  });
  it('is Keyv’s own encoding, so that what the host app chose for it applies', async () => {
    const turn = (text: string) => [...text].reverse().join('');
    const { bytes, open } = scripted({ encryption: { encrypt: turn, decrypt: turn } });
    await open().commit([{ at: at('a'), value: 'secret' }]);
    expect([...bytes.values()].join()).not.toContain('secret');
    expect([...bytes.values()].join()).toContain('terces');
    expect(await open().get(at('a'))).toBe('secret');
  });
  it('leaves nothing behind when it is removed, and what others keep there alone', async () => {
    const { bytes, open } = scripted();
    bytes.set('theirs', 'x');
    const storage = open();
    const many = Array.from({ length: 50 }, (_, n) => at(`id-${n}`));
    await storage.commit(many.map((one, rank) => ({ at: one, value: 'x', rank })));
    expect(bytes.size).toBeGreaterThan(50);
    expect([...bytes.keys()].every((key) => key === 'theirs' || key.startsWith('gw:p:thing:'))).toBe(true);
    await storage.commit(many.map((one) => ({ at: one, value: null })));
    expect([...bytes]).toEqual([['theirs', 'x']]);
  });
});

/** Three records at once: one that is new, one that is replaced and moves in the list, one that goes. */
const before: Change[] = [
  { at: at('replaced'), value: 'old', rank: 2 },
  { at: at('removed'), value: 'old', rank: 3 },
];
const changes: Change[] = [
  { at: at('new'), expect: null, value: 'new', rank: 1 },
  { at: at('replaced'), expect: 'old', value: 'new', rank: 9 },
  { at: at('removed'), expect: 'old', value: null },
];
const addresses = changes.map((change) => change.at);
const seen = async (storage: Storage) => [...(await storage.getMany(addresses)), ...(await ids(storage))];
const seenBefore = [null, 'old', 'old', 'replaced', 'removed'];
const seenAfter = ['new', 'new', null, 'new', 'replaced'];

/** So many writes does the change take. */
const writesOfChange = 7;

describe('a change that fails halfway', () => {
  const doneThen =
    (then: () => unknown): Fault =>
    (_operation, _key, carryOn) => {
      carryOn();
      return then();
    };
  const isWrite = (operation: Operation) => operation !== 'get';
  const ways: [string, (events: EventEmitter) => Fault][] = [
    ['is refused', () => refuse],
    ['is answered with false', () => () => false],
    ['throws', () => throwAtOnce],
    ['is never answered', () => never],
    ['is done but said to have failed', () => doneThen(refuse)],
    ['is done but never answered', () => doneThen(never)],
    ['tells of its failure by an event', (events) => () => void events.emit('error', new Error('lost'))],
  ];
  const cases = ways.flatMap(([how, way]) =>
    Array.from({ length: writesOfChange }, (_, write) => [write + 1, how, way] as const),
  );

  it('takes so many writes', async () => {
    const { history, open } = scripted();
    const storage = open();
    await storage.commit(before);
    expect(await seen(storage)).toEqual(seenBefore);
    history.length = 0;
    expect(await storage.commit(changes)).toBe(true);
    expect(history).toHaveLength(writesOfChange);
    expect(await seen(storage)).toEqual(seenAfter);
  });
  it.each(cases)('since write %i %s is taken back, or is done', async (failing, _, way) => {
    const { bytes, script, events, clock, open } = scripted();
    const storage = open();
    await storage.commit(before);
    let writes = 0;
    const fault = way(events);
    script.fault = (operation, key, carryOn) =>
      isWrite(operation) && ++writes === failing ? fault(operation, key, carryOn) : carryOn();
    const { value, error } = await outcome(clock, storage.commit(changes));
    script.fault = null;
    // Once the records are written, a list that could not be shortened is set right by its readers.
    if (error === undefined) expect([value, await seen(storage)]).toEqual([true, seenAfter]);
    else expect(await seen(storage)).toEqual(seenBefore);
    // Whoever looks for the first time finds the same.
    const copy = scripted();
    for (const [key, raw] of bytes) copy.bytes.set(key, raw);
    expect(await seen(copy.open())).toEqual(error === undefined ? seenAfter : seenBefore);
  });
  it.each(cases)(
    'since write %i %s, and nothing works from then on, is taken back before anybody sees it',
    async (failing, _, way) => {
      const { script, events, clock, open } = scripted();
      const storage = open();
      await storage.commit(before);
      await storage.commit([{ at: at('a', 'thing', 'q'), value: 'x' }]);
      let writes = 0;
      let isDown = false;
      const fault = way(events);
      script.fault = (operation, key, carryOn) => {
        if (isDown) return refuse();
        if (!isWrite(operation) || ++writes !== failing) return carryOn();
        isDown = true;
        return fault(operation, key, carryOn);
      };
      const { error } = await outcome(clock, storage.commit(changes));
      for (const [what, read] of reads) {
        expect((await outcome(clock, read(storage))).error, what).toBeInstanceOf(Error);
      }
      script.fault = null;
      const expected = error === undefined ? seenAfter : seenBefore;
      expect(await storage.get(at('new'))).toBe(expected[0]);
      expect(await seen(storage)).toEqual(expected);
      expect(await storage.get(at('a', 'thing', 'q'))).toBe('x');
      expect(await storage.commit([{ at: at('new'), value: 'x' }])).toBe(true);
    },
  );
});

describe('taking back', () => {
  it('does not touch what somebody else has written since', async () => {
    const { bytes, script, clock, open } = scripted();
    const storage = open();
    await storage.commit(before);
    let writes = 0;
    script.fault = (operation, _, carryOn) => (operation !== 'get' && ++writes >= 5 ? refuse() : carryOn());
    expect((await outcome(clock, storage.commit(changes))).error).toBeInstanceOf(Error);
    const theirs = JSON.stringify({ value: { text: 'theirs', rank: 2 } });
    expect(bytes.get(keyOf('new'))).toContain('new');
    bytes.set(keyOf('new'), theirs);
    script.fault = null;
    expect(await storage.getMany(addresses)).toEqual(['theirs', 'old', 'old']);
    expect(bytes.get(keyOf('new'))).toBe(theirs);
  });
  it('does not stop at a record that was damaged since', async () => {
    const { bytes, script, clock, open } = scripted();
    const storage = open();
    await storage.commit(before);
    let writes = 0;
    script.fault = (operation, _, carryOn) => (operation !== 'get' && ++writes >= 5 ? refuse() : carryOn());
    expect((await outcome(clock, storage.commit(changes))).error).toBeInstanceOf(Error);
    bytes.set(keyOf('replaced'), 'damaged');
    script.fault = null;
    expect(await storage.get(at('new'))).toBeNull();
    await expect(storage.get(at('replaced'))).rejects.toMatchObject({ kind: 'internal' });
    expect(await storage.get(at('removed'))).toBe('old');
  });
  it('is known to every storage of this process on that store', async () => {
    const { script, clock, open } = scripted();
    const [storage, other] = [open(), open()];
    await storage.commit(before);
    let writes = 0;
    script.fault = (operation, _, carryOn) => (operation !== 'get' && ++writes >= 5 ? refuse() : carryOn());
    expect((await outcome(clock, storage.commit(changes))).error).toBeInstanceOf(Error);
    script.fault = null;
    expect(await seen(other)).toEqual(seenBefore);
  });
});

describe('a process that dies between two writes', () => {
  it('leaves lists in which everything listed is there, and everything that has a rank is listed', async () => {
    const { history, open } = scripted();
    const storage = open();
    await storage.commit(before);
    await storage.commit(changes);
    await storage.commit([
      { at: at('new'), value: 'newer', rank: 20 },
      { at: at('replaced'), value: null },
    ]);
    await storage.commit([{ at: at('new'), value: null }]);
    expect(history.length).toBeGreaterThan(12);
    for (const moment of history) {
      const next = scripted();
      for (const [key, raw] of moment) next.bytes.set(key, raw);
      const after = next.open();
      const listed = await after.list('p', 'thing', { offset: 0, limit: 100 });
      expect(listed.total).toBe(listed.records.length);
      const there = new Map<string, string>();
      for (const { id } of addresses) {
        const text = await after.get(at(id));
        if (text !== null) there.set(id, text);
      }
      expect(new Map(listed.records.map(({ id, value }) => [id, value]))).toEqual(there);
      // And what was left over is gone from the list for good.
      expect(await after.commit(addresses.map((one) => ({ at: one, value: null })))).toBe(true);
      expect(next.bytes.size).toBe(0);
    }
  });
});

describe('turns', () => {
  it('are common to two storages on one store, and to two Keyvs on one adapter', async () => {
    const { adapter, open } = scripted();
    const storages = [open(), open(), open(new Keyv({ store: adapter }))];
    await storages[0]?.commit([{ at: at('count'), value: '0' }]);
    await Promise.all(
      storages.map(async (storage) => {
        for (let done = 0; done < 20; ) {
          const now = (await storage.get(at('count'))) as string;
          if (await storage.commit([{ at: at('count'), expect: now, value: `${Number(now) + 1}` }])) done++;
        }
      }),
    );
    expect(await open().get(at('count'))).toBe('60');
  });
  it('that wait behind a store that hangs are given up, and do not come back with it', async () => {
    const { script, clock, open } = scripted();
    const storage = open();
    await storage.commit([{ at: at('a'), value: 'x' }]);
    script.fault = never;
    script.calls.length = 0;
    const all = Promise.allSettled(
      Array.from({ length: 100 }, (_, n) => storage.commit([{ at: at(`id-${n}`), value: 'late' }])),
    );
    await clock.advance(timeoutMs);
    expect((await all).map(({ status }) => status)).toEqual(Array(100).fill('rejected'));
    expect(script.calls).toHaveLength(1);
    script.fault = null;
    expect(await storage.get(at('id-99'))).toBeNull();
    expect(await storage.commit([{ at: at('a'), expect: 'x', value: 'y' }])).toBe(true);
  });
  it('are not waited for by other partitions, and a slow read makes nobody wait', async () => {
    const { script, clock, open } = scripted();
    const storage = open();
    script.fault = (_, key, carryOn) => (key.includes('slow') ? never() : carryOn());
    const slow = outcome(clock, storage.commit([{ at: at('slow', 'thing', 'q'), value: 'x' }]));
    expect(await storage.commit([{ at: at('a'), value: 'x' }])).toBe(true);
    await slow;
    const fromMs = clock.now();
    const reading = storage.get(at('slow')).catch((error: unknown) => error);
    await settle();
    expect(await storage.get(at('a'))).toBe('x');
    expect(await storage.commit([{ at: at('a'), value: 'y' }])).toBe(true);
    expect(clock.now()).toBe(fromMs);
    expect(await clock.until(reading)).toBeInstanceOf(Error);
  });
});
