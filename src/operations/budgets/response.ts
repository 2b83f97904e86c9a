import { type Clock, isoTime } from '../../base/clock.ts';
import { GatewayError } from '../../base/errors.ts';
import { nanoToUsd } from '../../base/money.ts';
import { type Interval, intervals, windowOf } from '../../base/windows.ts';
import type { WorkspaceId } from '../../call/workspace.ts';
import type { Budget, StoredBudget } from '../../schema/tenants/budget.ts';
import type { Spending } from '../../stores/spending/spending.ts';
import { workspaceAccount } from '../../stores/spending/windows.ts';
import type { Presentation } from '../compat.ts';

/** The dependencies for showing budgets. */
export interface ShowBudgetDeps {
  presentation: Presentation;
  spending: Pick<Spending, 'read'>;
  clock: Clock;
}

/** Budgets with their present spent and held amounts. @throws GatewayError unavailable (503) */
export async function showBudgets(
  { presentation, spending, clock }: ShowBudgetDeps,
  workspaceId: WorkspaceId,
  budgets: readonly StoredBudget[],
): Promise<Budget[]> {
  if (budgets.length === 0) return [];
  const nowMs = clock.now();
  const states = await spending.read(workspaceId, workspaceAccount, nowMs);
  return budgets.map((budget) => {
    const { interval, limitNanoUsd } = budget;
    const { spentNanoUsd, heldNanoUsd } = states[interval];
    const { endMs } = windowOf(interval, nowMs);
    return {
      id: budget.id,
      workspace_id: workspaceId,
      limit_usd: nanoToUsd(limitNanoUsd),
      reset_interval: presentation.resetInterval(interval),
      spent_usd: nanoToUsd(spentNanoUsd),
      held_usd: nanoToUsd(heldNanoUsd),
      remaining_usd: nanoToUsd(Math.max(limitNanoUsd - spentNanoUsd - heldNanoUsd, 0)),
      overspent_usd: nanoToUsd(Math.max(spentNanoUsd - limitNanoUsd, 0)),
      resets_at: endMs === null ? null : isoTime(endMs),
      created_at: isoTime(budget.createdAtMs),
      updated_at: isoTime(budget.updatedAtMs),
    };
  });
}

/** One budget; see `showBudgets`. */
export async function showBudget(
  deps: ShowBudgetDeps,
  workspaceId: WorkspaceId,
  budget: StoredBudget,
): Promise<Budget> {
  const [shown] = await showBudgets(deps, workspaceId, [budget]);
  return shown as Budget;
}

/** The interval a path names. @throws GatewayError not_found (404) */
export function intervalOf(text: string | undefined): Interval {
  const found = intervals.find((interval) => interval === text);
  if (found) return found;
  throw new GatewayError('not_found', `There is no such budget; its interval is one of ${intervals.join(', ')}`);
}
