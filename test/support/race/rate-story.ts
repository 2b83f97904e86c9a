import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import type { WorkspaceId } from '../../../src/call/workspace.ts';
import type { LimitedAccount, Rates } from '../../../src/stores/rates/rates.ts';
import { chooseStorage } from '../../../src/stores/storage/choose.ts';
import { startProcess, startTogether } from './processes.ts';
import type { RateChildPlan, RateChildResult } from './rate-child.ts';
import { openStore, type StoreAt } from './stores.ts';

/** What a gateway on this store would count with, without its time limit. */
export function openRates(at: StoreAt): { rates: Rates; close(): Promise<void> } {
  const { store, close } = openStore(at, { busyTimeoutMs: 20_000 });
  const storage = chooseStorage(store, { clock: systemClock, timeoutMs: 20_000, onLostHold: 'charge' });
  return {
    rates: storage.rates,
    async close() {
      await storage.close();
      await close();
    },
  };
}

const none = { requestsPerMinute: null, tokensPerMinute: null, requestsInFlight: null };
const tokens = 50;

/**
 * Four processes ask for calls of one workspace, with a key each, and one of them dies. At no time more are admitted
 * than the bucket has: the limit, and what has leaked since the start.
 */
export async function raceRatesOn(at: StoreAt): Promise<void> {
  const workspaceId = `w-${randomUUID()}` as WorkspaceId;
  const workspace: LimitedAccount = {
    account: 'workspace',
    requestsPerMinute: 120,
    tokensPerMinute: 5_000,
    requestsInFlight: 9,
  };
  const { rates, close } = openRates(at);
  const children = Array.from({ length: 4 }, (_, index) => {
    const key: LimitedAccount = { ...none, account: `key:${index}`, requestsInFlight: 4 };
    const plan: RateChildPlan = {
      at,
      name: `p${index}`,
      workspaceId,
      accounts: [key, workspace],
      tokens,
      refusals: 60,
      atOnce: 6,
      isKilled: index === 3,
    };
    return { key, process: startProcess<RateChildResult>('rate-child.ts', plan) };
  });
  try {
    await startTogether(
      children.map(({ process }) => process),
      Date.now(),
    );
    const results = await Promise.all(children.map(({ process }) => process.result));
    const admitted = results.flatMap((result) => result.admitted);
    const refused = results.reduce((sum, result) => sum + result.refused, 0);
    const firstMs = Math.min(...admitted.map(({ beforeMs }) => beforeMs));
    const most = (workspace.tokensPerMinute as number) / tokens;
    for (const { afterMs } of admitted) {
      // At least these were admitted by then.
      const count = admitted.filter((one) => one.afterMs <= afterMs).length;
      expect(count).toBeLessThanOrEqual(most * (1 + (afterMs - firstMs) / 60_000));
    }
    expect(Math.max(...results.map(({ mostInFlight }) => mostInFlight))).toBeLessThanOrEqual(9);
    // The race met what it is for: more came than were admitted, and all that the limit allows were.
    expect(refused).toBeGreaterThan(100);
    expect(admitted.length).toBeGreaterThanOrEqual(most);
    // What the dead process had is still in flight, and nothing else is.
    const nowMs = rates.hasClock ? null : Date.now();
    const accounts = [...children.map(({ key }) => key), workspace];
    const states = await rates.read(workspaceId, accounts, nowMs);
    const dead = states[3]?.inFlight as number;
    expect(dead).toBe(3);
    expect(states.map(({ inFlight }) => inFlight)).toEqual([0, 0, 0, dead, dead]);
    // Its lease ends.
    const later = await rates.read(workspaceId, accounts, Date.now() + 120_000);
    expect(later.map(({ inFlight }) => inFlight)).toEqual([0, 0, 0, 0, 0]);
  } finally {
    for (const { process } of children) process.child.kill('SIGKILL');
    await rates.forget(workspaceId).catch(() => undefined);
    await close();
  }
}
