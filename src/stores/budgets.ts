import { andThen } from '../base/async/and-then.ts';
import type { Clock } from '../base/clock.ts';
import { GatewayError } from '../base/errors.ts';
import type { Ids } from '../base/ids.ts';
import { nanoToUsd } from '../base/money.ts';
import { refusal } from '../base/refusal.ts';
import { type Interval, intervals } from '../base/windows.ts';
import type { BudgetLimit } from '../call/call.ts';
import type { WorkspaceId } from '../call/workspace.ts';
import { type StoredBudget, type StoredBudgets, storedBudgetsSchema } from '../schema/tenants/budget.ts';
import type { SetBy } from './access.ts';
import { createCache } from './cache.ts';
import { ConflictError, perWorkspace } from './collection.ts';
import { beingDeleted, deletionOf, isDeleted, unlessDeleted } from './deletion.ts';
import { guardrailsAt } from './guardrails.ts';
import type { Storage } from './storage/storage.ts';

/** The budgets of one workspace, at most one for each interval. The ledger knows the spending. */
export interface Budgets {
  /** Lists the budgets, from the narrowest interval to the broadest. */
  list(): Promise<StoredBudget[]>;
  /** @returns null: there is no such budget */
  get(interval: Interval): Promise<StoredBudget | null>;
  /**
   * Creates a budget or changes its limit. The spending stays. The workspace's own limit is at most the operator's. An
   * operator's new limit replaces both.
   * @param by  default `operator`
   * @throws GatewayError invalid_request (400): the workspace is being deleted; permission_denied (403): the limit of a
   *         workspace is above that of an operator
   */
  put(interval: Interval, limitNanoUsd: number, by?: SetBy): Promise<StoredBudget>;
  /**
   * Deletes a budget; does nothing if there is none. A workspace deletes only its own limit, and the operator's limit
   * holds again.
   * @param by  default `operator`
   * @throws GatewayError permission_denied (403): a workspace would delete a limit that only an operator has set
   */
  delete(interval: Interval, by?: SetBy): Promise<void>;
  deleteAll(): Promise<void>;
  /**
   * The limits, from a cache of a few seconds. Returns no promise when the cache has the limits.
   * @throws GatewayError not_found (404): the workspace was deleted, or is being deleted. Always by rejecting
   */
  limits(): readonly BudgetLimit[] | Promise<readonly BudgetLimit[]>;
  /** The limits and the guardrails, which are read together. Caches and throws like `limits`. */
  rules(): WorkspaceRules | Promise<WorkspaceRules>;
  /** Drops the cached limits. */
  forget(): void;
}

/** The limits on the requests of a workspace, by money and by guardrails. */
export interface WorkspaceRules {
  limits: readonly BudgetLimit[];
  /** The record of its guardrails; null: there are none. */
  guardrails: string | null;
}

/** Every access to a budget names its workspace. */
export type BudgetsOf = (workspaceId: WorkspaceId) => Budgets;

export interface BudgetsDeps {
  storage: Storage;
  clock: Clock;
  ids: Ids;
  /** The time in ms for which cached limits are used before the store is read again. */
  cacheMs: number;
}

/** One record holds all budgets of a workspace, so that a request reads them in one step. */
const id = 'all';
const kind = 'budgets';

