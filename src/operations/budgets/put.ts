import * as z from 'zod';
import { limitToNano } from '../../base/money.ts';
import type { Interval } from '../../base/windows.ts';
import { type Budget, budgetSchema, type PutBudget, putBudgetSchema } from '../../schema/tenants/budget.ts';
import { reachWorkspace, setBy } from '../../stores/access.ts';
import type { BudgetsOf } from '../../stores/budgets.ts';
import type { Spending } from '../../stores/spending/spending.ts';
import type { Workspaces } from '../../stores/workspaces.ts';
import { type ApiOperation, jsonReply } from '../operation.ts';
import { intervalOf, type ShowBudgetDeps, showBudget } from './response.ts';

export interface PutBudgetDeps extends ShowBudgetDeps {
  workspaces: Workspaces;
  budgets: BudgetsOf;
  spending: Pick<Spending, 'flush' | 'read'>;
}

/**
 * Sets a budget. The spent amount does not change. A caller bound to the workspace stays below an operator's limit.
 * @see interface document, "PUT /workspaces/{id}/budgets/{interval}"
 */
export function putBudget(
  deps: PutBudgetDeps,
): ApiOperation<'budgets.put', { id: string; interval: Interval } & PutBudget, { data: Budget }, PutBudget> {
  const { workspaces, budgets, spending } = deps;
  return {
    name: 'upsertWorkspaceBudget',
    api: 'budgets.put',
    method: 'PUT',
    path: '/workspaces/:id/budgets/:interval',
    permissions: ['management'],
    body: putBudgetSchema,
    result: () => z.object({ data: budgetSchema() }),
    async run({ params, body, caller }) {
      const interval = intervalOf(params.interval);
      const { id } = await reachWorkspace(workspaces, caller, params.id as string);
      // Not null: the schema refuses every limit that `limitToNano` refuses.
      const limitNanoUsd = limitToNano(body.limit_usd) as number;
      // Spending without a limit is only counted, and the counts may not have reached the store yet.
      await spending.flush();
      const budget = await budgets(id).put(interval, limitNanoUsd, setBy(caller));
      return jsonReply({ data: await showBudget(deps, id, budget) });
    },
  };
}
