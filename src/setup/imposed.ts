import { LRUCache } from 'lru-cache';
import { andThen } from '../base/async/and-then.ts';
import { tryParseJson } from '../base/json.ts';
import type { BudgetLimit, Caller } from '../call/call.ts';
import type { WorkspaceId } from '../call/workspace.ts';
import { type Imposed, type ImposedLimits, imposedGuardrail, imposedOn, nothingImposed } from '../guardrails/stored.ts';
import { storedGuardrailsSchema } from '../schema/tenants/guardrail.ts';
import type { BudgetsOf } from '../stores/budgets.ts';
import { damagedRecord } from '../stores/damaged.ts';

/** The most workspaces whose guardrails are kept ready. */
const maxCompiled = 1_000;
/** The most keys of one workspace for which guardrails are kept ready. */
const maxKeys = 1_000;

/** Finds the guardrails and budgets of callers, from the cache that both share. */
export interface Imposing {
  /**
   * The guardrails of the store that act on a caller. They are compiled once for each text of their record.
   * @throws GatewayError when the budgets cannot be read; internal (500) for a damaged record: then no request passes
   */
  imposedOn(caller: Caller): Imposed | Promise<Imposed>;
  /**
   * The budgets of the workspace, and those that guardrails give to the key.
   * @throws GatewayError as `imposedOn`
   */
  budgetsOf(caller: Caller): readonly BudgetLimit[] | Promise<readonly BudgetLimit[]>;
}

interface Compiled {
  text: string;
  of: (apiKeyHash: string | null) => Imposed;
}

export function imposing(budgets: BudgetsOf, limits: ImposedLimits): Imposing {
  // One entry for each workspace, however often its guardrails change.
  const compiled = new LRUCache<WorkspaceId, Compiled>({ max: maxCompiled });
  const joined = new WeakMap<Imposed, { limits: readonly BudgetLimit[]; all: readonly BudgetLimit[] }>();

  /** @param text  the record of the workspace's guardrails */
  function imposedBy(text: string | null, { workspaceId, apiKeyHash }: Caller): Imposed {
    if (text === null) return nothingImposed;
    let made = compiled.get(workspaceId);
    if (made?.text !== text) {
      made = { text, of: compile(text, limits) };
      compiled.set(workspaceId, made);
    }
    return made.of(apiKeyHash);
  }

  /**
   * Joins two lists of limits. Returns the same list for the same limits, because spending caches results by the list.
   */
  function join(limits: readonly BudgetLimit[], one: Imposed): readonly BudgetLimit[] {
    if (one.budgets.length === 0) return limits;
    const known = joined.get(one);
    if (known?.limits === limits) return known.all;
    const all = [...limits, ...one.budgets];
    joined.set(one, { limits, all });
    return all;
  }

  return {
    imposedOn: (caller) =>
      andThen(budgets(caller.workspaceId).rules(), ({ guardrails }) => imposedBy(guardrails, caller)),
    budgetsOf: (caller) =>
      andThen(budgets(caller.workspaceId).rules(), ({ limits: own, guardrails }) =>
        join(own, imposedBy(guardrails, caller)),
      ),
  };
}

function compile(text: string, limits: ImposedLimits): Compiled['of'] {
  const parsed = storedGuardrailsSchema().safeParse(tryParseJson(text));
  if (!parsed.success) throw damagedRecord('guardrails');
  const all = parsed.data.guardrails.map((stored) => imposedGuardrail(stored, limits));
  const ofKeys = new LRUCache<string, Imposed>({ max: maxKeys, memoMethod: (hash) => imposedOn(all, hash) });
  const ofNone = imposedOn(all, null);
  return (apiKeyHash) => (apiKeyHash === null ? ofNone : ofKeys.memo(apiKeyHash));
}
