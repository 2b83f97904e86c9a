import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { chooseStorage } from '../../../src/stores/storage/choose.ts';
import { limited, newTenant, untilNothingHeld, windowsOf } from './books.ts';
import { manage, movableClock, raceGateway } from './gateway.ts';
import { readJournal } from './journal.ts';
import type { KillPlan } from './kill-child.ts';
import { observe } from './observe.ts';
import { type RaceProcess, startProcess } from './processes.ts';
import { openStore, type StoreAt } from './stores.ts';

const pauses = 3;
const leaseMs = 1_000;
/** What a busy machine may need until the last report has arrived. */
const lateMs = 20_000;
/** Noon: no window turns, though clocks are minutes off. */
const noonMs = Date.UTC(2092, 4, 14, 12);
const offMs = 300_000;

type Statuses = Record<number, number>;

/**
 * Of three processes that spend one budget, two have clocks that are minutes off, and one of these is stopped as a whole
 * for longer than its leases, again and again; its clock is set back meanwhile. Others see its holds expire and send what
 * it has noted. In the end, exactly what the requests have cost is booked, in windows with a limit and without.
 */
export async function pauseOn(at: StoreAt): Promise<void> {
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
  const ofWorkspace = windowsOf(tenant, [noonMs]).filter(({ account }) => account === 'workspace');
  const all: RaceProcess<Statuses>[] = [noonMs - offMs, noonMs, noonMs + offMs].map((nowMs, n) => {
    const seed = (n + 1) * 1_000_000;
    const plan: KillPlan = { at, nowMs, keys, seed, width: 8, budgets: { leaseMs, escrow: true }, journal };
    return startProcess<Statuses>('kill-child.ts', plan);
  });
  const [{ child: paused }] = all as [RaceProcess<Statuses>];
  try {
    await Promise.all(all.map(({ ready }) => ready));
    const startAtMs = Date.now() + 100;
    for (const { child } of all) child.send({ startAtMs });
    const watching = observe(storage.ledger, tenant.workspaceId, limited(tenant, ofWorkspace), { mayExpire: true });
    let lost = 0;
    for (let pause = 0; pause < pauses; pause++) {
      await sleep(600 + Math.random() * 400);
      paused.kill('SIGSTOP');
      await sleep(leaseMs + 500 + Math.random() * 1_000);
      // Books what it has lost by now, and what it has noted.
      await manage(gateway, 'GET', `/workspaces/${tenant.workspaceId}/budgets`);
      lost += ((await storage.ledger.lost?.(tenant.workspaceId, 0)) ?? []).length;
      paused.send({ setByMs: -60_000 });
      paused.kill('SIGCONT');
    }
    await sleep(600);
    for (const { child } of all) child.send('stop');
    const statuses = await Promise.all(all.map(({ result }) => result));
    await untilNothingHeld(storage.ledger, tenant, ofWorkspace, leaseMs + lateMs);
    await manage(gateway, 'GET', `/workspaces/${tenant.workspaceId}/budgets`);
    const observed = await watching.stop();
    expect(observed.wrong.slice(0, 10)).toEqual([]);
    // Its holds had expired, and each was settled after all.
    expect(lost).toBeGreaterThan(0);
    expect(await storage.ledger.lost?.(tenant.workspaceId, 0)).toEqual([]);

    const { holds, draws, recordedNanoUsd } = readJournal(journal);
    expect(holds.filter(({ status }) => status === 'lost')).toEqual([]);
    expect(draws).toBeGreaterThan(pauses);
    const states = await storage.ledger.read(tenant.workspaceId, ofWorkspace);
    expect(states).toEqual(ofWorkspace.map(() => ({ spentNanoUsd: recordedNanoUsd, heldNanoUsd: 0 })));
    for (const seen of statuses) expect(seen[503] ?? 0).toBe(0);
  } finally {
    for (const { child } of all) child.kill('SIGKILL');
    await gateway.close();
    await storage.close();
    await opened.close();
    await rm(folder, { recursive: true, force: true });
  }
}
