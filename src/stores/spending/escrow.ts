import type { Clock } from '../../base/clock.ts';
import { generationId, type Ids } from '../../base/ids.ts';
import type { WorkspaceId } from '../../call/workspace.ts';
import type { Ledger, LimitedWindow, SpendingWindow, WindowState } from '../ledger/ledger.ts';
import { type Hold, type HoldEnd, isHold, type Taken } from './hold.ts';
import { elapsedSince, freeOf, type Instant, instantOf, reportOf, type Slice, type SliceReport } from './slice.ts';
import type { HoldScope } from './spending.ts';
import { dayMs, type Limited } from './windows.ts';

/**
 * Holds money for requests without a step of the ledger. A process takes a slice of what the budgets have left, as one
 * hold in all windows of the request. Holds are then made out of the slice, and the costs are reported together.
 *
 * Slices are only an addition. Where none has room, a request is held in the ledger by itself. Slices are taken where
 * requests come often. They are small against what is left, so that there are none near a limit.
 */
export interface Escrow {
  /** Makes a hold out of a slice; null: no slice has room. */
  take(scope: HoldScope, limited: Limited, amountNanoUsd: number): Hold | null;
  /** Ends a hold that `take` has made. A cost above 0 has to be passed to `reports` afterwards. */
  ended(hold: Hold, actualNanoUsd: number): void;
  /** Separates the ends of holds in the ledger, and makes one report for each slice of the others. */
  reports(ends: readonly HoldEnd[]): { direct: HoldEnd[]; reports: SliceReport[] };
  /**
   * Gives back what is free in slices of the windows that a refused hold has too little room in, and takes none there
   * for a while. Other slices stay, and so do all where the hold would not fit even then: nobody can take the slices from
   * others by requests that are refused.
   * @param states  of the windows, in the same order
   * @returns resolves when that was sent once, also of slices that are being taken; null: nothing goes back
   */
  giveBack(workspaceId: WorkspaceId, refused: Refused): Promise<unknown> | null;
  /** The states of windows as they would be if all that is free in the slices of this process had gone back. */
  withoutFree(
    workspaceId: WorkspaceId,
    windows: readonly LimitedWindow[],
    states: readonly WindowState[],
  ): WindowState[];
  /** Notes that leases were extended. @param from  a moment before the ledger was asked */
  renewed(ids: readonly string[], from: Instant): void;
  /** Notes that the ledger has confirmed the end of a slice, or that the report was given up. */
  confirmed(): void;
  forget(workspaceId: WorkspaceId): void;
  /** The open slices, and the open holds out of them. */
  count(): { slices: number; holds: number };
  /** Ends every slice with its last request. */
  close(): void;
}

/** A hold that the ledger has refused. */
export interface Refused {
  windows: readonly LimitedWindow[];
  states: readonly WindowState[];
  amountNanoUsd: number;
}

export interface EscrowDeps {
  ledger: Pick<Ledger, 'read'>;
  clock: Clock;
  ids: Ids;
  leaseMs: number;
  /** Holds money in the ledger, and renews its lease. @throws the ledger's error; then nothing is held, or not for long */
  hold(scope: HoldScope, limited: Limited, amountNanoUsd: number): Taken | Promise<Taken>;
  /** Sends a report until the ledger accepts it. Resolves after the first attempt. */
  send(report: SliceReport): void | Promise<void>;
}

/** The time between two looks at the slices of a pool. */
const periodMs = 500;
/** Without a request for this long, all slices of a pool are given back. */
const idleMs = 1_000;
/** After a refusal, no slice is taken for this long. */
const restMs = 1_000;
/** A slice is taken where at least so many requests came in a period, and if it has room for as many. */
const minHolds = 4;
/** The free amount of all slices of a process is at most this part of what the budgets have left. */
const share = 16;
/** The most slices of a pool. Long requests keep old ones open. */
const maxSlices = 8;
/** The part of a lease in which a slice is used: the clocks of two machines do not run at the same speed. */
const usablePart = 0.75;
/** The store forgets the end of a hold after a day. */
const oldestMs = 3_600_000;
/** The shortest time between two looks at what a budget has left, for slices of one pool. */
const gapMs = 50;

