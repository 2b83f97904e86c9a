import { randomUUID } from 'node:crypto';
import { Keyv, type KeyvStorageAdapter } from 'keyv';
import { describe, expect, it } from 'vitest';
import type { WorkspaceId } from '../../../src/call/workspace.ts';
import { keyvLedger } from '../../../src/stores/ledger/keyv.ts';
import { journalSlots } from '../../../src/stores/ledger/keyv-journal.ts';
import type { Ledger, LimitedWindow } from '../../../src/stores/ledger/ledger.ts';
import { type ManualClock, manualClock } from '../../support/manual-clock.ts';
import { randomFrom } from '../../support/race/random.ts';

const leaseMs = 60_000;
const workspaceId = 'w' as WorkspaceId;
const key = 'gw:w:ledger:';
const life: LimitedWindow = {
  account: 'workspace',
  interval: 'lifetime',
  startMs: 0,
  endMs: null,
  limitNanoUsd: 10_000,
};
const ofKey: LimitedWindow = { ...life, account: 'key:abc', interval: 'daily', endMs: Date.UTC(2026, 0, 2) };

type Fault = (name: string, carryOn: () => unknown) => unknown;

/** A store that outlives processes; each `start` is a process on it. */
function store() {
  const bytes = new Map<string, unknown>();
  const script = { fault: null as Fault | null, writes: [] as string[] };
  const lines: string[] = [];
  const clock: ManualClock = manualClock();
  const write = async (name: string, work: () => unknown) => {
    script.writes.push(name);
    return script.fault ? script.fault(name, work) : work();
  };
  const adapter = () =>
    ({
      opts: {},
      get: async (name: string) => (script.fault && script.fault === down ? lost() : bytes.get(name)),
      set: (name: string, value: unknown) => write(name, () => void bytes.set(name, value)),
      delete: (name: string) => write(name, () => bytes.delete(name)),
      clear: async () => bytes.clear(),
    }) as unknown as KeyvStorageAdapter;
  const start = (onLostHold: 'charge' | 'release' = 'charge'): Ledger => {
    const kv = new Keyv({ store: adapter() });
    const logger = { info: () => undefined, warn: (_: object, text: string) => void lines.push(text) };
    return keyvLedger(() => kv, { onLostHold, clock, logger });
  };
  return { bytes, script, lines, clock, start };
}

const lost = () => Promise.reject(new Error('connection lost'));
const down: Fault = lost;

async function hold(ledger: Ledger, amountNanoUsd: number, windows = [life], id: string = randomUUID()) {
  const { isHeld } = await ledger.hold({ id, workspaceId, amountNanoUsd, windows, leaseMs });
  expect(isHeld).toBe(true);
  return id;
}

/** `[spent, held]` */
async function sums(ledger: Ledger, window = life): Promise<[number, number]> {
  const [state] = await ledger.read(workspaceId, [window]);
  return [state!.spentNanoUsd, state!.heldNanoUsd];
}

