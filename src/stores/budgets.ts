import type { Clock } from '../base/clock.ts';
import type { Ids } from '../base/ids.ts';
import { type Interval, intervals } from '../base/windows.ts';
import type { WorkspaceId } from '../call/workspace.ts';
import { type StoredBudget, type StoredBudgets, storedBudgetsSchema } from '../schema/budget.ts';
import { createCache } from './cache.ts';
import { ConflictError, perWorkspace } from './collection.ts';
import { beingDeleted, unlessDeleted } from './deletion.ts';
import type { Storage } from './storage/storage.ts';

/** The limit for one window of an interval. */
export interface BudgetLimit {
  interval: Interval;
  /** Integer nano-USD. */
  limitNanoUsd: number;
}

/** The budgets of one workspace, at most one per interval. The ledger knows the spending. */
export interface Budgets {
  /** From the narrowest interval to the broadest. */
  list(): Promise<StoredBudget[]>;
  /** @returns null: there is no such budget */
  get(interval: Interval): Promise<StoredBudget | null>;
  /**
   * Creates a budget or changes its limit. The spending stays.
   * @throws GatewayError invalid_request (400): the workspace is being deleted
   */
  put(interval: Interval, limitNanoUsd: number): Promise<StoredBudget>;
  /** Does nothing if there is no such budget. */
  delete(interval: Interval): Promise<void>;
  deleteAll(): Promise<void>;
  /** From a cache of a few seconds. Returns no promise when the cache has the limits. */
  limits(): readonly BudgetLimit[] | Promise<readonly BudgetLimit[]>;
}

/** Every access to a budget names its workspace. */
export type BudgetsOf = (workspaceId: WorkspaceId) => Budgets;

export interface BudgetsDeps {
  storage: Storage;
  clock: Clock;
  ids: Ids;
  /** How long cached limits are used before the store is read again. */
  cacheMs: number;
}

/** One record holds all budgets of a workspace, so that a request reads them in one step. */
const id = 'all';
const kind = 'budgets';

export function createBudgets({ storage, clock, ids, cacheMs }: BudgetsDeps): BudgetsOf {
  const records = perWorkspace<StoredBudgets>({ storage, kind, schema: storedBudgetsSchema });
  const list = async (workspaceId: WorkspaceId) => (await records(workspaceId).get(id))?.budgets ?? [];
  const limits = createCache<readonly BudgetLimit[]>({
    clock,
    ttlMs: cacheMs,
    load: async (key) =>
      (await list(key as WorkspaceId)).map(({ interval, limitNanoUsd }) => ({ interval, limitNanoUsd })),
  });

  return (workspaceId) => {
    const collection = records(workspaceId);
    const guard = [unlessDeleted(workspaceId)];

    /** @throws ConflictError when the workspace is being deleted */
    async function change(made: StoredBudgets, edit: (record: StoredBudgets) => StoredBudgets): Promise<StoredBudgets> {
      // Another process may write the first budget, or delete the last, between two of these steps.
      for (let race = 0; race < 20; race++) {
        const changed = await collection.update(id, edit, () => guard);
        if (changed) return changed;
        if (await collection.create(id, made, { also: guard })) return made;
        if ((await collection.get(id)) === null) break;
      }
      throw new ConflictError();
    }

    return {
      list: () => list(workspaceId),
      get: async (interval) => (await list(workspaceId)).find((budget) => budget.interval === interval) ?? null,
      async put(interval, limitNanoUsd) {
        const nowMs = clock.now();
        const fresh: StoredBudget = { id: ids.uuid(), interval, limitNanoUsd, createdAtMs: nowMs, updatedAtMs: nowMs };
        try {
          const { budgets } = await change({ budgets: [fresh] }, (record) => withBudget(record, fresh));
          return budgets.find((budget) => budget.interval === interval) as StoredBudget;
        } catch (error) {
          throw error instanceof ConflictError ? beingDeleted() : error;
        } finally {
          limits.forget(workspaceId);
        }
      },
      async delete(interval) {
        try {
          if ((await list(workspaceId)).every((budget) => budget.interval !== interval)) return;
          await collection.update(id, ({ budgets }) => ({
            budgets: budgets.filter((budget) => budget.interval !== interval),
          }));
        } finally {
          limits.forget(workspaceId);
        }
      },
      async deleteAll() {
        try {
          // Not with the collection, which would read the record: a damaged record can be deleted, too.
          await storage.commit([{ at: { partition: workspaceId, kind, id }, value: null }]);
        } finally {
          limits.forget(workspaceId);
        }
      },
      limits: () => limits.get(workspaceId),
    };
  };
}

/** A budget that exists keeps its id and its creation time. */
function withBudget({ budgets }: StoredBudgets, fresh: StoredBudget): StoredBudgets {
  const before = budgets.find(({ interval }) => interval === fresh.interval);
  const { limitNanoUsd, updatedAtMs } = fresh;
  const after = before ? { ...before, limitNanoUsd, updatedAtMs } : fresh;
  const all = [...budgets.filter((budget) => budget !== before), after];
  return { budgets: all.sort((a, b) => intervals.indexOf(a.interval) - intervals.indexOf(b.interval)) };
}
