import * as z from 'zod';
import type { Interval } from '../../base/windows.ts';
import { reachWorkspace, setBy } from '../../stores/access.ts';
import type { BudgetsOf } from '../../stores/budgets.ts';
import type { Workspaces } from '../../stores/workspaces.ts';
import { type ApiOperation, jsonReply } from '../operation.ts';
import { intervalOf } from './response.ts';

export interface DeleteBudgetDeps {
  workspaces: Workspaces;
  budgets: BudgetsOf;
}

/** Deletes a budget. Responds 200 even if there is none. A caller bound to the workspace removes only its own limit. */
export function deleteBudget({
  workspaces,
  budgets,
}: DeleteBudgetDeps): ApiOperation<'budgets.delete', { id: string; interval: Interval }, { deleted: true }> {
  return {
    name: 'deleteWorkspaceBudget',
    api: 'budgets.delete',
    method: 'DELETE',
    path: '/workspaces/:id/budgets/:interval',
    permissions: ['management'],
    body: null,
    result: () => z.object({ deleted: z.literal(true) }),
    async run({ params, caller }) {
      const interval = intervalOf(params.interval);
      const { id } = await reachWorkspace(workspaces, caller, params.id as string);
      await budgets(id).delete(interval, setBy(caller));
      return jsonReply({ deleted: true });
    },
  };
}