/** The slices for requests with the same limits, of the same key, on the same day. */
interface Pool {
  key: string;
  scope: HoldScope;
  limited: Limited;
  slices: Slice[];
  /** The requests of this period, and of the one before. */
  asked: Asked;
  askedBefore: Asked;
  askedAtMs: number;
  /** The most that may be free in the slices. */
  mostFreeNanoUsd: number;
  restUntilMs: number;
  adjustedAtMs: number;
  /** Resolves when the slice that is being taken is there; null: none is being taken, and none is given back. */
  adjusting: Promise<void> | null;
  /** The amount of the slice that is being taken. */
  takingNanoUsd: number;
}

interface Asked {
  holds: number;
  nanoUsd: number;
}

export function createEscrow({ ledger, clock, ids, leaseMs, hold, send }: EscrowDeps): Escrow {
  const pools = new Map<WorkspaceId, Map<string, Pool>>();
  const open = new Map<string, Slice>();
  /** Requests share the list of their limits, so the pool is found without its name. */
  const latest = new WeakMap<Limited, Pool>();
  let cancel: (() => void) | null = null;
  let isClosed = false;
  let slices = 0;
  let holds = 0;

  function poolOf(scope: HoldScope, limited: Limited): Pool {
    const known = latest.get(limited);
    if (known && isFor(known, scope) && pools.get(scope.workspaceId)?.get(known.key) === known) return known;
    const key = keyOf(scope, limited);
    const ofWorkspace = pools.get(scope.workspaceId) ?? new Map<string, Pool>();
    pools.set(scope.workspaceId, ofWorkspace);
    let pool = ofWorkspace.get(key);
    if (!pool) {
      pool = {
        key,
        scope,
        limited,
        slices: [],
        asked: { holds: 0, nanoUsd: 0 },
        askedBefore: { holds: 0, nanoUsd: 0 },
        askedAtMs: clock.monotonic(),
        mostFreeNanoUsd: 0,
        restUntilMs: 0,
        adjustedAtMs: 0,
        adjusting: null,
        takingNanoUsd: 0,
      };
      ofWorkspace.set(key, pool);
      cancel ??= clock.after(periodMs, look, { isIdle: true });
    }
    latest.set(limited, pool);
    return pool;
  }

  const isUsable = (slice: Slice) => !slice.isEnding && elapsedSince(clock, slice.leaseFrom) < leaseMs * usablePart;

  /** The free amount of the slices of a pool that are used. */
  const freeIn = (pool: Pool) => pool.slices.reduce((sum, one) => (one.isEnding ? sum : sum + freeOf(one)), 0);

  function freeInWorkspace(workspaceId: WorkspaceId): number {
    let free = 0;
    for (const pool of pools.get(workspaceId)?.values() ?? []) free += freeIn(pool);
    return free;
  }

  function sent(report: SliceReport | null): void | Promise<void> {
    if (report === null) return;
    if (report.toNanoUsd === null) open.delete(report.slice.id);
    return send(report);
  }

  /** Ends a slice that is not used, or gives back a part of what is free in it. */
  function free(slice: Slice, mostNanoUsd: number): void | Promise<void> {
    return sent(reportOf(slice, 0, mostNanoUsd));
  }

  /** Gives back what is free in a slice. The rest follows when its last request has ended. */
  function end(pool: Pool, slice: Slice): void | Promise<void> {
    slice.isEnding = true;
    pool.slices = pool.slices.filter((one) => one !== slice);
    return free(slice, Number.MAX_SAFE_INTEGER);
  }

  function look(): void {
    cancel = null;
    const nowMs = clock.monotonic();
    for (const [workspaceId, ofWorkspace] of pools) {
      for (const pool of ofWorkspace.values()) {
        pool.askedBefore = pool.asked;
        pool.asked = { holds: 0, nanoUsd: 0 };
        const isIdle = nowMs - pool.askedAtMs >= idleMs;
        for (const slice of pool.slices)
          if (isIdle || !isUsable(slice) || nowMs - slice.sinceMs >= oldestMs) void end(pool, slice);
        if (!isIdle) adjust(pool);
        else if (pool.adjusting === null) ofWorkspace.delete(pool.key);
      }
      if (ofWorkspace.size === 0) pools.delete(workspaceId);
    }
    if (pools.size > 0) cancel = clock.after(periodMs, look, { isIdle: true });
  }

  /** Takes a slice, or gives back a part of some, by what is asked for and by what the budgets have left. */
  function adjust(pool: Pool): void {
    const nowMs = clock.monotonic();
    if (isClosed || pool.adjusting || nowMs < pool.restUntilMs || nowMs < pool.adjustedAtMs + gapMs) return;
    const asked = pool.asked.nanoUsd > pool.askedBefore.nanoUsd ? pool.asked : pool.askedBefore;
    if (asked.holds < minHolds && pool.slices.length === 0) return;
    pool.adjustedAtMs = nowMs;
    pool.adjusting = adjustTo(pool, asked)
      .catch(() => {
        // Telling it is up to the requests that are held by themselves.
        pool.restUntilMs = clock.monotonic() + restMs;
      })
      .finally(() => {
        pool.adjusting = null;
        pool.takingNanoUsd = 0;
      });
  }

  async function adjustTo(pool: Pool, { holds: count, nanoUsd }: Asked): Promise<void> {
    const { scope, limited } = pool;
    const { workspaceId } = scope;
    const states = await ledger.read(workspaceId, limited.windows);
    const left = limited.windows.map(({ limitNanoUsd }, at) => {
      const { spentNanoUsd = 0, heldNanoUsd = 0 } = states[at] ?? {};
      return limitNanoUsd - spentNanoUsd - heldNanoUsd;
    });
    const freeHere = freeInWorkspace(workspaceId);
    const freeElsewhere = freeHere - freeIn(pool);
    const most = Math.max(0, Math.floor((Math.min(...left) + freeHere) / share) - freeElsewhere);
    // Twice what came in a period: the time of two looks.
    const wanted = 2 * nanoUsd;
    const isWorthIt = count > 0 && Math.min(wanted, most) >= (minHolds * nanoUsd) / count;
    pool.mostFreeNanoUsd = isWorthIt ? Math.min(2 * wanted, most) : 0;
    const target = isWorthIt ? Math.min(wanted, most) : 0;
    const missing = target - freeIn(pool);
    if (pool.mostFreeNanoUsd < freeIn(pool)) shrink(pool);
    if (isClosed || missing < target / 2 || missing < 1 || pool.slices.length >= maxSlices) return;
    if (pool.restUntilMs > clock.monotonic()) return;
    const leaseFrom = instantOf(clock);
    // The slice is named like the hold of a call: if it is lost, one record has what was charged for it.
    const callId = generationId(ids, leaseFrom.wallMs);
    pool.takingNanoUsd = Math.floor(missing);
    const taken = await hold({ ...scope, callId }, limited, pool.takingNanoUsd);
    pool.takingNanoUsd = 0;
    if (!isHold(taken)) {
      pool.restUntilMs = clock.monotonic() + restMs;
      return;
    }
    await add(pool, taken, leaseFrom, nanoUsd / count);
  }

  /** @param usualNanoUsd  the usual hold */
  function add(pool: Pool, taken: Hold, leaseFrom: Instant, usualNanoUsd: number): void | Promise<void> {
    const { id, workspaceId, windows, nanoUsd, sinceMs } = taken;
    const slice: Slice = {
      id,
      workspaceId,
      windows,
      sinceMs,
      nanoUsd,
      liveNanoUsd: 0,
      unreportedNanoUsd: 0,
      leaseFrom,
      isEnding: false,
      isEnded: false,
      onTheirWay: [],
    };
    slices++;
    open.set(id, slice);
    for (const one of pool.slices) if (freeOf(one) < usualNanoUsd) void end(pool, one);
    pool.slices.push(slice);
    const isForgotten = pools.get(workspaceId)?.get(pool.key) !== pool;
    if (isClosed || isForgotten || pool.restUntilMs > clock.monotonic()) return end(pool, slice);
  }

  /** Gives back what is free beyond the most, from the newest slices first. */
  function shrink(pool: Pool): void {
    let surplus = freeIn(pool) - pool.mostFreeNanoUsd;
    for (const slice of [...pool.slices].reverse()) {
      const part = Math.min(surplus, freeOf(slice));
      if (part <= 0) continue;
      surplus -= part;
      if (part === slice.nanoUsd) void end(pool, slice);
      else void free(slice, part);
    }
  }

  function note(pool: Pool, amountNanoUsd: number): void {
    pool.asked.holds++;
    pool.asked.nanoUsd += amountNanoUsd;
    pool.askedAtMs = clock.monotonic();
  }

  return {
    take(scope, limited, amountNanoUsd) {
      if (isClosed || amountNanoUsd <= 0) return null;
      const pool = poolOf(scope, limited);
      note(pool, amountNanoUsd);
      for (const slice of pool.slices) {
        if (freeOf(slice) < amountNanoUsd || !isUsable(slice)) continue;
        slice.liveNanoUsd += amountNanoUsd;
        holds++;
        const { id, workspaceId, windows, sinceMs } = slice;
        return { id, workspaceId, windows, nanoUsd: amountNanoUsd, sinceMs, slice };
      }
      if (pool.asked.holds >= minHolds || pool.slices.length > 0) adjust(pool);
      return null;
    },
    ended({ slice, nanoUsd }, actualNanoUsd) {
      if (!slice) return;
      holds--;
      slice.liveNanoUsd -= nanoUsd;
      slice.unreportedNanoUsd += actualNanoUsd;
      // What is free beside other requests goes back with their report.
      const isUnused = slice.liveNanoUsd === 0 && slice.unreportedNanoUsd === 0;
      if (slice.isEnding && isUnused) void free(slice, 0);
    },
    reports(ends) {
      const direct: HoldEnd[] = [];
      const spent = new Map<Slice, number>();
      for (const end of ends) {
        const { slice } = end.hold;
        if (!slice) direct.push(end);
        else if (end.nanoUsd > 0) spent.set(slice, (spent.get(slice) ?? 0) + end.nanoUsd);
      }
      const reports: SliceReport[] = [];
      for (const [slice, nanoUsd] of spent) {
        const report = reportOf(slice, nanoUsd, surplusOf(slice));
        if (report?.toNanoUsd === null) open.delete(slice.id);
        if (report) reports.push(report);
      }
      return { direct, reports };
    },
    giveBack(workspaceId, { windows, states, amountNanoUsd }) {
      const ofWorkspace = [...(pools.get(workspaceId)?.values() ?? [])];
      const sharing = new Set<Pool>();
      for (const [at, window] of windows.entries()) {
        const { spentNanoUsd = 0, heldNanoUsd = 0 } = states[at] ?? {};
        let missing = amountNanoUsd - (window.limitNanoUsd - spentNanoUsd - heldNanoUsd);
        if (missing <= 0) continue;
        for (const pool of ofWorkspace) {
          if (!pool.limited.windows.some((one) => isSame(one, window))) continue;
          missing -= mayGoBack(pool);
          sharing.add(pool);
        }
        if (missing > 0) return null;
      }
      const steps: Promise<void>[] = [];
      for (const pool of sharing) {
        pool.restUntilMs = clock.monotonic() + restMs;
        pool.mostFreeNanoUsd = 0;
        if (pool.adjusting) steps.push(pool.adjusting);
        for (const slice of pool.slices) {
          const step = freeOf(slice) === slice.nanoUsd ? end(pool, slice) : free(slice, Number.MAX_SAFE_INTEGER);
          if (step) steps.push(step);
        }
      }
      return steps.length > 0 ? Promise.all(steps) : null;
    },
    withoutFree(workspaceId, windows, states) {
      const without = states.map((state) => ({ ...state }));
      for (const pool of pools.get(workspaceId)?.values() ?? []) {
        const free = freeIn(pool);
        for (const [at, window] of windows.entries()) {
          const state = without[at];
          if (state && free > 0 && pool.limited.windows.some((one) => isSame(one, window)))
            state.heldNanoUsd = Math.max(0, state.heldNanoUsd - free);
        }
      }
      return without;
    },
    renewed(renewedIds, from) {
      for (const id of renewedIds) {
        const slice = open.get(id);
        // If the lease has ended before the reply came, the ledger may have charged the slice.
        if (slice && isUsable(slice)) slice.leaseFrom = from;
      }
    },
    confirmed() {
      slices--;
    },
    forget(workspaceId) {
      pools.delete(workspaceId);
      for (const slice of open.values()) {
        if (slice.workspaceId !== workspaceId) continue;
        open.delete(slice.id);
        slice.isEnding = true;
        slice.isEnded = true;
        slices--;
      }
    },
    count: () => ({ slices, holds }),
    close() {
      isClosed = true;
      cancel?.();
      cancel = null;
      for (const ofWorkspace of pools.values())
        for (const pool of ofWorkspace.values()) for (const slice of pool.slices) void end(pool, slice);
      pools.clear();
    },
  };

  /** The amount that a report gives back: what is free beyond the most of the pool, or all of a slice that ends. */
  function surplusOf(slice: Slice): number {
    if (slice.isEnding) return Number.MAX_SAFE_INTEGER;
    for (const pool of pools.get(slice.workspaceId)?.values() ?? [])
      if (pool.slices.includes(slice)) return Math.max(0, freeIn(pool) - pool.mostFreeNanoUsd);
    return Number.MAX_SAFE_INTEGER;
  }
}

