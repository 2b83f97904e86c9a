import { LRUCache } from 'lru-cache';
import { type Clock, isoTime } from '../../base/clock.ts';
import { createFairCache } from '../../base/fair-cache.ts';
import type { Ids } from '../../base/ids.ts';
import { nanoToUsd } from '../../base/money.ts';
import { windowOf } from '../../base/windows.ts';
import type { WorkspaceId } from '../../call/workspace.ts';
import type { BudgetEvent } from '../../schema/settings/budget-events.ts';
import type { Ledger, LimitedWindow, WindowState } from '../ledger/ledger.ts';
import type { BookingObserver } from '../spending/spending.ts';
import { keyAccount, noKey, scopeOf, workspaceAccount } from '../spending/windows.ts';
import { type StoreLogger, writeLog } from '../storage/logger.ts';
import type { EventMarks } from './marks.ts';

/** Raises the events of budgets. It never slows or fails a request. */
export interface BudgetWatch extends BookingObserver {
  /** Raises the event of a refused request. */
  refused(refused: RefusedBudget): void;
  /** Handles the latest bookings, and ends. Never rejects. */
  close(): Promise<void>;
}

/** A refusal by a limit, with the metadata of its error. */
export interface RefusedBudget {
  workspaceId: WorkspaceId;
  apiKeyHash: string | null;
  /** The property `metadata` of the error. */
  metadata: Readonly<Record<string, unknown>>;
  atMs: number;
}

export interface BudgetWatchDeps {
  ledger: Pick<Ledger, 'read'>;
  marks: EventMarks;
  clock: Clock;
  ids: Ids;
  logger: StoreLogger | null;
  /** Per cent, ascending. */
  thresholds: readonly number[];
  emit(event: BudgetEvent): void;
}

/** The shortest time between two reads of the windows of a workspace. */
const pauseMs = 1_000;
const retryMs = 5_000;
/**
 * The most windows whose raised events this process remembers, so that it need not read their marks again. A workspace
 * may have any number of windows: those of all its keys, with each limit that they ever had.
 */
const maxRemembered = 10_000;
const idleMs = 3_600_000;
/** The most windows of a workspace that wait to be read. */
const maxWaiting = 10_000;

interface Waiting {
  windows: Map<string, LimitedWindow>;
  cancel: () => void;
}

