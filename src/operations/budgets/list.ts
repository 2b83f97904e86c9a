import * as z from 'zod';
import { type Budget, budgetSchema } from '../../schema/tenants/budget.ts';
import { reachWorkspace } from '../../stores/access.ts';
import type { BudgetsOf } from '../../stores/budgets.ts';
import type { Workspaces } from '../../stores/workspaces.ts';
import { type ApiOperation, jsonReply } from '../operation.ts';
import { type ShowBudgetDeps, showBudgets } from './response.ts';

export interface ListBudgetsDeps extends ShowBudgetDeps {
  workspaces: Workspaces;
  budgets: BudgetsOf;
}

/** Lists budgets from the shortest interval to the longest. */
export function listBudgets(deps: ListBudgetsDeps): ApiOperation<'budgets.list', { id: string }, { data: Budget[] }> {
  const { workspaces, budgets } = deps;
  return {
    name: 'listWorkspaceBudgets',
    api: 'budgets.list',
    method: 'GET',
    path: '/workspaces/:id/budgets',
    permissions: ['management'],
    body: null,
    result: () => z.object({ data: z.array(budgetSchema()) }),
    async run({ params, caller }) {
      const { id } = await reachWorkspace(workspaces, caller, params.id as string);
      return jsonReply({ data: await showBudgets(deps, id, await budgets(id).list()) });
    },
  };
}