/** The most that the ledger may hold for the slices of a pool, and not for requests in flight. */
function mayGoBack({ slices, takingNanoUsd }: Pool): number {
  return slices.reduce(
    (sum, { onTheirWay, nanoUsd, liveNanoUsd }) => sum + (onTheirWay[0]?.fromNanoUsd ?? nanoUsd) - liveNanoUsd,
    takingNanoUsd,
  );
}

function isSame(one: SpendingWindow, other: SpendingWindow): boolean {
  return one.account === other.account && one.interval === other.interval && one.startMs === other.startMs;
}

function isFor({ scope }: Pool, { workspaceId, apiKeyHash, isFurther = false, atMs }: HoldScope): boolean {
  return (
    scope.workspaceId === workspaceId &&
    scope.apiKeyHash === apiKeyHash &&
    (scope.isFurther ?? false) === isFurther &&
    Math.floor(scope.atMs / dayMs) === Math.floor(atMs / dayMs)
  );
}

/**
 * The name of a pool in its workspace. The limits are part of it: a lower limit takes effect at once. The key is, since
 * the charge for a lost slice counts for one key. The day is, since windows without a limit change with it.
 */
function keyOf({ apiKeyHash, isFurther = false, atMs }: HoldScope, { windows }: Limited): string {
  const limits = windows.map(({ account, interval, startMs, limitNanoUsd }) => [
    account,
    interval,
    startMs,
    limitNanoUsd,
  ]);
  return JSON.stringify([apiKeyHash, isFurther, Math.floor(atMs / dayMs), limits]);
}
