import { isoTime } from '../../base/clock.ts';
import { GatewayError } from '../../base/errors.ts';
import { nanoToUsd } from '../../base/money.ts';
import { type Interval, intervals } from '../../base/windows.ts';
import type { WorkspaceId } from '../../call/workspace.ts';
import type { Budget, StoredBudget } from '../../schema/budget.ts';
import type { Presentation } from '../compat.ts';

export function showBudget(workspaceId: WorkspaceId, budget: StoredBudget, { resetInterval }: Presentation): Budget {
  return {
    id: budget.id,
    workspace_id: workspaceId,
    limit_usd: nanoToUsd(budget.limitNanoUsd),
    reset_interval: resetInterval(budget.interval),
    created_at: isoTime(budget.createdAtMs),
    updated_at: isoTime(budget.updatedAtMs),
  };
}

/** The interval a path names. @throws GatewayError not_found (404) */
export function intervalOf(text: string | undefined): Interval {
  const found = intervals.find((interval) => interval === text);
  if (found) return found;
  throw new GatewayError('not_found', `There is no such budget; its interval is one of ${intervals.join(', ')}`);
}
