import * as z from 'zod';
import { GatewayError } from '../../base/errors.ts';
import type { Caller } from '../../call/call.ts';
import type { WorkspaceId } from '../../call/workspace.ts';
import { placeText } from '../../schema/instant.ts';
import {
  type Generation,
  generationSchema,
  type ListGenerationsFields,
  type ListGenerationsQuery,
  listGenerationsQuery,
} from '../../schema/records/generation.ts';
import { count } from '../../schema/scalars.ts';
import { reachableWorkspace } from '../../stores/access.ts';
import type { Workspaces } from '../../stores/workspaces.ts';
import type { Cell } from '../../telemetry/records/cell.ts';
import type { RecordFilter } from '../../telemetry/records/reader.ts';
import type { Records } from '../../telemetry/records/records.ts';
import { type ApiOperation, jsonReply } from '../operation.ts';
import type { GenerationDeps } from './get-generation.ts';
import { keptRecords, mayReadRecord, type ShownDeps, shown } from './reach.ts';
import { fitsCell, neededFor } from './sum-activity.ts';

/** A page of records, newest first. */
export interface GenerationList {
  data: Generation[];
  /**
   * The number of records; with filters, by whole minutes. null with the filters `user`, `tag` and `session`, which the
   * sums of minutes do not have.
   */
  total_count: number | null;
  /**
   * The place to continue the list, for the parameter `to`: the gateway has read as many records as it may for one
   * page. null: the page is complete.
   */
  resume_to: string | null;
}

/**
 * Lists the records of one workspace, newest first. Default: the caller's workspace. A caller that may not manage sees its
 * own requests alone.
 */
export function listGenerations({
  records,
  workspaces,
  presentation,
}: GenerationDeps & ShownDeps & { workspaces: Workspaces }): ApiOperation<
  'generations.list',
  ListGenerationsFields,
  GenerationList,
  unknown,
  ListGenerationsQuery
> {
  return {
    name: 'listGenerations',
    api: 'generations.list',
    method: 'GET',
    path: '/generations',
    permissions: ['inference', 'management'],
    body: null,
    query: listGenerationsQuery,
    result: () =>
      z.object({
        data: z.array(generationSchema()),
        total_count: count().nullable(),
        resume_to: z.string().nullable(),
      }),
    async run({ query: { offset, limit, workspace_id, to, ...given }, caller }) {
      const filter: RecordFilter = { ...given, ...(typeof to === 'object' ? { to: to.atMs + 1, behind: to } : { to }) };
      const kept = keptRecords(records);
      const workspaceId = await reachableWorkspace(workspaces, caller, workspace_id);
      const own = ownFilter(caller, filter);
      const page = await kept.list(workspaceId, own, { offset, limit });
      return jsonReply({
        data: page.records
          .filter((record) => mayReadRecord(caller, record))
          .map((record) => shown(record, presentation)),
        total_count: page.total ?? (await totalOf(kept, workspaceId, own)),
        resume_to: page.resumeBehind === null ? null : placeText(page.resumeBehind),
      });
    },
  };
}

/**
 * The filter of a caller: one that may not manage gets the requests of its own key or user.
 * @throws GatewayError permission_denied (403) where the caller has neither, or asks for those of somebody else
 */
function ownFilter({ permissions, apiKeyHash, userId }: Caller, filter: RecordFilter): RecordFilter {
  if (permissions.includes('management')) return filter;
  const isOfOthers =
    (apiKeyHash !== null && (filter.api_key_hash ?? apiKeyHash) !== apiKeyHash) ||
    (userId !== null && (filter.user ?? userId) !== userId);
  if ((apiKeyHash === null && userId === null) || isOfOthers)
    throw new GatewayError('permission_denied', 'Requests of others need the permission management');
  return {
    ...filter,
    ...(apiKeyHash === null ? {} : { api_key_hash: apiKeyHash }),
    ...(userId === null ? {} : { user: userId }),
  };
}

/**
 * The number of records by the sums, so that no record is read for it. null: the sums of minutes do not know users, tags
 * and sessions.
 */
async function totalOf(kept: Records, workspaceId: WorkspaceId, filter: RecordFilter): Promise<number | null> {
  if (filter.user !== undefined || filter.tag !== undefined || filter.session !== undefined) return null;
  const oldestMs = await kept.oldestMs(workspaceId);
  if (oldestMs === null) return 0;
  const fromMs = Math.max(filter.from ?? 0, oldestMs);
  const rows = await kept.sums.between([workspaceId], {
    grain: 'minute',
    fromMs,
    toMs: filter.to ?? Number.POSITIVE_INFINITY,
    ...neededFor(filter, []),
  });
  const counted = rows.flatMap(({ cells }) => cells.filter((cell) => fitsCell(cell, filter)));
  return counted.reduce((total, cell) => total + requestsOf(cell, filter.outcome), 0);
}

function requestsOf(cell: Cell, outcome: RecordFilter['outcome']): number {
  const { requests, failed, cut, cancelled, lost } = cell;
  if (outcome === undefined) return requests;
  return outcome === 'ok' ? requests - failed - cut - cancelled - lost : cell[outcome];
}
