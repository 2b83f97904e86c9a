import { LRUCache } from 'lru-cache';
import type { Clock } from '../../base/clock.ts';
import type { Ids } from '../../base/ids.ts';
import { intervals } from '../../base/windows.ts';
import type { WorkspaceId } from '../../call/workspace.ts';
import type { SpendingAddition } from '../ledger/ledger.ts';
import type { Actual, HoldScope } from './spending.ts';
import { bitOf, dayMs, type IntervalSet, keyAccount, type Limited, windowsAt, workspaceAccount } from './windows.ts';

/** Counts spending that has no limit, and sends the sums to the ledger now and then. */
export interface UsageCounter {
  /**
   * Adds the spending to all windows of the scope's accounts at its instant, except for limited windows: the end of a
   * hold books those. The use of BYOK credentials has accounts of its own, which have no limits.
   */
  count(scope: HoldScope, limited: Limited, spent: Actual): void;
  /** Resolves after one attempt to send the counted sums, with success or not. Never rejects. */
  flush(workspaceId: WorkspaceId): Promise<void>;
  /**
   * Like `flush`, if there are sums in windows that are limited from now on: this earlier spending must count. null:
   * there are no such sums.
   */
  flushFor(scope: HoldScope, limited: Limited): Promise<void> | null;
  flushAll(): Promise<void>;
  /** Takes the sums to send them; null: there are none, or the store has not accepted earlier ones yet. */
  take(workspaceId: WorkspaceId): CountedSums | null;
  forget(workspaceId: WorkspaceId): void;
  /** From now on, each sum is sent at once. */
  close(): Promise<void>;
}

/** Sums that were taken to be sent. */
export interface CountedSums {
  /** The parts, each for one step of the ledger. */
  parts: readonly SumsPart[];
  /** Called once for each part: the store has accepted it, or it was given up. */
  confirm(): void;
}

export interface SumsPart {
  /** The ledger books an id once, whoever sends it. */
  id: string;
  additions: readonly SpendingAddition[];
}

/** Sends a part until the ledger accepts it. */
export type SendSums = (
  workspaceId: WorkspaceId,
  part: SumsPart,
  end: (isTaken: boolean) => void,
) => void | Promise<void>;

export interface UsageCounterDeps {
  clock: Clock;
  ids: Ids;
  send: SendSums;
  /** Sends what `take` returns, together with other bookings of the workspace; null: no other code sends it. */
  flushTogether: ((workspaceId: WorkspaceId) => Promise<void>) | null;
  /** The longest time that sums are collected. */
  flushMs: number;
  /** Deleted workspaces: nothing is counted for them. */
  forgotten: ReadonlySet<WorkspaceId>;
}

/** By account. */
type Sums = Map<string, AccountSums>;

interface AccountSums {
  /** By day and by the set of intervals that are left out: one number for up to four windows. */
  slots: Map<number, { nanoUsd: number }>;
  /** The intervals that have a sum. */
  intervals: IntervalSet;
}

interface Counted {
  sums: Sums;
  /** The sums that were sent and are not confirmed yet. */
  sentSums: Sums;
  /**
   * The number of entries that the store has not accepted yet. Until then, new sums are collected here, without a time
   * limit.
   */
  unconfirmed: number;
  sent: Promise<unknown>;
}

/** The number of api keys whose account names are remembered. */
const maxNames = 1_000;

/** The number of sums in one step of the ledger. */
const batch = 400;
const nothing: Sums = new Map();
const intervalSets = 1 << intervals.length;
const allIntervals: IntervalSet = intervalSets - 1;

