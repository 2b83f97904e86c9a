import {
  type GenerationStreamQuery,
  generationSchema,
  generationStreamQuery,
} from '../../schema/records/generation.ts';
import { reachableWorkspace } from '../../stores/access.ts';
import type { Workspaces } from '../../stores/workspaces.ts';
import type { Operation } from '../operation.ts';
import type { GenerationDeps } from './get-generation.ts';
import { keptRecords } from './reach.ts';

/**
 * Sends records of all instances on the store as they are made, as server-sent events. They are of the caller's
 * workspace; for operators, of all workspaces, unless the request names one.
 */
export function streamRequests({
  records,
  workspaces,
}: GenerationDeps & { workspaces: Workspaces }): Operation<unknown, GenerationStreamQuery> {
  return {
    name: 'streamRequests',
    method: 'GET',
    path: '/requests/stream',
    permissions: ['management'],
    body: null,
    query: generationStreamQuery,
    result: generationSchema,
    async run({ query: { workspace_id, limit }, caller, signal }) {
      const kept = keptRecords(records);
      const isOfAll = caller.managesAll && workspace_id === undefined;
      const workspaceId = isOfAll ? null : await reachableWorkspace(workspaces, caller, workspace_id);
      const group = caller.managesAll ? null : caller.workspaceId;
      const body = kept.watch({ group, workspaceId, limit: limit ?? Number.POSITIVE_INFINITY, signal });
      return { status: 200, kind: 'stream', body };
    },
  };
}
