import type { Clock } from '../../base/clock.ts';
import type { WorkspaceId } from '../../call/workspace.ts';
import type { RecordSettings } from '../../schema/record-settings.ts';
import type { Change, Storage } from '../../stores/storage/storage.ts';
import {
  type Grain,
  grains,
  indexAt,
  indexKind,
  indexPartition,
  ownerOf,
  recordKind,
  removal,
  rowKind,
  startOf,
} from './places.ts';

/** Removes records that are too old, and those that are too many, beside the requests. */
export interface Sweeper {
  /** Records of a workspace were written. */
  wrote(workspaceId: WorkspaceId): void;
  /** Removes what may go. Never rejects: what could not be removed is removed the next time. */
  sweep(): Promise<void>;
  close(): void;
}

/** How often. Reads do not show what is expired, so it need not be exact. */
const everyMs = 60_000;
/** Records that are removed in one step. */
const step = 200;
/** Steps of one sweep: the rest waits for the next. */
const maxSteps = 50;
/** Workspaces whose number of records is looked at in one sweep. */
const maxWorkspaces = 1_000;

export function createSweeper(storage: Storage, clock: Clock, settings: RecordSettings): Sweeper {
  /** Written to since the last sweep. */
  const touched = new Set<WorkspaceId>();
  let cancel: (() => void) | null = null;
  let isClosed = false;

  function schedule(): void {
    if (isClosed || cancel) return;
    const run = () => {
      cancel = null;
      void sweep();
    };
    cancel = clock.after(everyMs, run, { isIdle: true });
  }

  async function sweep(): Promise<void> {
    try {
      const isEmpty = await expire();
      for (const workspaceId of [...touched]) {
        touched.delete(workspaceId);
        await trim(workspaceId);
        for (const grain of grains) await forgetSums(workspaceId, grain);
      }
      if (!isEmpty) schedule();
    } catch {
      // The store does not respond, which it has said in its own line.
      schedule();
    }
  }

  /** @returns whether no record is left that may expire later */
  async function expire(): Promise<boolean> {
    const beforeMs = clock.now() - settings.ttlMs;
    for (let at = 0; at < maxSteps; at++) {
      const { records, total } = await storage.list(indexPartition, indexKind, { offset: 0, limit: step });
      // The oldest come first.
      const expired = records.filter(({ value }) => ownerOf(value).receivedAtMs < beforeMs);
      await remove(expired);
      if (expired.length < records.length || records.length === 0) return total - expired.length === 0;
    }
    return false;
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

  /** Of more records than may be, the oldest go. */
  async function trim(workspaceId: WorkspaceId): Promise<void> {
    for (let at = 0; at < maxSteps; at++) {
      const { records } = await storage.list(workspaceId, recordKind, { offset: settings.max, limit: step });
      if (records.length === 0) return;
      await storage.commit(records.flatMap(({ id }) => removal(workspaceId, id)));
      await storage.commit(records.map(({ id }): Change => ({ at: indexAt(id), value: null })));
    }
  }

  /** The oldest are the last. */
  async function forgetSums(workspaceId: WorkspaceId, grain: Grain): Promise<void> {
    const kind = rowKind(grain);
    const beforeMs = clock.now() - settings[`${grain}sMs`];
    const { total } = await storage.list(workspaceId, kind, { offset: 0, limit: 0 });
    if (total === 0) return;
    const page = { offset: Math.max(0, total - step), limit: step };
    const { records } = await storage.list(workspaceId, kind, page);
    const old = records.filter(({ id }) => startOf(id) < beforeMs);
    if (old.length === 0) return;
    await storage.commit(old.map(({ id }): Change => ({ at: { partition: workspaceId, kind, id }, value: null })));
  }

  return {
    wrote(workspaceId) {
      if (touched.size < maxWorkspaces) touched.add(workspaceId);
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