export function createUsageCounter({
  clock,
  ids,
  send,
  flushTogether,
  flushMs,
  forgotten,
}: UsageCounterDeps): UsageCounter {
  const all = new Map<WorkspaceId, Counted>();
  let cancel: (() => void) | null = null;
  let isClosed = false;

  function schedule(): void {
    if (isClosed) void flushAll();
    else cancel ??= clock.after(flushMs, () => void flushAll());
  }

  function stop(): void {
    cancel?.();
    cancel = null;
  }

  async function flushAll(): Promise<void> {
    stop();
    await Promise.all([...all.keys()].map(flush));
  }

  async function flush(workspaceId: WorkspaceId): Promise<void> {
    const counted = all.get(workspaceId);
    if (!counted) return;
    if (flushTogether) return flushTogether(workspaceId);
    if (counted.unconfirmed > 0) await counted.sent;
    const taken = take(workspaceId);
    if (taken) counted.sent = Promise.all(taken.parts.map((part) => send(workspaceId, part, taken.confirm)));
    await counted.sent;
  }

  function take(workspaceId: WorkspaceId): CountedSums | null {
    const counted = all.get(workspaceId);
    if (!counted || counted.unconfirmed > 0 || counted.sums.size === 0) return null;
    const additions = additionsOf(counted.sums);
    counted.sentSums = counted.sums;
    counted.sums = new Map();
    const parts: SumsPart[] = [];
    for (let at = 0; at < additions.length; at += batch)
      parts.push({ id: ids.uuid(), additions: additions.slice(at, at + batch) });
    counted.unconfirmed = parts.length;
    return { parts, confirm: () => confirm(workspaceId, counted) };
  }

  function confirm(workspaceId: WorkspaceId, counted: Counted): void {
    counted.unconfirmed--;
    if (counted.unconfirmed > 0) return;
    counted.sentSums = nothing;
    if (counted.sums.size > 0) schedule();
    else if (all.get(workspaceId) === counted) all.delete(workspaceId);
  }

  function countedOf(workspaceId: WorkspaceId): Counted | null {
    const known = all.get(workspaceId);
    if (known || forgotten.has(workspaceId)) return known ?? null;
    const counted = { sums: new Map(), sentSums: nothing, unconfirmed: 0, sent: Promise.resolve() };
    all.set(workspaceId, counted);
    return counted;
  }

  const names = new LRUCache<string, { account: string; byok: string }>({
    max: maxNames,
    memoMethod: (hash) => namesOf(keyAccount(hash)),
  });

  return {
    count({ workspaceId, apiKeyHash, atMs, isFurther }, { ofWorkspace, ofKey }, { nanoUsd, byokNanoUsd }) {
      if (nanoUsd === 0 && byokNanoUsd === 0) return;
      const counted = countedOf(workspaceId);
      if (!counted) return;
      const day = Math.floor(atMs / dayMs);
      if (!isFurther) {
        add(counted.sums, namesOfWorkspace.account, day, ofWorkspace, nanoUsd);
        add(counted.sums, namesOfWorkspace.byok, day, 0, byokNanoUsd);
      }
      if (apiKeyHash !== null) {
        const { account, byok } = names.memo(apiKeyHash);
        add(counted.sums, account, day, ofKey, nanoUsd);
        add(counted.sums, byok, day, 0, byokNanoUsd);
      }
      if (counted.unconfirmed > 0) return;
      if (counted.sums.size > 0) schedule();
      else all.delete(workspaceId);
    },
    flush,
    flushFor({ workspaceId, apiKeyHash }, { ofWorkspace, ofKey }) {
      const counted = all.get(workspaceId);
      if (!counted) return null;
      const isCounted = (account: string, limited: IntervalSet) =>
        ((counted.sums.get(account)?.intervals ?? 0) & limited) !== 0 ||
        ((counted.sentSums.get(account)?.intervals ?? 0) & limited) !== 0;
      const wasCounted =
        isCounted(workspaceAccount, ofWorkspace) ||
        (apiKeyHash !== null && ofKey !== 0 && isCounted(names.memo(apiKeyHash).account, ofKey));
      return wasCounted ? flush(workspaceId) : null;
    },
    flushAll,
    take,
    forget: (workspaceId) => void all.delete(workspaceId),
    close() {
      isClosed = true;
      return flushAll();
    },
  };
}

const namesOfWorkspace = namesOf(workspaceAccount);

function namesOf(account: string): { account: string; byok: string } {
  return { account, byok: `${account}:byok` };
}

function add(sums: Sums, account: string, day: number, without: IntervalSet, nanoUsd: number): void {
  if (nanoUsd === 0 || without === allIntervals) return;
  let ofAccount = sums.get(account);
  if (!ofAccount) {
    ofAccount = { slots: new Map(), intervals: 0 };
    sums.set(account, ofAccount);
  }
  const slot = day * intervalSets + without;
  const sum = ofAccount.slots.get(slot);
  if (sum) sum.nanoUsd += nanoUsd;
  else {
    ofAccount.slots.set(slot, { nanoUsd });
    ofAccount.intervals |= allIntervals & ~without;
  }
}

function additionsOf(sums: Sums): SpendingAddition[] {
  const additions = new Map<string, SpendingAddition>();
  for (const [account, { slots }] of sums) {
    for (const [slot, { nanoUsd }] of slots) {
      const windows = windowsAt(Math.floor(slot / intervalSets) * dayMs);
      for (const interval of intervals) {
        if (slot & bitOf(interval)) continue;
        const window = { account, interval, ...windows[interval] };
        const key = `${interval} ${window.startMs} ${account}`;
        const known = additions.get(key);
        if (known) known.nanoUsd += nanoUsd;
        else additions.set(key, { window, nanoUsd });
      }
    }
  }
  return [...additions.values()];
}