export function createBudgetWatch(deps: BudgetWatchDeps): BudgetWatch {
  const { ledger, marks, clock, ids, logger, thresholds, emit } = deps;
  const waiting = new Map<WorkspaceId, Waiting>();
  const looked = new LRUCache<WorkspaceId, number>({ max: maxRemembered });
  /** By window and limit: the threshold up to which events were raised. */
  const raised = createFairCache<string, number>({ clock, max: maxRemembered, idleMs });
  const refusals = createFairCache<string, true>({ clock, max: maxRemembered, idleMs });
  const busy = new Set<Promise<void>>();
  let isClosed = false;

  function track(work: Promise<void>): void {
    busy.add(work);
    void work.finally(() => busy.delete(work));
  }

  function lookLater(workspaceId: WorkspaceId, windows: Map<string, LimitedWindow>, ms: number): void {
    const cancel = clock.after(ms, () => track(look(workspaceId)), { isIdle: true });
    waiting.set(workspaceId, { windows, cancel });
  }

  async function look(workspaceId: WorkspaceId): Promise<void> {
    const found = waiting.get(workspaceId);
    if (!found) return;
    waiting.delete(workspaceId);
    found.cancel();
    looked.set(workspaceId, clock.monotonic());
    const windows = [...found.windows.values()];
    try {
      const states = await ledger.read(workspaceId, windows);
      for (const [at, window] of windows.entries()) await compare(workspaceId, window, states[at] as WindowState);
    } catch (error) {
      writeLog(logger, 'warn', { error, workspaceId }, 'the budgets could not be looked at for events');
      // Windows that were booked since then have the newer limits.
      const newer = waiting.get(workspaceId);
      newer?.cancel();
      if (!isClosed) lookLater(workspaceId, new Map([...found.windows, ...(newer?.windows ?? [])]), retryMs);
    }
  }

  async function compare(workspaceId: WorkspaceId, window: LimitedWindow, state: WindowState): Promise<void> {
    const reached = thresholds.filter((percent) => state.spentNanoUsd >= nanoOf(percent, window.limitNanoUsd));
    const highest = reached.at(-1) ?? 0;
    const key = keyOf(workspaceId, window);
    if (highest <= (raised.get(key) ?? 0)) return;
    const before = await marks.reach(workspaceId, window, highest);
    raised.set(workspaceId, key, highest);
    for (const percent of reached) if (percent > before) emit(eventOf(workspaceId, window, state, percent));
  }

  async function refuse({ workspaceId, window, state }: Refused): Promise<void> {
    try {
      if (await marks.refuse(workspaceId, window)) emit(eventOf(workspaceId, window, state, null));
    } catch (error) {
      refusals.delete(keyOf(workspaceId, window));
      writeLog(logger, 'warn', { error, workspaceId }, 'the event of a refused request could not be raised');
    }
  }

  function eventOf(
    workspaceId: WorkspaceId,
    window: LimitedWindow,
    { spentNanoUsd, heldNanoUsd }: WindowState,
    percent: number | null,
  ): BudgetEvent {
    const { account, interval, endMs, limitNanoUsd, guardrail } = window;
    const hash = account.slice(keyAccount('').length);
    return {
      id: ids.uuid(),
      type: percent === null ? 'budget.refusal' : 'budget.threshold',
      created_at: isoTime(clock.now()),
      workspace_id: workspaceId,
      scope: scopeOf(window),
      api_key_hash: account === workspaceAccount || hash === noKey ? null : hash,
      guardrail_id: guardrail?.id ?? null,
      interval,
      threshold_percent: percent,
      limit_usd: nanoToUsd(limitNanoUsd),
      spent_usd: nanoToUsd(spentNanoUsd),
      held_usd: nanoToUsd(heldNanoUsd),
      resets_at: endMs === null ? null : isoTime(endMs),
    };
  }

  const isDone = (workspaceId: WorkspaceId, window: LimitedWindow) =>
    (raised.get(keyOf(workspaceId, window)) ?? 0) >= (thresholds.at(-1) ?? 0);

  return {
    booked(workspaceId, windows) {
      const open = windows.filter((window) => !isDone(workspaceId, window));
      if (open.length === 0 || isClosed) return;
      const known = waiting.get(workspaceId);
      const all = known?.windows ?? new Map<string, LimitedWindow>();
      for (const window of open) if (all.size < maxWaiting) all.set(`${window.interval} ${window.account}`, window);
      if (known) return;
      const sinceMs = clock.monotonic() - (looked.get(workspaceId) ?? Number.NEGATIVE_INFINITY);
      lookLater(workspaceId, all, Math.max(0, pauseMs - sinceMs));
    },
    refused(given) {
      const refused = refusedWindow(given);
      if (refused === null || isClosed) return;
      const key = keyOf(given.workspaceId, refused.window);
      if (refusals.get(key)) return;
      refusals.set(given.workspaceId, key, true);
      track(refuse(refused));
    },
    async close() {
      isClosed = true;
      await Promise.all([...waiting.keys()].map(look));
      await Promise.all(busy);
    },
  };
}

function keyOf(workspaceId: WorkspaceId, { account, interval, startMs, limitNanoUsd }: LimitedWindow): string {
  return `${workspaceId} ${interval} ${startMs} ${limitNanoUsd} ${account}`;
}

function nanoOf(percent: number, limitNanoUsd: number): number {
  // BigInt stays exact where the product exceeds the safe integers.
  return Number((BigInt(limitNanoUsd) * BigInt(percent) + 99n) / 100n);
}

interface Refused {
  workspaceId: WorkspaceId;
  window: LimitedWindow;
  state: WindowState;
}

/** @returns null: no budget caused the error */
function refusedWindow({ workspaceId, apiKeyHash, metadata, atMs }: RefusedBudget): Refused | null {
  const { scope, guardrail_id: guardrailId, interval, limit_usd: limit, spent_usd: spent, held_usd: held } = metadata;
  if (scope === undefined || interval === undefined) return null;
  const nano = (usd: unknown) => Math.round(Number(usd) * 1e9);
  const named = interval as LimitedWindow['interval'];
  return {
    workspaceId,
    window: {
      account: scope === 'workspace' ? workspaceAccount : keyAccount(apiKeyHash ?? noKey),
      interval: named,
      ...windowOf(named, atMs),
      limitNanoUsd: nano(limit),
      ...(typeof guardrailId === 'string' ? { guardrail: { id: guardrailId, name: '' } } : {}),
    },
    state: { spentNanoUsd: nano(spent), heldNanoUsd: nano(held) },
  };
}
