import type { Clock } from '../base/clock.ts';
import type { WorkspaceId } from '../call/workspace.ts';
import type { Change, Listed, Storage } from '../stores/storage/storage.ts';
import { indexPartition, ownerOf } from './records/places.ts';

/** Removes what has expired and what is too much of one kind, such as kept responses, beside the requests. */
export interface KeptSweeper {
  /** Notes that something of a workspace was written. */
  wrote(workspaceId: WorkspaceId): void;
  /** Begins to look for what an earlier process has kept. */
  begin(): void;
  /** Removes what has expired and what is too much. Never rejects: a later sweep removes what this one could not. */
  sweep(): Promise<void>;
  close(): void;
}

/** The time between two sweeps. What has expired is not shown, so it need not be short. */
const everyMs = 60_000;
/** The number of entries that one step removes. */
const step = 200;

/** The entries that one sweeper removes, and how. */
export interface SweptKind {
  /** The kind of the entries. Those of a workspace are in its own partition, newest first. */
  entryKind: string;
  /** The kind of the index of all workspaces, oldest first, whose texts are those of `ownerText`. */
  indexKind: string;
  /** The time for which an entry is kept. */
  ttlMs: number;
  /** The most entries of one workspace. */
  max: number;
  /**
   * Removes entries with all that belongs to them, but not what was written again since: an entry that is newer than
   * `beforeMs`, or another one than the text that the list has shown.
   * @returns the ids of those that are gone
   */
  remove(workspaceId: WorkspaceId, found: Swept): Promise<readonly string[]>;
}

/** Entries that are to be removed: those of some ids that are older than a time, or those that a list has shown. */
export type Swept = { ids: readonly string[]; beforeMs: number } | { records: Listed['records'] };

export function createKeptSweeper(
  storage: Storage,
  clock: Clock,
  { entryKind, indexKind, ttlMs, max, remove }: SweptKind,
): KeptSweeper {
  /** The workspaces in which something was written since their last sweep. */
  const written = new Set<WorkspaceId>();
  let cancel: (() => void) | null = null;
  let running: Promise<void> | null = null;
  let hasBegun = false;
  let isClosed = false;

  function schedule(): void {
    if (isClosed || cancel !== null || running !== null) return;
    cancel = clock.after(everyMs, () => void sweep(), { isIdle: true });
  }

  function sweep(): Promise<void> {
    cancel?.();
    cancel = null;
    running ??= sweepAll().then((isEmpty) => {
      running = null;
      if (!isEmpty || written.size > 0) schedule();
    });
    return running;
  }

  /** @returns true: nothing is left to remove later. Never rejects */
  async function sweepAll(): Promise<boolean> {
    const due = new Set(written);
    try {
      while (!isClosed && (await expire())) await nextTurn();
      for (const workspaceId of due) {
        while (!isClosed && (await trim(workspaceId))) await nextTurn();
        written.delete(workspaceId);
      }
      return (await storage.list(indexPartition, indexKind, { offset: 0, limit: 0 })).total === 0;
    } catch {
      // The store does not respond, and has logged that itself.
      return false;
    }
  }

  /** Lets other work of the process run between two steps. */
  function nextTurn(): Promise<void> {
    return new Promise((resolve) => void clock.after(0, resolve));
  }

  /** @returns true: more may have expired */
  async function expire(): Promise<boolean> {
    const beforeMs = clock.now() - ttlMs;
    // The oldest come first.
    const { records } = await storage.list(indexPartition, indexKind, { offset: 0, limit: step });
    const expired = records.filter(({ value }) => ownerOf(value).receivedAtMs < beforeMs);
    const groups = Map.groupBy(expired, ({ value }) => ownerOf(value).workspaceId);
    let gone = 0;
    for (const [workspaceId, group] of groups) {
      const ids = group.map(({ id }) => id);
      const removed = workspaceId === null ? ids : await remove(workspaceId, { ids, beforeMs });
      await forget(removed);
      gone += removed.length;
    }
    return expired.length === step && gone > 0;
  }

  /** Removes the oldest entries beyond `max`. @returns true: there may be more */
  async function trim(workspaceId: WorkspaceId): Promise<boolean> {
    const { records } = await storage.list(workspaceId, entryKind, { offset: max, limit: step });
    if (records.length === 0) return false;
    const removed = await remove(workspaceId, { records });
    await forget(removed);
    return records.length === step && removed.length > 0;
  }

  async function forget(ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    const indexAt = (id: string) => ({ partition: indexPartition, kind: indexKind, id });
    await storage.commit(ids.map((id): Change => ({ at: indexAt(id), value: null })));
  }

  return {
    wrote(workspaceId) {
      hasBegun = true;
      written.add(workspaceId);
      schedule();
    },
    begin() {
      if (hasBegun) return;
      hasBegun = true;
      schedule();
    },
    sweep,
    close() {
      isClosed = true;
      cancel?.();
      cancel = null;
    },
  };
}
