import * as z from 'zod';
import { GatewayError } from '../../base/errors.ts';
import type { Interval } from '../../base/windows.ts';
import { type Budget, budgetSchema } from '../../schema/tenants/budget.ts';
import { reachWorkspace } from '../../stores/access.ts';
import type { BudgetsOf } from '../../stores/budgets.ts';
import type { Workspaces } from '../../stores/workspaces.ts';
import { type ApiOperation, jsonReply } from '../operation.ts';
import { intervalOf, type ShowBudgetDeps, showBudget } from './response.ts';

export interface GetBudgetDeps extends ShowBudgetDeps {
  workspaces: Workspaces;
  budgets: BudgetsOf;
}

export function getBudget(
  deps: GetBudgetDeps,
): ApiOperation<'budgets.get', { id: string; interval: Interval }, { data: Budget }> {
  const { workspaces, budgets } = deps;
  return {
    name: 'getWorkspaceBudget',
    api: 'budgets.get',
    method: 'GET',
    path: '/workspaces/:id/budgets/:interval',
    permissions: ['management'],
    body: null,
    result: () => z.object({ data: budgetSchema() }),
    async run({ params, caller }) {
      const interval = intervalOf(params.interval);
      const { id } = await reachWorkspace(workspaces, caller, params.id as string);
      const found = await budgets(id).get(interval);
      if (!found) throw new GatewayError('not_found', `The workspace has no ${interval} budget`);
      return jsonReply({ data: await showBudget(deps, id, found) });
    },
  };
}
