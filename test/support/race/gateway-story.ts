import { expect } from 'vitest';
import type { Gateway } from '../../../src/gateway.ts';
import type { Ledger, LimitedWindow } from '../../../src/stores/ledger/ledger.ts';
import { chooseStorage } from '../../../src/stores/storage/choose.ts';
import { limited, newTenant, statesOf, type Tenant, type TenantLimits, untilNothingHeld, windowsOf } from './books.ts';
import { movableClock, raceGateway } from './gateway.ts';
import type { ChildPlan } from './gateway-child.ts';
import { type Observed, observe } from './observe.ts';
import { startProcess, startTogether } from './processes.ts';
import { play, smallRequest } from './requests.ts';
import { type RaceResult, raceRecords } from './run.ts';
import { openStore, type StoreAt } from './stores.ts';

export const racers = 4;
export const requestsEach = 2_000;
/** Requests that one process has in flight. */
export const width = 24;
/** Not the seeds of requests that are no part of the race. */
export const seedOf = (racer: number) => Number(process.env.RACE_SEED ?? 20_261_121) + racer * 10_000;

/** A Monday, the first of a year: day, week and month turn. */
const midnightMs = Date.UTC(2091, 0, 1);
/** The race begins so long before it: in the middle, all but the lifetime starts anew. */
export const raceStartsMs = midnightMs - 2_500;
/** Long before, and in the same windows: for all that has to be there first. */
export const beforeRaceMs = midnightMs - 3_600_000;

/** About half of what would be spent without them. */
export const limits: TenantLimits = {
  budgets: { daily: 0.2, lifetime: 0.3 },
  keys: [
    { limit: 0.1, limit_reset: null, include_byok_in_limit: true },
    { limit: 0.05, limit_reset: 'daily' },
    { limit: 0.03, limit_reset: 'monthly' },
  ],
};

export const windowsOfRace = (tenant: Tenant): LimitedWindow[] =>
  limited(tenant, windowsOf(tenant, [raceStartsMs, midnightMs]));

/**
 * Four processes with a gateway each spend the budgets of one workspace, through every kind of luck with providers and
 * clients, while a fifth watches: at no time more is spent and held than any limit, in the end the books are what the
 * processes recorded, and nothing stands in the way of what is left.
 */
export async function raceGatewaysOn(at: StoreAt, { escrow = false } = {}): Promise<void> {
  const opened = openStore(at, { busyTimeoutMs: 30_000 });
  const clock = movableClock(beforeRaceMs);
  const own = raceRecords(0);
  const budgets = { escrow };
  const gateway = raceGateway(opened.store, { clock, storeTimeoutMs: 30_000, budgets, onRecord: own.onRecord });
  const storage = chooseStorage(opened.store, { clock, timeoutMs: 30_000, onLostHold: 'charge' });
  const tenant = await newTenant(gateway, limits);
  const keys = tenant.keys.map(({ key }) => key);
  const includesByok = tenant.keys.map((key) => key.includesByok);
  const processes = Array.from({ length: racers }, (_, racer) => {
    const race = { keys, includesByok, requests: requestsEach, width, seed: seedOf(racer) };
    return startProcess<RaceResult>('gateway-child.ts', { at, nowMs: clock.now(), race, budgets } satisfies ChildPlan);
  });
  try {
    await Promise.all(processes.map(({ ready }) => ready));
    // The clocks are moved on by more than a lease: what was asked beforehand has to be settled by then.
    await untilNothingHeld(storage.ledger, tenant, windowsOfRace(tenant));
    const startAtMs = await startTogether(processes, raceStartsMs);
    clock.set(raceStartsMs - (startAtMs - Date.now()));
    const watching = observe(storage.ledger, tenant.workspaceId, windowsOfRace(tenant));
    const results = await Promise.all(processes.map(({ result }) => result));
    const observed = await watching.stop();
    await expectFairRace({ tenant, results, observed, ledger: storage.ledger, gateway, own });
  } finally {
    for (const { child } of processes) child.kill('SIGKILL');
    await gateway.close();
    await storage.close();
    await opened.close();
  }
}

export interface Raced {
  tenant: Tenant;
  results: readonly RaceResult[];
  observed: Observed;
  ledger: Ledger;
  /** One that is still open, and what it has recorded. */
  gateway: Gateway;
  own: ReturnType<typeof raceRecords>;
}

export async function expectFairRace(raced: Raced): Promise<void> {
  const { tenant, results, observed, ledger, gateway, own } = raced;
  const windows = windowsOfRace(tenant);
  const read = () => ledger.read(tenant.workspaceId, windows);
  for (const { seed, wrong } of results) expect({ seed, wrong: wrong.slice(0, 10) }).toEqual({ seed, wrong: [] });
  expect(observed.wrong.slice(0, 10)).toEqual([]);
  const total = (count: (result: RaceResult) => number) => results.reduce((sum, result) => sum + count(result), 0);
  const ended = (status: number) => total(({ statuses }) => statuses[status] ?? 0);
  expect(total(({ statuses }) => Object.values(statuses).reduce((a, b) => a + b))).toBe(results.length * requestsEach);

  const booked = results.flatMap((result) => result.booked);
  expect(await read()).toEqual(statesOf(tenant, windows, [...booked, ...own.result.booked]));

  // Requests without usage are estimated, and on no bill here.
  const bookedNanoUsd = booked.reduce((sum, { nanoUsd, byokNanoUsd }) => sum + nanoUsd + byokNanoUsd, 0);
  expect(total(({ billedNanoUsd }) => billedNanoUsd)).toBeLessThanOrEqual(bookedNanoUsd);

  // It was a race: all took part, all kinds of ends were met, and many were after the last of the money.
  for (const { statuses } of results) expect(Math.min(statuses[200] ?? 0, statuses[402] ?? 0)).toBeGreaterThan(20);
  for (const status of [0, 400, 408, 502, 524]) expect([status, ended(status) > 10]).toEqual([status, true]);
  expect(
    Math.min(
      total(({ paidFailures }) => paidFailures),
      total(({ estimated }) => estimated),
    ),
  ).toBeGreaterThan(50);
  expect(total(({ wrapped }) => wrapped)).toBeGreaterThan(100);
  expect(total(({ wrappedBilled }) => wrappedBilled)).toBeGreaterThan(20);
  expect(total(({ wrappedPaidFailures }) => wrappedPaidFailures)).toBeGreaterThan(10);
  expect(observed.reads).toBeGreaterThan(20);
  expect(observed.highestHeldNanoUsd).toBeGreaterThan(0);

  // What is left can be used, to the last request that fits.
  const key = tenant.keys[0]?.key as string;
  for (let seed = 1, maxTokens = 256; maxTokens > 0; seed++) {
    const request = smallRequest(seed, maxTokens);
    const played = await play(gateway, request, key);
    own.see(request, played);
    if (played.status !== 402) continue;
    const { limit_usd, spent_usd, held_usd } = played.error.metadata;
    expect(held_usd).toBe(0);
    if (maxTokens === 1) expect(spent_usd).toBeGreaterThanOrEqual(limit_usd * 0.98);
    maxTokens = Math.floor(maxTokens / 16);
  }
  expect(own.result.wrong).toEqual([]);
  await gateway.close();
  expect(await read()).toEqual(statesOf(tenant, windows, [...booked, ...own.result.booked]));
}
