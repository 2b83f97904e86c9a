import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { WorkspaceId } from '../../../src/call/workspace.ts';
import { createHealth, type Health, type Observation } from '../../../src/catalog/health/index.ts';
import { type HealthKind, healthRecords } from '../../../src/stores/health-records.ts';
import { memoryLedger } from '../../../src/stores/ledger/memory.ts';
import { guardStorage } from '../../../src/stores/storage/guard.ts';
import { memoryStorage } from '../../../src/stores/storage/memory.ts';
import type { Storage } from '../../../src/stores/storage/storage.ts';
import { type ManualClock, manualClock } from '../../support/manual-clock.ts';

const key = 'up up-fast';
const ownKey = `${key} 7d44c1a8-6a0e-4a52-8ff5-9c5c4f1e9a10`;
const minute = 60_000;
const hour = 60 * minute;

interface Place {
  clock: ManualClock;
  /** As every instance sees it. */
  storage: Storage;
  /** Ids written, by kind, in order; and how many times it was read. */
  writes: { kind: HealthKind; id: string; bytes: number }[];
  reads: { count: number };
  warnings: string[];
  /** What the store does instead of answering; null: it answers. */
  trouble: { now: 'fails' | 'hangs' | null };
  /** Happens while something is written. */
  onWrite: { now: (() => void) | null };
  instance(name: string): Health;
  stored(kind: HealthKind): Promise<{ id: string; value: string }[]>;
}

/** Instances on one clock and one store. */
function place(): Place {
  const clock = manualClock();
  const memory = memoryStorage(memoryLedger({ onLostHold: 'release' }));
  const trouble: Place['trouble'] = { now: null };
  const onWrite: Place['onWrite'] = { now: null };
  const [writes, warnings, reads] = [[] as Place['writes'], [] as string[], { count: 0 }];
  const troubled = <T>(work: () => Promise<T>): Promise<T> => {
    if (trouble.now === 'hangs') return new Promise(() => {});
    return trouble.now === 'fails' ? Promise.reject(new Error('away')) : work();
  };
  const logger = {
    info: () => {},
    warn: (_: object, message: string) => void warnings.push(message),
  };
  const storage: Storage = {
    ...memory,
    kind: 'redis',
    isShared: true,
    commit: (changes) =>
      troubled(() => {
        onWrite.now?.();
        for (const { at, value } of changes) {
          if (value === null) continue;
          writes.push({ kind: at.kind.slice('health-'.length) as HealthKind, id: at.id, bytes: value.length });
        }
        return memory.commit(changes);
      }),
    list: (...asked) =>
      troubled(() => {
        reads.count++;
        return memory.list(...asked);
      }),
  };
  const guarded = guardStorage(storage, { clock, timeoutMs: 1000 });
  return {
    clock,
    storage,
    writes,
    reads,
    warnings,
    trouble,
    onWrite,
    instance: (name) =>
      createHealth({ clock, sharing: { records: healthRecords(guarded)!, instance: () => name, logger } }),
    stored: async (kind) => (await memory.list('health', `health-${kind}`, { offset: 0, limit: 1000 })).records,
  };
}

function see(health: Health, times: number, seen: Observation, at = key): void {
  for (let i = 0; i < times; i++) health.observe(at, seen);
}

/** Makes all of them hear what the others have to tell. */
async function meet({ clock }: Place, ...all: Health[]): Promise<void> {
  for (let i = 0; i < 2; i++) {
    for (const health of all) health.view(clock.now());
    await clock.advance(2_000);
  }
}

