import type { Ids } from '../../src/base/ids.ts';
import type { WorkspaceId } from '../../src/call/workspace.ts';
import type { Ledger } from '../../src/stores/ledger/ledger.ts';
import { memoryLedger } from '../../src/stores/ledger/memory.ts';
import { createSpending } from '../../src/stores/spending/create-spending.ts';
import { type HoldScope, isRefusal, type Reservation, type Spending } from '../../src/stores/spending/spending.ts';
import { memoryStorage } from '../../src/stores/storage/memory.ts';
import type { Storage } from '../../src/stores/storage/storage.ts';
import { chance } from '../routing/chance.ts';
import { simulatedTime } from '../routing/simulated-time.ts';

/**
 * Plays the money of requests with the real code of the gateway, in simulated time: some instances hold and settle on
 * one ledger, which is a round trip away.
 */
export interface Play {
  /** The number of processes. */
  instances: number;
  /** Requests per second at each of them, for one budget. */
  rate: number;
  /** Simulated seconds. */
  seconds: number;
  /** true: out of slices. false: each request by itself. */
  escrow: boolean;
  /** The time of one step at the store, in ms. */
  stepMs: number;
  /** The limit of the budget, in requests of the usual cost. Default: it is far away. */
  limit?: number;
  seed?: number;
}

export interface Played {
  requests: number;
  /** Steps at the store for one request: holds, settlements, reports, notes, leases, reads. */
  steps: number;
  /** The part of the requests that were held without a step. */
  local: number;
  /** The time that a hold added to a request, in ms: on average, and for the slowest of a hundred. */
  holdMs: number;
  holdP99Ms: number;
  /** What was spent of the limit, 1 for all; 0 without a limit. */
  used: number;
  /** The most that was ever spent and held, of the limit. */
  most: number;
  /** The part of the limit that was still free where the first request was refused. */
  freeAtFirstRefusal: number | null;
}

const workspaceId = 'acme' as WorkspaceId;
const noonMs = Date.UTC(2026, 5, 17, 12);
/** What is held for a request, and what it costs in the end. */
const heldNanoUsd = 3_000_000;
const costNanoUsd = 1_000_000;
/** A request takes a second and a half on average. */
const requestMs = 1_500;

export async function play({ instances, rate, seconds, escrow, stepMs, limit, seed = 1 }: Play): Promise<Played> {
  const random = chance(seed);
  const { clock, until } = simulatedTime(noonMs);
  const limitNanoUsd = limit === undefined ? 1e15 : limit * costNanoUsd;
  let steps = 0;
  let most = 0;
  const real = memoryLedger({ onLostHold: 'charge', now: clock.now });
  const records = memoryStorage(real);
  const window = {
    account: 'workspace',
    interval: 'daily',
    startMs: Date.UTC(2026, 5, 17),
    endMs: Date.UTC(2026, 5, 18),
  };
  const look = async () => (await real.read(workspaceId, [window as never]))[0] ?? { spentNanoUsd: 0, heldNanoUsd: 0 };
  const later = (ms: number) => new Promise<void>((resolve) => void clock.after(ms, resolve));
  /** A step: there, and back. */
  const far = async <T>(run: () => Promise<T>): Promise<T> => {
    steps++;
    await later(stepMs / 2);
    const value = await run();
    await later(stepMs / 2);
    return value;
  };
  const ledger = Object.fromEntries(
    Object.entries(real).map(([name, method]) => [
      name,
      (...args: never[]) => far(() => (method as (...args: never[]) => Promise<unknown>)(...args)),
    ]),
  ) as unknown as Ledger;
  const storage: Storage = {
    ...records,
    ledger,
    commit: (changes) => far(() => records.commit(changes)),
    list: (...asked) => far(() => records.list(...asked)),
  };

  let ids = 0;
  const start = (at: number): Spending => {
    const own: Ids = { uuid: () => `i${at}-${++ids}` };
    return createSpending({
      ledger,
      notes: { storage, instance: () => `i${at}` },
      clock,
      ids: own,
      random,
      escrow,
    });
  };

  const endMs = noonMs + seconds * 1_000;
  const waits: number[] = [];
  let requests = 0;
  let local = 0;
  let freeAtFirstRefusal: number | null = null;
  const scope: HoldScope = {
    workspaceId,
    apiKeyHash: null,
    keyLimit: null,
    budgets: [{ interval: 'daily', limitNanoUsd }],
    atMs: noonMs,
  };

  async function request(spending: Spending): Promise<void> {
    const sinceMs = clock.now();
    requests++;
    const asked = spending.hold({ ...scope, callId: `gen-${requests}` }, heldNanoUsd);
    if (!(asked instanceof Promise)) local++;
    const outcome = await asked;
    waits.push(clock.now() - sinceMs);
    if (isRefusal(outcome)) {
      if (freeAtFirstRefusal === null) {
        const { spentNanoUsd, heldNanoUsd: held } = await look();
        freeAtFirstRefusal = (limitNanoUsd - spentNanoUsd - held) / limitNanoUsd;
      }
      return;
    }
    await later(-Math.log(1 - random()) * requestMs);
    (outcome as Reservation).settle({ nanoUsd: costNanoUsd, byokNanoUsd: 0 });
  }

  /** Requests come when they like: the times between them are exponential. */
  async function serve(spending: Spending): Promise<void> {
    const running = new Set<Promise<void>>();
    for (;;) {
      await later((-Math.log(1 - random()) * 1_000) / rate);
      if (clock.now() >= endMs) break;
      const one = request(spending).finally(() => running.delete(one));
      running.add(one);
    }
    await Promise.all(running);
  }

  async function watch(): Promise<void> {
    while (clock.now() < endMs) {
      await later(100);
      const { spentNanoUsd, heldNanoUsd: held } = await look();
      most = Math.max(most, (spentNanoUsd + held) / limitNanoUsd);
    }
  }

  const all = Array.from({ length: instances }, (_, at) => start(at));
  await until(Promise.all([watch(), ...all.map(serve)]));
  const stepsWhileServed = steps;
  await until(Promise.all(all.map((one) => one.close())));
  const { spentNanoUsd } = await look();
  const sorted = waits.toSorted((a, b) => a - b);
  return {
    requests,
    steps: stepsWhileServed / requests,
    local: local / requests,
    holdMs: waits.reduce((sum, ms) => sum + ms, 0) / waits.length,
    holdP99Ms: sorted[Math.floor(sorted.length * 0.99)] ?? 0,
    used: limit === undefined ? 0 : spentNanoUsd / limitNanoUsd,
    most,
    freeAtFirstRefusal,
  };
}