export function createBudgets({ storage, clock, ids, cacheMs }: BudgetsDeps): BudgetsOf {
  const records = perWorkspace<StoredBudgets>({ storage, kind, schema: storedBudgetsSchema });
  const list = async (workspaceId: WorkspaceId) => (await records(workspaceId).get(id))?.budgets ?? [];
  const limits = createCache<WorkspaceRules>({
    clock,
    ttlMs: cacheMs,
    load: async (key) => {
      const workspaceId = key as WorkspaceId;
      // A deletion writes its mark before it removes the budgets. Without the mark, "deleted" would look like "not
      // limited".
      const beside = [deletionOf(workspaceId), guardrailsAt(workspaceId)];
      const { record, further } = await records(workspaceId).getWith(id, beside);
      const [mark, guardrails = null] = further;
      if (mark !== null) throw isDeleted();
      return {
        limits: (record?.budgets ?? []).map(({ interval, limitNanoUsd }) => ({ interval, limitNanoUsd })),
        guardrails,
      };
    },
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
      async put(interval, limitNanoUsd, by = 'operator') {
        const nowMs = clock.now();
        const fresh: StoredBudget = { id: ids.uuid(), interval, limitNanoUsd, createdAtMs: nowMs, updatedAtMs: nowMs };
        if (by === 'workspace') fresh.ceilingNanoUsd = null;
        try {
          const { budgets } = await change({ budgets: [fresh] }, (record) => withBudget(record, fresh, by));
          return budgets.find((budget) => budget.interval === interval) as StoredBudget;
        } catch (error) {
          throw error instanceof ConflictError ? beingDeleted() : error;
        } finally {
          limits.forget(workspaceId);
        }
      },
      async delete(interval, by = 'operator') {
        try {
          if ((await list(workspaceId)).every((budget) => budget.interval !== interval)) return;
          await collection.update(id, ({ budgets }) => ({
            budgets: budgets.flatMap((budget) => {
              if (budget.interval !== interval) return [budget];
              return by === 'operator' ? [] : withoutOwn(budget, clock.now());
            }),
          }));
        } finally {
          limits.forget(workspaceId);
        }
      },
      async deleteAll() {
        try {
          // The collection would read the record; this way a damaged record can be deleted, too.
          await storage.commit([{ at: { partition: workspaceId, kind, id }, value: null }]);
        } finally {
          limits.forget(workspaceId);
        }
      },
      limits: () => andThen(limits.get(workspaceId), (known) => known.limits),
      rules: () => limits.get(workspaceId),
      forget: () => limits.forget(workspaceId),
    };
  };
}

/**
 * The limit that an operator has set; null: none. A budget of an earlier version has no ceiling: its limit is an
 * operator's.
 */
function ceilingOf({ ceilingNanoUsd, limitNanoUsd }: StoredBudget): number | null {
  return ceilingNanoUsd === undefined ? limitNanoUsd : ceilingNanoUsd;
}

/**
 * Replaces the budget of the same interval. A budget that exists keeps its id and its creation time.
 * @throws GatewayError permission_denied (403)
 */
function withBudget({ budgets }: StoredBudgets, fresh: StoredBudget, by: SetBy): StoredBudgets {
  const before = budgets.find(({ interval }) => interval === fresh.interval);
  const after = before ? (by === 'operator' ? withLimit(before, fresh) : withOwn(before, fresh)) : fresh;
  const all = [...budgets.filter((budget) => budget !== before), after];
  return { budgets: all.sort((a, b) => intervals.indexOf(a.interval) - intervals.indexOf(b.interval)) };
}

/** Sets an operator's limit. The record has no ceiling, as earlier versions write it. */
function withLimit(
  { ceilingNanoUsd: _, ...before }: StoredBudget,
  { limitNanoUsd, updatedAtMs }: Pick<StoredBudget, 'limitNanoUsd' | 'updatedAtMs'>,
): StoredBudget {
  return { ...before, limitNanoUsd, updatedAtMs };
}

function withOwn(before: StoredBudget, fresh: StoredBudget): StoredBudget {
  const ceilingNanoUsd = ceilingOf(before);
  if (ceilingNanoUsd === fresh.limitNanoUsd) return withLimit(before, fresh);
  if (ceilingNanoUsd === null || fresh.limitNanoUsd < ceilingNanoUsd) {
    return { ...withLimit(before, fresh), ceilingNanoUsd };
  }
  const message = `expected at most ${nanoToUsd(ceilingNanoUsd)}: an operator has limited this budget to that`;
  throw refusal('permission_denied', [{ path: 'limit_usd', message }]);
}

function withoutOwn(budget: StoredBudget, nowMs: number): StoredBudget[] {
  const ceilingNanoUsd = ceilingOf(budget);
  if (ceilingNanoUsd === null) return [];
  if (ceilingNanoUsd === budget.limitNanoUsd)
    throw new GatewayError('permission_denied', 'An operator has set this budget, and only an operator can remove it');
  return [withLimit(budget, { limitNanoUsd: ceilingNanoUsd, updatedAtMs: nowMs })];
}