describe('instances on one store', () => {
  it('see what the others see: percentiles, uptime, outages and rests', async () => {
    const here = place();
    const { clock } = here;
    const [one, two] = [here.instance('one'), here.instance('two')];
    see(one, 30, { outcome: 'ok', firstTokenMs: 100, tokensPerSecond: 50 });
    see(one, 10, { outcome: 'failed' });
    one.coolDown('other key', clock.now() + hour);
    await meet(here, two);
    const nowMs = clock.now();
    expect(two.view(nowMs).latency(key)).toEqual(one.view(nowMs).latency(key));
    expect(two.view(nowMs).latency(key)).not.toBe(null);
    expect(two.view(nowMs).latencyP95(key)).toBe(one.view(nowMs).latencyP95(key));
    expect(two.view(nowMs).throughput(key)).toEqual(one.view(nowMs).throughput(key));
    expect(two.statistics(key, nowMs)).toEqual(one.statistics(key, nowMs));
    expect(two.statistics(key, nowMs)).toMatchObject({ uptime5m: 75, uptime30m: 75, uptime1d: 75, status: 'down' });
    expect(two.view(nowMs).hasOutage(key)).toBe(true);
    expect(two.view(nowMs).cooldownUntil(key)).toBe(one.view(nowMs).cooldownUntil(key));
    expect(two.view(nowMs).cooldownUntil(key)).toBeGreaterThan(nowMs);
    expect(two.view(nowMs).cooldownUntil('other key')).toBe(nowMs - 4_000 + hour);
  });

  it('tell of what each workspace has met, however many endpoints another uses', async () => {
    const here = place();
    const { clock } = here;
    const [one, two] = [here.instance('one'), here.instance('two')];
    const [flood, victim] = ['flood', 'victim'] as WorkspaceId[];
    one.coolDown('own', clock.now() + hour, null, victim);
    see(one, 1, { outcome: 'ok', firstTokenMs: 100 }, 'quiet');
    for (let n = 0; n < 5; n++) one.observe('victim/1', { outcome: 'ok', firstTokenMs: 100 }, victim, victim);
    for (let n = 0; n < 300; n++) {
      for (let i = 0; i < 9; i++) one.observe(`flood/${n}`, { outcome: 'ok', firstTokenMs: 9 }, flood, flood);
      one.coolDown(`flood-key ${n}`, clock.now() + hour, null, flood);
    }
    await meet(here, two);
    expect(two.view(clock.now()).cooldownUntil('own')).toBeGreaterThan(clock.now());
    expect(two.view(clock.now()).latency('victim/1')).toEqual(one.view(clock.now()).latency('victim/1'));
    expect(two.view(clock.now()).latency('victim/1')).not.toBe(null);
  });

  it('know together what one that saw everything would know, whatever happens when', async () => {
    const step = fc.record({
      who: fc.nat(2),
      at: fc.constantFrom('a a', 'b b'),
      times: fc.integer({ min: 1, max: 9 }),
      outcome: fc.constantFrom('ok', 'failed', 'limited'),
      firstTokenMs: fc.integer({ min: 1, max: 100_000 }),
      tokensPerSecond: fc.integer({ min: 1, max: 1000 }),
      pauseMs: fc.constantFrom(0, 100, 3_000, 20_000, 70_000, 10 * minute, 5 * hour),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 25 }), async (steps) => {
        const here = place();
        const { clock } = here;
        const all = ['one', 'two', 'three'].map(here.instance);
        const oracle = createHealth({ clock });
        for (const { who, at, times, pauseMs, ...seen } of steps) {
          see(all[who] as Health, times, seen as Observation, at);
          see(oracle, times, seen as Observation, at);
          await clock.advance(pauseMs);
        }
        await meet(here, ...all);
        // What was computed less than a second ago would do, too.
        await clock.advance(1_000);
        const nowMs = clock.now();
        for (const at of ['a a', 'b b']) {
          const { status: _, ...expected } = oracle.statistics(at, nowMs);
          for (const health of all) {
            const { status: _, ...statistics } = health.statistics(at, nowMs);
            expect(statistics).toEqual(expected);
            expect(health.view(nowMs).latency(at)).toEqual(oracle.view(nowMs).latency(at));
            expect(health.view(nowMs).throughput(at)).toEqual(oracle.view(nowMs).throughput(at));
            expect(health.view(nowMs).hasOutage(at)).toBe(oracle.view(nowMs).hasOutage(at));
          }
        }
      }),
      { numRuns: 30 },
    );
  });

  it('see what is new although they have just asked', async () => {
    const here = place();
    const { clock } = here;
    const [one, two] = [here.instance('one'), here.instance('two')];
    see(two, 10, { outcome: 'ok', firstTokenMs: 100 });
    await meet(here, one, two);
    const before = two.view(clock.now());
    expect([before.hasOutage(key), before.latency(key)!.p50 < 200]).toEqual([false, true]);
    see(one, 30, { outcome: 'failed', firstTokenMs: 5_000 });
    await meet(here, one, two);
    const after = two.view(clock.now());
    expect([after.hasOutage(key), after.latency(key)!.p50 > 4_000]).toEqual([true, true]);
  });

  it('forget what an instance tells of no more', async () => {
    const here = place();
    const { clock } = here;
    const [one, two] = [here.instance('one'), here.instance('two')];
    see(one, 10, { outcome: 'ok', firstTokenMs: 100 });
    await meet(here, two);
    expect(two.statistics(key, clock.now()).uptime5m).toBe(100);
    for (const kind of ['health-recent', 'health-history']) {
      const value = JSON.stringify([2, clock.now(), []]);
      await here.storage.commit([{ at: { partition: 'health', kind, id: 'one' }, value, rank: 0 }]);
    }
    await clock.advance(minute);
    await meet(here, two);
    expect(two.statistics(key, clock.now())).toMatchObject({ uptime5m: null, uptime1d: null });
  });

  it('forget with the window what the others saw, too', async () => {
    const here = place();
    const { clock } = here;
    const [one, two] = [here.instance('one'), here.instance('two')];
    see(one, 10, { outcome: 'failed', firstTokenMs: 100 });
    await meet(here, two);
    expect(two.view(clock.now()).hasOutage(key)).toBe(true);
    await clock.advance(26_000);
    expect(two.view(clock.now()).hasOutage(key)).toBe(false);
    expect(two.statistics(key, clock.now()).uptime5m).toBe(0);
    await clock.advance(5 * minute);
    expect(two.view(clock.now()).latency(key)).toBe(null);
    expect(two.statistics(key, clock.now())).toMatchObject({ uptime5m: null, uptime30m: 0, uptime1d: 0 });
  });

  it('use an endpoint again when another has had a success after its rest began', async () => {
    const here = place();
    const { clock } = here;
    const [one, two] = [here.instance('one'), here.instance('two')];
    see(one, 9, { outcome: 'failed' });
    await meet(here, one, two);
    expect(two.view(clock.now()).cooldownUntil(key)).toBeDefined();
    see(two, 1, { outcome: 'ok' });
    expect(two.view(clock.now()).cooldownUntil(key)).toBe(undefined);
    await clock.advance(500);
    expect(one.view(clock.now()).cooldownUntil(key)).toBeDefined();
    await meet(here, two, one);
    expect(one.view(clock.now()).cooldownUntil(key)).toBe(undefined);
    expect(two.view(clock.now()).cooldownUntil(key)).toBe(undefined);
  });

  it('use an endpoint again that asked for a pause, when an attempt of another that began after has succeeded', async () => {
    const here = place();
    const { clock } = here;
    const [one, two] = [here.instance('one'), here.instance('two')];
    one.coolDown(key, clock.now() + hour);
    await meet(here, one, two);
    see(two, 1, { outcome: 'ok' });
    await meet(here, two, one);
    expect(one.view(clock.now()).cooldownUntil(key)).toBeDefined();
    two.started(key);
    see(two, 1, { outcome: 'ok' });
    await meet(here, two, one);
    expect(one.view(clock.now()).cooldownUntil(key)).toBe(undefined);
    expect(two.view(clock.now()).cooldownUntil(key)).toBe(undefined);
  });

  it('let an endpoint rest until the later time', async () => {
    const here = place();
    const { clock } = here;
    const [one, two] = [here.instance('one'), here.instance('two')];
    const nowMs = clock.now();
    one.coolDown(key, nowMs + minute);
    two.coolDown(key, nowMs + 2 * minute);
    await meet(here, one, two);
    expect(one.view(clock.now()).cooldownUntil(key)).toBe(nowMs + 2 * minute);
    expect(two.view(clock.now()).cooldownUntil(key)).toBe(nowMs + 2 * minute);
  });

  it('tell of what is reached with a credential of a workspace only that it rests', async () => {
    const here = place();
    const { clock } = here;
    const [one, two] = [here.instance('one'), here.instance('two')];
    see(one, 30, { outcome: 'ok', firstTokenMs: 100, tokensPerSecond: 50 }, ownKey);
    one.coolDown(ownKey, clock.now() + minute);
    await meet(here, one, two);
    const view = two.view(clock.now());
    expect([view.latency(ownKey), two.statistics(ownKey, clock.now()).uptime1d]).toEqual([null, null]);
    expect(view.cooldownUntil(ownKey)).toBe(clock.now() - 4_000 + minute);
    expect(view.cooldownUntil(key)).toBe(undefined);
  });

  it('know what an instance that is gone saw', async () => {
    const here = place();
    const one = here.instance('one');
    see(one, 10, { outcome: 'ok', firstTokenMs: 100 });
    await one.close();
    await here.clock.advance(10 * minute);
    const two = here.instance('two');
    await meet(here, two);
    expect(two.statistics(key, here.clock.now())).toMatchObject({ uptime5m: null, uptime30m: 100, uptime1d: 100 });
    expect(two.statistics(key, here.clock.now()).latency30m).not.toBe(null);
  });
});

