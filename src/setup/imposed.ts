import { LRUCache } from 'lru-cache';
import { andThen } from '../base/and-then.ts';
import { tryParseJson } from '../base/json.ts';
import type { BudgetLimit, Caller } from '../call/call.ts';
import { type Imposed, imposedGuardrail, imposedOn, nothingImposed } from '../guardrails/stored.ts';
import { storedGuardrailsSchema } from '../schema/guardrail.ts';
import type { BudgetsOf } from '../stores/budgets.ts';
import { damagedRecord } from '../stores/damaged.ts';

/** Workspaces with guardrails that are in use at the same time. */
const maxCompiled = 1_000;
/** The keys of one workspace that are in use at the same time. */
const maxKeys = 1_000;

/** What acts on callers, from the cache that budgets and guardrails have together. */
export interface Imposing {
  /**
   * What the guardrails of the store impose on a caller. They are made ready once for each text of their record.
   * @throws GatewayError as the budgets cannot be read; internal (500) for a damaged record: nothing passes then
   */
  imposedOn(caller: Caller): Imposed | Promise<Imposed>;
  /**
   * The budgets of the workspace, and those that guardrails give to the key.
   * @throws GatewayError as `imposedOn`
   */
  budgetsOf(caller: Caller): readonly BudgetLimit[] | Promise<readonly BudgetLimit[]>;
}

export function imposing(budgets: BudgetsOf): Imposing {
  const compiled = new LRUCache<string, (apiKeyHash: string | null) => Imposed>({ max: maxCompiled });
  const joined = new WeakMap<Imposed, { limits: readonly BudgetLimit[]; all: readonly BudgetLimit[] }>();

  function guardrailsIn(text: string): (apiKeyHash: string | null) => Imposed {
    let made = compiled.get(text);
    if (made === undefined) {
      made = compile(text);
      compiled.set(text, made);
    }
    return made;
  }

  function imposed({ workspaceId, apiKeyHash }: Caller): Imposed | Promise<Imposed> {
    return andThen(budgets(workspaceId).guardrailsText(), (text) =>
      text === null ? nothingImposed : guardrailsIn(text)(apiKeyHash),
    );
  }

  /** The same list for the same limits: spending keeps what it computes of one. */
  function join(limits: readonly BudgetLimit[], one: Imposed): readonly BudgetLimit[] {
    if (one.budgets.length === 0) return limits;
    const known = joined.get(one);
    if (known?.limits === limits) return known.all;
    const all = [...limits, ...one.budgets];
    joined.set(one, { limits, all });
    return all;
  }

  return {
    imposedOn: imposed,
    budgetsOf: (caller) =>
      andThen(budgets(caller.workspaceId).limits(), (limits) => andThen(imposed(caller), (one) => join(limits, one))),
  };
}

function compile(text: string): (apiKeyHash: string | null) => Imposed {
  const parsed = storedGuardrailsSchema().safeParse(tryParseJson(text));
  if (!parsed.success) throw damagedRecord('guardrails');
  const all = parsed.data.guardrails.map(imposedGuardrail);
  const ofKeys = new LRUCache<string, Imposed>({ max: maxKeys, memoMethod: (hash) => imposedOn(all, hash) });
  const ofNone = imposedOn(all, null);
  return (apiKeyHash) => (apiKeyHash === null ? ofNone : ofKeys.memo(apiKeyHash));
}
