import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { chooseStorage } from '../../../src/stores/storage/choose.ts';
import { limited, newTenant, untilNothingHeld, windowsOf } from './books.ts';
import { movableClock, raceGateway } from './gateway.ts';
import { isExplained, readJournal } from './journal.ts';
import type { KillPlan } from './kill-child.ts';
import { observe } from './observe.ts';
import { type RaceProcess, startProcess } from './processes.ts';
import { openStore, type StoreAt } from './stores.ts';

const kills = 6;
const leaseMs = 1_000;
/** What a busy machine may add to the lease before somebody has ended what is lost. */
const lateMs = 5_000;
/** Noon: no window turns. */
const noonMs = Date.UTC(2092, 4, 14, 12);

type Statuses = Record<number, number>;

/**
 * Of four processes that spend one budget, one is killed in the middle of its requests, and replaced, again and again. What
 * it held is charged once its lease is over, nothing that was spent is lost, and nothing is booked that nobody asked
 * for.
 * @param escrow  the option `budgets.escrow`: what a killed process held is then a slice, of which the charge has all
 */
export async function killOn(at: StoreAt, { escrow = false } = {}): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'model-gateway-journal-'));
  const journal = join(folder, 'journal');
  const opened = openStore(at, { busyTimeoutMs: 30_000 });
  const clock = movableClock(noonMs);
  const gateway = raceGateway(opened.store, { clock, storeTimeoutMs: 30_000 });
  const storage = chooseStorage(opened.store, { clock, timeoutMs: 30_000, onLostHold: 'charge' });
  const tenant = await newTenant(gateway, {
    budgets: { daily: 1_000, lifetime: 1_000 },
    keys: [{ limit: 1_000, limit_reset: 'weekly' }],
  });
  const keys = tenant.keys.map(({ key }) => key);
  const windows = windowsOf(tenant, [noonMs]).filter(({ account, interval }) =>
    tenant.limits.some((limit) => limit.account === account && limit.interval === interval),
  );
  let started = 0;
  const all: RaceProcess<Statuses>[] = [];
  const start = () => {
    const seed = ++started * 1_000_000;
    const plan: KillPlan = { at, nowMs: clock.now(), keys, seed, width: 8, budgets: { leaseMs, escrow }, journal };
    const one = startProcess<Statuses>('kill-child.ts', plan);
    all.push(one);
    return one;
  };
  const go = async ({ ready, child }: RaceProcess<Statuses>) => {
    await ready;
    child.send({ startAtMs: Date.now() });
  };
  try {
    const others = [start(), start(), start()];
    let victim = start();
    await Promise.all([...others, victim].map(go));
    const watching = observe(storage.ledger, tenant.workspaceId, limited(tenant, windows), {
      mayExpire: true,
    });
    for (let kill = 0; kill < kills; kill++) {
      const next = start();
      await next.ready;
      await sleep(50 + Math.random() * 200);
      const exited = once(victim.child, 'exit');
      victim.child.kill('SIGKILL');
      await exited;
      victim = next;
      await go(victim);
    }
    const living = [...others, victim];
    await sleep(300);
    for (const { child } of living) child.send('stop');
    const statuses = await Promise.all(living.map(({ result }) => result));
    await untilNothingHeld(storage.ledger, tenant, windows, leaseMs + lateMs);
    const observed = await watching.stop();
    expect(observed.wrong.slice(0, 10)).toEqual([]);

    const { holds, draws, recordedNanoUsd } = readJournal(journal);
    const states = await storage.ledger.read(tenant.workspaceId, windows);
    const [daily, lifetime] = states;
    expect(daily).toEqual(lifetime);
    const spentNanoUsd = daily?.spentNanoUsd as number;
    const inFlight = holds.filter(({ status }) =>
      ['asked', 'held', 'settling', 'releasing', 'drawing'].includes(status),
    );
    const ofInFlight = inFlight.reduce((sum, { amountNanoUsd }) => sum + amountNanoUsd, 0);
    expect(holds.filter(({ status }) => status === 'lost')).toEqual([]);
    // They were killed in the middle of something, and the others went on.
    if (escrow) expect(draws).toBeGreaterThan(kills);
    else expect(inFlight.length).toBeGreaterThan(kills);
    expect(spentNanoUsd).toBeGreaterThanOrEqual(recordedNanoUsd);
    expect(spentNanoUsd - recordedNanoUsd).toBeLessThanOrEqual(ofInFlight);
    if (!escrow) expect(isExplained(spentNanoUsd, holds)).toBe(true);
    for (const seen of statuses) expect(seen[503] ?? 0).toBe(0);
  } finally {
    for (const { child } of all) child.kill('SIGKILL');
    await gateway.close();
    await storage.close();
    await opened.close();
    await rm(folder, { recursive: true, force: true });
  }
}