describe('sharing', () => {
  it('writes what changed every 2 s, the history once a minute, and is still when nothing happens', async () => {
    const here = place();
    const { clock, writes, reads } = here;
    const health = here.instance('one');
    for (let i = 0; i < 590; i++) {
      health.observe(key, { outcome: 'ok' });
      health.view(clock.now());
      await clock.advance(100);
    }
    expect(writes.filter(({ kind }) => kind === 'recent')).toHaveLength(30);
    expect(writes.filter(({ kind }) => kind === 'history')).toHaveLength(1);
    expect(reads.count).toBe(31);
    await clock.advance(minute);
    const before = [writes.length, reads.count];
    expect(writes.filter(({ kind }) => kind === 'history')).toHaveLength(2);
    expect(clock.pending).toBe(0);
    await clock.advance(hour);
    expect([writes.length, reads.count]).toEqual(before);
    health.view(clock.now());
    await clock.advance(2_000);
    expect(writes).toHaveLength(before[0] as number);
    expect(reads.count).toBeGreaterThan(before[1] as number);
    expect(clock.pending).toBe(0);
  });

  it('brings the last thing seen before everything is still', async () => {
    const here = place();
    const [one, two] = [here.instance('one'), here.instance('two')];
    one.observe(key, { outcome: 'ok' });
    await here.clock.advance(10);
    see(one, 10, { outcome: 'ok' });
    await here.clock.advance(2_000);
    await meet(here, two);
    expect(two.statistics(key, here.clock.now()).uptime5m).toBe(100);
  });

  it('brings also what was seen while it wrote', async () => {
    const here = place();
    const { clock } = here;
    const [one, two] = [here.instance('one'), here.instance('two')];
    here.onWrite.now = () => {
      here.onWrite.now = null;
      see(one, 10, { outcome: 'ok' });
    };
    one.observe(key, { outcome: 'limited' });
    await clock.advance(2_000);
    await meet(here, two);
    expect(two.statistics(key, clock.now()).uptime5m).toBe(100);
  });

  it('keeps records small: the endpoints with most attempts', async () => {
    const here = place();
    const [one, two] = [here.instance('one'), here.instance('two')];
    for (let i = 0; i < 500; i++) {
      for (let n = 0; n < 5 + Math.floor(i / 100); n++) {
        one.observe(`provider model-${(i * 7) % 500}`, { outcome: 'ok', firstTokenMs: 10 * 1.1 ** n });
      }
      one.coolDown(`rests-${i} model`, here.clock.now() + hour);
    }
    await meet(here, one, two);
    const nowMs = here.clock.now();
    const all = Array.from({ length: 500 }, (_, i) => i);
    const known = all.filter((i) => two.view(nowMs).latency(`provider model-${(i * 7) % 500}`) !== null);
    expect(known).toEqual(all.slice(400));
    expect(all.filter((i) => two.view(nowMs).cooldownUntil(`rests-${i} model`))).toHaveLength(100);
    for (const { bytes } of here.writes) expect(bytes).toBeLessThan(50_000);
  });

  it('removes what instances left behind, the last minutes after half an hour, the history after a day', async () => {
    const here = place();
    const { clock } = here;
    const ids = async (kind: HealthKind) => (await here.stored(kind)).map(({ id }) => id);
    const one = here.instance('one');
    see(one, 10, { outcome: 'ok', firstTokenMs: 100 });
    await one.close();
    const two = here.instance('two');
    await clock.advance(29 * minute);
    await meet(here, two);
    expect([await ids('recent'), await ids('history')]).toEqual([['one'], ['one']]);
    await clock.advance(minute);
    await meet(here, two);
    expect([await ids('recent'), await ids('history')]).toEqual([[], ['one']]);
    expect(two.statistics(key, clock.now()).uptime1d).toBe(100);
    await clock.advance(24 * hour);
    await meet(here, two);
    expect([await ids('recent'), await ids('history')]).toEqual([[], []]);
  });

  it('removes them also where there are more than are read', async () => {
    const here = place();
    const { clock } = here;
    for (let i = 0; i < 100; i++) {
      const health = here.instance(`instance-${i}`);
      health.observe(key, { outcome: 'ok' });
      await health.close();
    }
    await clock.advance(hour);
    const last = here.instance('last');
    for (let i = 0; i < 20; i++) await meet(here, last);
    expect(await here.stored('recent')).toEqual([]);
  });

  it('removes what is oldest also where there are many that are in use', async () => {
    const here = place();
    const { clock } = here;
    const records = healthRecords(here.storage)!;
    const startMs = clock.now();
    const textAt = (atMs: number) => JSON.stringify([2, atMs, []]);
    await records.write('recent', 'silent', textAt(startMs), startMs);
    await clock.advance(hour);
    for (let i = 0; i < 60; i++) await records.write('recent', `live-${i}`, textAt(clock.now()), clock.now());
    await meet(here, here.instance('last'));
    const ids = (await here.stored('recent')).map(({ id }) => id);
    expect(ids).toHaveLength(60);
    expect(ids).not.toContain('silent');
  });

  it('removes nothing that was written again meanwhile', async () => {
    const here = place();
    const records = healthRecords(here.storage)!;
    await records.write('recent', 'one', 'first', 1);
    await records.write('recent', 'one', 'second', 2);
    await records.remove('recent', 'one', 'first');
    expect(await records.read('recent')).toEqual([{ id: 'one', value: 'second' }]);
    await records.remove('recent', 'one', 'second');
    expect(await records.read('recent')).toEqual([]);
  });

  it('ignores records that make no sense', async () => {
    const here = place();
    const { clock } = here;
    const [one, two] = [here.instance('one'), here.instance('two')];
    see(one, 10, { outcome: 'ok', firstTokenMs: 100 });
    one.coolDown('other key', clock.now() + hour);
    const writtenMs = clock.now();
    await meet(here, one);
    const good = (await here.stored('recent'))[0]!.value;
    await here.storage.commit([{ at: { partition: 'health', kind: 'health-recent', id: 'one' }, value: null }]);
    await here.storage.commit([{ at: { partition: 'health', kind: 'health-history', id: 'one' }, value: null }]);
    const damaged = [
      '',
      'null',
      '{}',
      '[]',
      good.slice(0, -1),
      good.replace('[2,', '[3,'),
      good.replace(/,10,0,0,/, ',-10,0,0,'),
      good.replace(/,10,0,0,/, ',"10",0,0,'),
      good.replace(/,10,0,0,/, ',1e300,0,0,'),
      good.replace(/\[26,10\]/, '[260,10]'),
      good.replace(/\[26,10\]/, '[]'),
      good.replace(JSON.stringify(key), '7'),
      good.replace(String(writtenMs), String(writtenMs + hour)),
      good.replace(`["${key}",[${writtenMs},`, `["${key}",[${writtenMs + hour},`),
    ];
    for (const value of damaged) expect(value).not.toBe(good);
    for (const [i, value] of damaged.entries()) {
      await here.storage.commit([{ at: { partition: 'health', kind: 'health-recent', id: `d-${i}` }, value, rank: 0 }]);
    }
    await meet(here, two);
    expect(two.statistics(key, clock.now()).uptime5m).toBe(null);
    expect(two.view(clock.now()).cooldownUntil('other key')).toBe(undefined);
    expect(here.warnings).toEqual([]);
    // The same, sound.
    const at = { partition: 'health', kind: 'health-recent', id: 'sound' };
    await here.storage.commit([{ at, value: good, rank: 0 }]);
    await meet(here, two);
    expect(two.statistics(key, clock.now()).uptime5m).toBe(100);
    expect(two.view(clock.now()).cooldownUntil('other key')).toBeDefined();
  });

  it('lets nobody make an endpoint rest for longer than a cooldown, or a day', async () => {
    const here = place();
    const { clock } = here;
    const two = here.instance('two');
    const nowMs = clock.now();
    const far = nowMs + 1e12;
    const value = JSON.stringify([
      2,
      nowMs,
      [
        ['a a', [0, nowMs, far, far, 0, 0, 0], [], 0, []],
        ['b b', [0, 0, 0, 0, nowMs, far, 0], [], 0, []],
      ],
    ]);
    await here.storage.commit([{ at: { partition: 'health', kind: 'health-recent', id: 'x' }, value, rank: 0 }]);
    two.view(nowMs);
    await clock.advance(0);
    expect(two.view(nowMs).cooldownUntil('a a')).toBe(nowMs + minute);
    expect(two.view(nowMs).cooldownUntil('b b')).toBe(nowMs + 24 * hour);
  });
});