describe('after a restart, a ledger over any Keyv', () => {
  it('knows what was spent, in every window, and without a limit', async () => {
    const { start } = store();
    const first = start();
    await first.settle(workspaceId, await hold(first, 500, [life, ofKey]), 300);
    await first.add(workspaceId, randomUUID(), [{ window: life, nanoUsd: 11 }]);
    const second = start();
    expect([await sums(second), await sums(second, ofKey)]).toEqual([
      [311, 0],
      [300, 0],
    ]);
  });
  it('refuses what does not fit beside it', async () => {
    const { start } = store();
    const first = start();
    await first.settle(workspaceId, await hold(first, 10_000), 9_999);
    const request = { id: randomUUID(), workspaceId, amountNanoUsd: 2, windows: [life], leaseMs };
    expect((await start().hold(request)).isHeld).toBe(false);
  });
  it.each([
    ['charge', 700],
    ['release', 0],
  ] as const)('holds what was in flight until its lease ends, then does as onLostHold says: %s', async (how, spent) => {
    const { start, clock } = store();
    await hold(start(how), 700);
    const second = start(how);
    expect(await sums(second)).toEqual([0, 700]);
    await clock.advance(leaseMs);
    expect(await sums(second)).toEqual([spent, 0]);
    // What has expired is written as well: the next process neither charges it again nor holds it.
    expect(await sums(start(how))).toEqual([spent, 0]);
  });
  it('agrees with the process before it, whatever that did, however often it is restarted', async () => {
    const random = randomFrom(7);
    const { start, clock } = store();
    let ledger = start();
    const open: string[] = [];
    for (let step = 0; step < 400; step++) {
      const at = Math.floor(random() * open.length);
      if (random() < 0.5) open.push(await hold(ledger, 1, random() < 0.5 ? [life, ofKey] : [life]));
      else if (open.length > 0 && random() < 0.8) await ledger.settle(workspaceId, open.splice(at, 1)[0]!, 2);
      else if (open.length > 0) await ledger.release(workspaceId, open.splice(at, 1)[0]!);
      if (random() < 0.03) await clock.advance(leaseMs / 4);
      if (random() > 0.1) continue;
      const before = [await sums(ledger), await sums(ledger, ofKey)];
      ledger = start();
      expect([await sums(ledger), await sums(ledger, ofKey)]).toEqual(before);
    }
    expect((await sums(ledger))[0]).toBeGreaterThan(100);
  });
});

