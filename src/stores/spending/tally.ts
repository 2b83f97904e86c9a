import type { Clock } from '../../base/clock.ts';
import type { Ids } from '../../base/ids.ts';
import { intervals } from '../../base/windows.ts';
import type { WorkspaceId } from '../../call/workspace.ts';
import type { Addition, Ledger } from '../ledger/ledger.ts';
import type { Deliveries } from './deliveries.ts';
import { bitOf, dayMs, type IntervalSet, windowsAt } from './windows.ts';

/** Counts what was spent where nothing limits it, and brings the sums to the ledger now and then. */
export interface Tally {
  /**
   * Adds to all windows of an account at an instant but those of some intervals, which are booked elsewhere.
   * @param atMs  epoch ms
   */
  count(workspaceId: WorkspaceId, account: string, atMs: number, nanoUsd: number, without: IntervalSet): void;
  /** When what was counted has been sent once, whatever came of it. Never rejects. */
  flush(workspaceId: WorkspaceId): Promise<void>;
  /**
   * As `flush`, where something was counted in windows that are limited from now on: it was spent before, and is not
   * to be left out. null: nothing was.
   */
  flushFor(workspaceId: WorkspaceId, account: string, limited: IntervalSet): Promise<void> | null;
  flushAll(): Promise<void>;
  forget(workspaceId: WorkspaceId): void;
  /** From now on sums are sent as they come. */
  close(): Promise<void>;
}

export interface TallyDeps {
  ledger: Ledger;
  clock: Clock;
  ids: Ids;
  deliveries: Deliveries;
  /** For how long sums are gathered at most. */
  flushMs: number;
  /** Workspaces that are no more: for them nothing is counted. */
  forgotten: ReadonlySet<WorkspaceId>;
}

/** Sums by account, then by day and the intervals left out: one number for up to four windows. */
type Sums = Map<string, Map<number, number>>;

interface Counted {
  sums: Sums;
  /** Those that have been sent, until they are confirmed. */
  sentSums: Sums;
  /** What has been sent and not been taken yet, by number of calls. Until then sums are gathered here, however long. */
  unconfirmed: number;
  sent: Promise<unknown>;
}

/** Sums in one step of the ledger. */
const batch = 400;
const nothing: Sums = new Map();
const intervalSets = 1 << intervals.length;

export function createTally({ ledger, clock, ids, deliveries, flushMs, forgotten }: TallyDeps): Tally {
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
    if (counted.unconfirmed > 0) await counted.sent;
    if (counted.unconfirmed === 0 && counted.sums.size > 0) send(workspaceId, counted);
    await counted.sent;
  }

  function send(workspaceId: WorkspaceId, counted: Counted): void {
    const additions = additionsOf(counted.sums);
    counted.sentSums = counted.sums;
    counted.sums = new Map();
    const batches: Promise<void>[] = [];
    for (let at = 0; at < additions.length; at += batch) {
      const id = ids.uuid();
      const part = additions.slice(at, at + batch);
      counted.unconfirmed++;
      batches.push(
        deliveries.deliver({
          workspaceId,
          kind: 'addition',
          send: () => ledger.add(workspaceId, id, part, clock.now()),
          end: () => confirm(workspaceId, counted),
        }),
      );
    }
    counted.sent = Promise.all(batches);
  }

  function confirm(workspaceId: WorkspaceId, counted: Counted): void {
    counted.unconfirmed--;
    if (counted.unconfirmed > 0) return;
    counted.sentSums = nothing;
    if (counted.sums.size > 0) schedule();
    else if (all.get(workspaceId) === counted) all.delete(workspaceId);
  }

  return {
    count(workspaceId, account, atMs, nanoUsd, without) {
      if (nanoUsd === 0 || without === intervalSets - 1) return;
      let counted = all.get(workspaceId);
      if (!counted) {
        if (forgotten.has(workspaceId)) return;
        counted = { sums: new Map(), sentSums: nothing, unconfirmed: 0, sent: Promise.resolve() };
        all.set(workspaceId, counted);
      }
      let ofAccount = counted.sums.get(account);
      if (!ofAccount) {
        ofAccount = new Map();
        counted.sums.set(account, ofAccount);
      }
      const slot = Math.floor(atMs / dayMs) * intervalSets + without;
      ofAccount.set(slot, (ofAccount.get(slot) ?? 0) + nanoUsd);
      if (counted.unconfirmed === 0) schedule();
    },
    flush,
    flushFor(workspaceId, account, limited) {
      const counted = all.get(workspaceId);
      const isCounted = (sums: Sums) => [...(sums.get(account)?.keys() ?? [])].some((slot) => limited & ~slot);
      return counted && (isCounted(counted.sums) || isCounted(counted.sentSums)) ? flush(workspaceId) : null;
    },
    flushAll,
    forget: (workspaceId) => void all.delete(workspaceId),
    close() {
      isClosed = true;
      return flushAll();
    },
  };
}

function additionsOf(sums: Sums): Addition[] {
  const additions = new Map<string, Addition>();
  for (const [account, slots] of sums) {
    for (const [slot, nanoUsd] of slots) {
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