it('counts nothing for a time that has not come', async () => {
  const here = place();
  const { clock } = here;
  const two = here.instance('two');
  const number = Math.floor(clock.now() / minute);
  const seen = (at: number) => [[1, at, 7, 0, 0, null, null]];
  const value = JSON.stringify([
    2,
    clock.now(),
    [
      ['now now', null, seen(number), 0, []],
      ['later later', null, seen(number + 1), 0, []],
    ],
  ]);
  await here.storage.commit([{ at: { partition: 'health', kind: 'health-recent', id: 'x' }, value, rank: 0 }]);
  two.view(clock.now());
  await clock.advance(0);
  expect(two.statistics('now now', clock.now()).uptime5m).toBe(100);
  expect(two.statistics('later later', clock.now()).uptime5m).toBe(null);
  expect(two.statistics('later later', clock.now() + minute).uptime5m).toBe(100);
});

describe('while the store is away', () => {
  it.each(['fails', 'hangs'] as const)(
    'and %s, each goes by what it sees, warns once a minute, and takes up after',
    async (how) => {
      const here = place();
      const { clock, trouble, warnings } = here;
      const [one, two] = [here.instance('one'), here.instance('two')];
      trouble.now = how;
      for (let i = 0; i < 90; i++) {
        see(one, 1, { outcome: 'ok', firstTokenMs: 100 });
        expect(one.view(clock.now()).cooldownUntil(key)).toBe(undefined);
        await clock.advance(1_000);
      }
      expect(one.view(clock.now()).latency(key)).not.toBe(null);
      expect(warnings).toHaveLength(2);
      // Nothing keeps trying where nothing happens.
      await clock.advance(10_000);
      expect(clock.pending).toBe(0);
      trouble.now = null;
      see(one, 10, { outcome: 'ok', firstTokenMs: 100 });
      await meet(here, one, two);
      expect(two.statistics(key, clock.now())).toMatchObject({ uptime5m: 100, uptime30m: 100 });
      expect(two.view(clock.now()).latency(key)).toEqual(one.view(clock.now()).latency(key));
    },
  );

  it('closing takes no longer than the store may', async () => {
    const here = place();
    const { clock, trouble } = here;
    const one = here.instance('one');
    see(one, 10, { outcome: 'ok' });
    trouble.now = 'hangs';
    await clock.advance(10);
    const startMs = clock.now();
    await clock.until(one.close());
    expect(clock.now() - startMs).toBeLessThanOrEqual(2_000);
  });
});

