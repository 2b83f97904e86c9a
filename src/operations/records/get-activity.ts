import * as z from 'zod';
import type { Clock } from '../../base/clock.ts';
import { GatewayError } from '../../base/errors.ts';
import type { Caller } from '../../call/call.ts';
import {
  type Activity,
  type ActivityFields,
  type ActivityQuery,
  activityQuery,
  activitySchema,
} from '../../schema/records/activity.ts';
import { reachableWorkspace } from '../../stores/access.ts';
import type { Workspaces } from '../../stores/workspaces.ts';
import { grainMs } from '../../telemetry/records/places.ts';
import type { WantedSums } from '../../telemetry/records/sums.ts';
import type { Presentation } from '../compat.ts';
import { type ApiOperation, jsonReply } from '../operation.ts';
import type { GenerationDeps } from './get-generation.ts';
import { keptRecords } from './reach.ts';
import { type CellFilter, highestOf, neededFor, onlyOf, sumActivity } from './sum-activity.ts';

const dayMs = 86_400_000;
/** The time, in units of its grain: for a request that names none, and the most. */
const longest = {
  minute: { usual: 60, most: 1_440 },
  hour: { usual: 24, most: 1_488 },
  day: { usual: 30, most: 366 },
} as const;
/** The shortest time, in units of its grain, of which the sums of the whole are read in fewer rows than those of its parts. */
const shortestWhole = { minute: 120, hour: 48, day: Number.POSITIVE_INFINITY } as const;

/**
 * The filter of a user of the host app, who gets the sums of his own requests. The user that a request itself names does
 * not count: anybody can write a name.
 * @throws GatewayError permission_denied (403) for any other caller, and where he asks for those of somebody else
 */
function ownFilter({ userId, apiKeyHash }: Caller, filter: CellFilter): CellFilter {
  if (userId === null || apiKeyHash !== null)
    throw new GatewayError(
      'permission_denied',
      'This operation needs the permission management, or a user whom the host app has named',
    );
  if ((filter.user ?? userId) !== userId)
    throw new GatewayError('permission_denied', 'Sums of others need the permission management');
  return { ...filter, user: userId, isOfHost: true };
}

/**
 * Sums of requests by day, model, provider, key, workspace, user and tag. They are of the caller's workspace; for operators, of
 * all workspaces, unless the request names one. A user of the host app without management gets those of his own requests.
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
    // Without management: a user of the host app, for his own requests.
    permissions: ['inference', 'management'],
    body: null,
    query: activityQuery,
    result: () => z.object({ data: z.array(activitySchema()) }),
    async run({ query: { date, from, to, group_by, grain, workspace_id, sort, limit, top, ...filter }, caller }) {
      const { sums } = keptRecords(records);
      const nowMs = clock.now();
      const manages = caller.permissions.includes('management');
      const own = manages ? filter : ownFilter(caller, filter);
      const needed = neededFor(own, group_by);
      if ((needed.names.has('user') || needed.names.has('tags')) && grain !== 'day')
        throw new GatewayError('invalid_request', 'grain: expected day: sums of users and tags are kept by day alone');
      // Sums are of whole minutes, hours or days: those that contain the given times.
      const lengthMs = grainMs[grain];
      const startOf = (atMs: number) => Math.floor(atMs / lengthMs) * lengthMs;
      const toMs = date === undefined ? startOf((to ?? nowMs + 1) - 1) + lengthMs : date + dayMs;
      const fromMs = startOf(date ?? from ?? toMs - longest[grain].usual * lengthMs);
      const { most } = longest[grain];
      if (toMs - fromMs > most * lengthMs || fromMs >= toMs)
        throw new GatewayError('invalid_request', `from and to: expected 1 to ${most} ${grain}s`);
      const asked =
        caller.managesAll && manages && workspace_id === undefined
          ? await sums.workspaces()
          : [await reachableWorkspace(workspaces, caller, workspace_id)];
      const wanted: WantedSums = { grain, fromMs, toMs, ...needed };
      const isByTime = group_by.includes('time') || group_by.includes('day');
      const isLong = toMs - fromMs >= shortestWhole[grain] * lengthMs;
      const groups = { filter: own, groups: group_by, sort };
      if (top === undefined || !isByTime || !isLong) {
        const isWhole = !isByTime && grain !== 'day';
        const rows = await (isWhole ? sums.between(asked, wanted) : sums.rows(asked, wanted));
        const highest = top === undefined ? null : highestOf(rows, groups, top);
        return jsonReply({ data: sumActivity(rows, { ...groups, highest }, presentation).slice(0, limit) });
      }
      // The highest are found in few rows. Then only theirs are read of the many.
      const highest = highestOf(await sums.between(asked, wanted), groups, top);
      const rows = await sums.rows(asked, { ...wanted, only: needed.only ?? onlyOf(group_by, highest) });
      return jsonReply({ data: sumActivity(rows, { ...groups, highest }, presentation).slice(0, limit) });
    },
  };
}