describe('a ledger over any Keyv', () => {
  it('answers a hold and a settlement only when they are in the store', async () => {
    const { start, script, bytes } = store();
    const ledger = start();
    await sums(ledger);
    for (const step of [() => hold(ledger, 5, [life], 'a'), () => ledger.settle(workspaceId, 'a', 3)]) {
      const written = Promise.withResolvers<void>();
      script.fault = (_, carryOn) => written.promise.then(carryOn);
      const before = new Map(bytes);
      let isAnswered = false;
      const answer = step().then(() => {
        isAnswered = true;
      });
      await new Promise((resolve) => setImmediate(resolve));
      expect([isAnswered, [...bytes]]).toEqual([false, [...before]]);
      script.fault = null;
      written.resolve();
      await answer;
    }
    expect(await sums(start())).toEqual([3, 0]);
  });
  it('makes one write at a time, and one of all that come meanwhile', async () => {
    const { start, script } = store();
    const ledger = start();
    await hold(ledger, 1);
    script.writes.length = 0;
    let atOnce = 0;
    script.fault = async (_, carryOn) => {
      expect(++atOnce).toBe(1);
      await new Promise((resolve) => setImmediate(resolve));
      atOnce--;
      return carryOn();
    };
    await Promise.all(Array.from({ length: 100 }, () => hold(ledger, 1)));
    expect(script.writes.length).toBeLessThanOrEqual(2);
    script.fault = null;
    expect(await sums(start())).toEqual([0, 101]);
  });
  it('writes little for a step, and uses few keys', async () => {
    const { start, bytes, script } = store();
    const ledger = start();
    for (let key = 0; key < 200; key++) {
      await ledger.add(workspaceId, randomUUID(), [{ window: { ...life, account: `key:${key}` }, nanoUsd: 1 }]);
    }
    script.writes.length = 0;
    for (let step = 0; step < 2 * (journalSlots + 1); step++) await hold(ledger, 1);
    expect(script.writes.filter((name) => name === `${key}books`)).toHaveLength(2);
    const small = [...bytes].filter(([name]) => name !== `${key}books`);
    expect(small.length).toBeLessThanOrEqual(4 * journalSlots);
    for (const [, text] of small) expect(String(text).length).toBeLessThan(400);
  });
  it.each(['never arrives', 'arrives all the same'])(
    'fails where a write fails, and forgets nothing: it %s',
    async (how) => {
      const { start, script } = store();
      const ledger = start();
      for (let step = 0; step < 3 * journalSlots; step++) {
        const id = await hold(ledger, 2);
        script.fault = async (_, carryOn) => {
          if (how !== 'never arrives') carryOn();
          return lost();
        };
        await expect(ledger.settle(workspaceId, id, 1)).rejects.toThrow();
        await expect(ledger.settle(workspaceId, id, 1)).rejects.toThrow();
        script.fault = null;
        // Sent again, as the outbox does.
        expect(await ledger.settle(workspaceId, id, 1)).toBe('repeated');
      }
      expect(await sums(start())).toEqual([3 * journalSlots, 0]);
    },
  );
  it('does not write while an earlier write may still arrive', async () => {
    const { start, script } = store();
    const ledger = start();
    await hold(ledger, 1);
    const hung = Promise.withResolvers<void>();
    script.fault = (_, carryOn) => hung.promise.then(carryOn);
    const first = hold(ledger, 2);
    await new Promise((resolve) => setImmediate(resolve));
    const count = script.writes.length;
    const second = hold(ledger, 4);
    await new Promise((resolve) => setImmediate(resolve));
    expect(script.writes).toHaveLength(count);
    script.fault = null;
    hung.resolve();
    await Promise.all([first, second]);
    expect(await sums(start())).toEqual([0, 7]);
  });
  it('fails while the books cannot be read, and reads them later', async () => {
    const { start, script } = store();
    await hold(start(), 9);
    const second = start();
    script.fault = down;
    await expect(hold(second, 1)).rejects.toThrow('connection lost');
    script.fault = null;
    expect(await sums(second)).toEqual([0, 9]);
  });
  it.each<[string, unknown]>([
    ['no books', 'hello'],
    ['a sum that is no amount', { version: 1, books: { sums: [['a', -1, null]], holds: [] } }],
    ['a hold in a window that is not there', { version: 1, books: { sums: [], holds: [['id', 1, 1, ['a']]] } }],
  ])('does not guess where the store has %s', async (_, value) => {
    const { start, bytes } = store();
    bytes.set(`${key}books`, JSON.stringify({ value }));
    const ledger = start();
    for (let round = 0; round < 2; round++) await expect(hold(ledger, 1)).rejects.toThrow('damaged');
  });
  it('deletes the money of a deleted workspace, and of no other', async () => {
    const { start, bytes } = store();
    const ledger = start();
    const other = 'other' as WorkspaceId;
    await ledger.add(other, randomUUID(), [{ window: life, nanoUsd: 4 }]);
    for (let step = 0; step < 3 * journalSlots; step++) await hold(ledger, 1);
    await ledger.forget(workspaceId);
    expect([...bytes.keys()]).toEqual(['gw:other:ledger:books']);
    expect(await sums(ledger)).toEqual([0, 0]);
    await hold(ledger, 3);
    expect(await sums(start())).toEqual([0, 3]);
    expect((await start().read(other, [life]))[0]?.spentNanoUsd).toBe(4);
  });
  it('is not undone by a process that ends after its successor has begun', async () => {
    const { start, lines } = store();
    const old = start();
    const inFlight = await hold(old, 5);
    const successor = start();
    for (let step = 0; step < 5; step++) await successor.settle(workspaceId, await hold(successor, 1), 1);
    await old.settle(workspaceId, inFlight, 2);
    expect([await sums(start()), lines]).toEqual([[5, 5], []]);
  });
  it('says so where another process writes too, and takes the larger of both sums', async () => {
    const { start, lines } = store();
    const [one, two] = [start(), start()];
    for (let step = 0; step < 3 * journalSlots; step++) {
      for (const ledger of [one, two]) await ledger.add(workspaceId, randomUUID(), [{ window: life, nanoUsd: 1 }]);
    }
    expect(lines[0]).toMatch(/^another process writes the budgets in this store/);
    expect(lines.length).toBeLessThanOrEqual(2);
    expect((await sums(start()))[0]).toBeGreaterThanOrEqual(3 * journalSlots - journalSlots);
  });
});