describe('closing', () => {
  it('tells what others do not know yet, and nothing after that', async () => {
    const here = place();
    const { clock, writes } = here;
    const [one, two] = [here.instance('one'), here.instance('two')];
    see(one, 10, { outcome: 'ok' });
    await one.close();
    expect(writes.map(({ kind }) => kind)).toEqual(['recent', 'history']);
    see(one, 10, { outcome: 'ok' });
    await clock.advance(minute);
    expect(writes).toHaveLength(2);
    await meet(here, two);
    expect(two.statistics(key, clock.now()).uptime5m).toBe(100);
  });
  it('writes nothing where nothing happened', async () => {
    const here = place();
    const one = here.instance('one');
    one.view(here.clock.now());
    await one.close();
    expect([here.writes, here.clock.pending]).toEqual([[], 0]);
  });
});

it('is only for stores where records of other instances are seen', () => {
  const storage = memoryStorage(memoryLedger({ onLostHold: 'release' }));
  expect(healthRecords(storage)).toBe(null);
  // With a ledger of the host app's own the money is shared, but not the records.
  expect(healthRecords({ ...storage, isShared: true })).toBe(null);
  expect(healthRecords({ ...storage, kind: 'keyv', isShared: true })).toBe(null);
  expect(healthRecords({ ...storage, kind: 'sqlite' })).toBe(null);
  for (const kind of ['sqlite', 'redis', 'postgres'] as const) {
    expect(healthRecords({ ...storage, kind, isShared: true })).not.toBe(null);
  }
});
