import * as z from 'zod';
import type { Clock } from '../../base/clock.ts';
import { GatewayError } from '../../base/errors.ts';
import {
  type Activity,
  type ActivityFields,
  type ActivityQuery,
  activityQuery,
  activitySchema,
} from '../../schema/records/activity.ts';
import { reachableWorkspace } from '../../stores/access.ts';
import type { Workspaces } from '../../stores/workspaces.ts';
import type { Presentation } from '../compat.ts';
import { type ApiOperation, jsonReply } from '../operation.ts';
import type { GenerationDeps } from './get-generation.ts';
import { keptRecords } from './reach.ts';
import { isOfUsers, sumActivity } from './sum-activity.ts';

const dayMs = 86_400_000;
/** The number of days, today included, for a request that names none. */
const defaultDays = 30;
const maxDays = 366;

/**
 * Sums of requests by day, model, provider, key, workspace, user and tag. They are of the caller's workspace; for operators, of
 * all workspaces, unless the request names one.
 */
export function getActivity({
  records,
  workspaces,
  clock,
  presentation,
}: GenerationDeps & { workspaces: Workspaces; clock: Clock; presentation: Presentation }): ApiOperation<
  'generations.activity',
  ActivityFields,
  { data: Activity[] },
  unknown,
  ActivityQuery
> {
  return {
    name: 'getActivity',
    api: 'generations.activity',
    method: 'GET',
    path: '/activity',
    permissions: ['management'],
    body: null,
    query: activityQuery,
    result: () => z.object({ data: z.array(activitySchema()) }),
    async run({ query: { date, from, to, group_by, workspace_id, sort, limit, ...filter }, caller }) {
      const { sums } = keptRecords(records);
      const nowMs = clock.now();
      // Sums are of whole days: those that contain the given times.
      const toMs = dayOf(date ?? (to ?? nowMs + 1) - 1) + dayMs;
      const fromMs = dayOf(date ?? from ?? toMs - defaultDays * dayMs);
      if (toMs - fromMs > maxDays * dayMs || fromMs >= toMs)
        throw new GatewayError('invalid_request', `from and to: expected 1 to ${maxDays} days`);
      const asked =
        caller.managesAll && workspace_id === undefined
          ? await sums.workspaces()
          : [await reachableWorkspace(workspaces, caller, workspace_id)];
      const read = isOfUsers(filter, group_by) ? sums.users : sums.days;
      const rows = [];
      for (const workspaceId of asked)
        for (const row of await read(workspaceId, fromMs, toMs)) rows.push({ ...row, workspaceId });
      return jsonReply({ data: sumActivity(rows, filter, group_by, presentation, sort).slice(0, limit) });
    },
  };
}

/** The beginning of a time's day in UTC, epoch ms. */
function dayOf(atMs: number): number {
  return Math.floor(atMs / dayMs) * dayMs;
}
