import { LRUCache } from 'lru-cache';
import type { Clock } from '../../base/clock.ts';
import { parseWorkspaceId, type WorkspaceId } from '../../call/workspace.ts';
import type { RecordSettings } from '../../schema/settings/records.ts';
import type { Change, Listed, Storage } from '../../stores/storage/storage.ts';
import {
  activeKind,
  grainMs,
  indexAt,
  indexKind,
  indexPartition,
  ownerOf,
  type RowSeries,
  recordKind,
  removal,
  rowKind,
  rowSeries,
  shapeOf,
  startOf,
} from './places.ts';

/** Removes expired and surplus records beside the requests, as many as were written. */
export interface Sweeper {
  /** Notes that records of a workspace were written. */
  wrote(workspaceId: WorkspaceId, count: number): void;
  /** Begins to look for records of an earlier process. */
  begin(): void;
  /** Removes expired and surplus records. Never rejects: a later sweep removes what this one could not. */
  sweep(): Promise<void>;
  close(): void;
}

/**
 * The time between two sweeps of all workspaces with new records. Reads do not show expired records, so it need not be
 * short.
 */
const everyMs = 60_000;
/** The time after which a workspace with many new records is swept. */
const soonMs = 1_000;
/** The number of records that one step removes. */
const step = 500;
/** The time after which records are counted again in any case: other instances write as well. */
const recountMs = 600_000;
/** The number of pages among which each instance chooses its own, so that instances do not remove the same records. */
const lanes = 4;

