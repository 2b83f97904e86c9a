import { LRUCache } from 'lru-cache';
import { andThen } from '../base/and-then.ts';
import { tryParseJson } from '../base/json.ts';
import type { Caller } from '../call/call.ts';
import { type Imposed, imposedGuardrail, imposedOn, nothingImposed } from '../guardrails/stored.ts';
import { storedGuardrailsSchema } from '../schema/guardrail.ts';
import type { BudgetsOf } from '../stores/budgets.ts';
import { damagedRecord } from '../stores/damaged.ts';

/** Workspaces with guardrails that are in use at the same time. */
const maxCompiled = 1_000;

/**
 * What the guardrails of the store impose on a caller. They are read with the budgets of the workspace, from the same
 * cache, and made ready once for each text of their record.
 * @throws GatewayError as the budgets cannot be read; internal (500) for a damaged record: nothing passes then
 */
export function imposedOnCallers(budgets: BudgetsOf): (caller: Caller) => Imposed | Promise<Imposed> {
  const compiled = new LRUCache<string, ReturnType<typeof compile>>({ max: maxCompiled });

  function guardrailsIn(text: string): ReturnType<typeof compile> {
    let made = compiled.get(text);
    if (made === undefined) {
      made = compile(text);
      compiled.set(text, made);
    }
    return made;
  }

  return ({ workspaceId, apiKeyHash }) =>
    andThen(budgets(workspaceId).guardrailsText(), (text) =>
      text === null ? nothingImposed : imposedOn(guardrailsIn(text), apiKeyHash),
    );
}

function compile(text: string) {
  const parsed = storedGuardrailsSchema().safeParse(tryParseJson(text));
  if (!parsed.success) throw damagedRecord('guardrails');
  return parsed.data.guardrails.map(imposedGuardrail);
}