/** @param share  returns a number from 0 to below 1, different for each instance */
export function createSweeper(storage: Storage, clock: Clock, settings: RecordSettings, share = () => 0): Sweeper {
  /** By workspace: the number of records that were written since its last sweep. */
  const written = new Map<WorkspaceId, number>();
  /** The number of records beyond `records.max` that a workspace may have until its next sweep. */
  const allowance = Math.min(step, Math.ceil(settings.max / 10));
  /**
   * The workspaces with many records less than `max`, when they were counted: to count ten million takes half a second.
   * They are counted again when this instance has written a quarter of what there was room for.
   */
  const rooms = new LRUCache<WorkspaceId, { room: number; left: number; atMs: number }>({ max: 1_000 });
  let planned: { atMs: number; cancel: () => void } | null = null;
  let running: Promise<void> | null = null;
  let lookedAtAllMs = Number.NEGATIVE_INFINITY;
  let hasBegun = false;
  let isClosed = false;

  function schedule(inMs: number): void {
    const atMs = clock.monotonic() + inMs;
    if (isClosed || running !== null || (planned !== null && planned.atMs <= atMs)) return;
    planned?.cancel();
    const cancel = clock.after(inMs, () => void sweep(), { isIdle: true });
    planned = { atMs, cancel };
  }

  function sweep(): Promise<void> {
    planned?.cancel();
    planned = null;
    running ??= sweepAll().then((isEmpty) => {
      running = null;
      if (isDue()) schedule(soonMs);
      else if (!isEmpty || written.size > 0) schedule(everyMs);
    });
    return running;
  }

  const isDue = () => [...written.values()].some((count) => count >= allowance);

  /** @returns true: nothing is left to remove later. Never rejects */
  async function sweepAll(): Promise<boolean> {
    const isOfAll = clock.monotonic() - lookedAtAllMs >= everyMs;
    let due = new Set<WorkspaceId>();
    try {
      if (!hasBegun) await findWorkspaces();
      for (const [workspaceId, count] of written) if (isOfAll || count >= allowance) due.add(workspaceId);
      for (const workspaceId of due) written.delete(workspaceId);
      // One step for each in turn: many records of one workspace do not delay those of another.
      for (let hasMore = true; due.size > 0 || hasMore; await nextTurn()) {
        hasMore = await expire();
        const left = new Set<WorkspaceId>();
        for (const workspaceId of due) if (await trim(workspaceId)) left.add(workspaceId);
        if (isOfAll) for (const workspaceId of due) if (!left.has(workspaceId)) await forgetAllSums(workspaceId);
        due = left;
        if (isClosed) return true;
      }
      if (isOfAll) lookedAtAllMs = clock.monotonic();
      return (await oldest(0, 1)).length === 0;
    } catch {
      // The store does not respond, and has logged that itself.
      for (const workspaceId of due) written.set(workspaceId, written.get(workspaceId) ?? 0);
      return false;
    }
  }

  /** Lets other work of the process run between two steps. */
  function nextTurn(): Promise<void> {
    return new Promise((resolve) => void clock.after(0, resolve));
  }

  /** Finds the workspaces of earlier processes, which may have left too many records. */
  async function findWorkspaces(): Promise<void> {
    for (let offset = 0; ; offset += step) {
      const { records } = await storage.list(indexPartition, activeKind, { offset, limit: step });
      for (const { id } of records) {
        const workspaceId = parseWorkspaceId(id);
        if (workspaceId !== null) written.set(workspaceId, written.get(workspaceId) ?? 0);
      }
      if (records.length < step) break;
    }
    hasBegun = true;
  }

  /** @returns true: more records may have expired */
  async function expire(): Promise<boolean> {
    const beforeMs = clock.now() - settings.ttlMs;
    // The oldest records come first.
    for (const offset of new Set([Math.floor(share() * lanes) * step, 0])) {
      const expired = (await oldest(offset, step)).filter(({ value }) => ownerOf(value).receivedAtMs < beforeMs);
      await remove(expired);
      if (expired.length > 0) return offset > 0 || expired.length === step;
    }
    return false;
  }

  /** Reads from the index, oldest first. Where a store counts a list by reading it, nothing is counted. */
  async function oldest(offset: number, limit: number): Promise<Listed['records']> {
    if (!storage.seek) return (await storage.list(indexPartition, indexKind, { offset, limit })).records;
    const range = { from: null, limit: offset + limit, isFromEnd: false, countUpTo: 0 };
    return (await storage.seek(indexPartition, indexKind, range)).records.slice(offset);
  }

  async function remove(owners: readonly { id: string; value: string }[]): Promise<void> {
    if (owners.length === 0) return;
    const groups = Map.groupBy(owners, ({ value }) => ownerOf(value).workspaceId);
    for (const [workspaceId, group] of groups) {
      if (workspaceId === null) continue;
      await storage.commit(group.flatMap(({ id }) => removal(workspaceId, id)));
    }
    await storage.commit(owners.map(({ id }): Change => ({ at: indexAt(id), value: null })));
  }

  /**
   * Removes the oldest records beyond `max`. A record that has a place beyond `max` in the list never gets an earlier
   * one.
   * @returns true: there are more
   */
  async function trim(workspaceId: WorkspaceId): Promise<boolean> {
    const known = rooms.get(workspaceId);
    if (known && known.left > (known.room * 3) / 4 && clock.monotonic() - known.atMs < recountMs) return false;
    const { max } = settings;
    const total = await countOf(workspaceId, max + lanes * step);
    const room = max - total;
    if (room >= 0) {
      if (room >= lanes * step) rooms.set(workspaceId, { room, left: room, atMs: clock.monotonic() });
      return false;
    }
    // By place, not from the end: another instance may have removed some since they were counted.
    const page = { offset: max + Math.floor(share() * Math.max(0, -room - step)), limit: step };
    const { records } = await storage.list(workspaceId, recordKind, page);
    await storage.commit(records.flatMap(({ id }) => removal(workspaceId, id)));
    await storage.commit(records.map(({ id }): Change => ({ at: indexAt(id), value: null })));
    return -room > records.length;
  }

  async function countOf(workspaceId: WorkspaceId, countUpTo: number): Promise<number> {
    if (!storage.seek) return (await storage.list(workspaceId, recordKind, { offset: 0, limit: 0 })).total;
    return (await storage.seek(workspaceId, recordKind, { from: null, limit: 0, isFromEnd: false, countUpTo })).total;
  }

  async function forgetAllSums(workspaceId: WorkspaceId): Promise<void> {
    for (const series of rowSeries) await forgetSums(workspaceId, series);
  }

  /** Removes the sums that are too old. The oldest are at the end of the list. */
  async function forgetSums(workspaceId: WorkspaceId, series: RowSeries): Promise<void> {
    const kind = rowKind(series);
    const { grain, rowMs } = shapeOf(series);
    // A row of several hours stays as long as its last one.
    const beforeMs = clock.now() - settings[`${grain}sMs`] - (rowMs - grainMs[grain]);
    const { total } = await storage.list(workspaceId, kind, { offset: 0, limit: 0 });
    if (total === 0) return;
    const page = { offset: Math.max(0, total - step), limit: step };
    const { records } = await storage.list(workspaceId, kind, page);
    const old = records.filter(({ id }) => startOf(id) < beforeMs);
    if (old.length === 0) return;
    await storage.commit(old.map(({ id }): Change => ({ at: { partition: workspaceId, kind, id }, value: null })));
  }

  return {
    wrote(workspaceId, count) {
      const known = rooms.get(workspaceId);
      if (known) known.left -= count;
      const all = (written.get(workspaceId) ?? 0) + count;
      written.set(workspaceId, all);
      schedule(all >= allowance ? soonMs : everyMs);
    },
    begin() {
      if (!hasBegun) schedule(everyMs);
    },
    sweep,
    close() {
      isClosed = true;
      planned?.cancel();
      planned = null;
    },
  };
}
