import * as z from 'zod';
import { type PageFields, type PageQuery, pageQuery } from '../../schema/page.ts';
import { type Workspace, workspaceSchema } from '../../schema/tenants/workspace.ts';
import type { Workspaces } from '../../stores/workspaces.ts';
import { type ApiOperation, jsonReply } from '../operation.ts';
import { showWorkspace } from './response.ts';

export interface ListWorkspacesDeps {
  workspaces: Workspaces;
}

/** Lists workspaces in the order of creation. A caller bound to one workspace sees only that one. */
export function listWorkspaces({
  workspaces,
}: ListWorkspacesDeps): ApiOperation<
  'workspaces.list',
  PageFields,
  { data: Workspace[]; total_count: number },
  unknown,
  PageQuery
> {
  return {
    name: 'listWorkspaces',
    api: 'workspaces.list',
    method: 'GET',
    path: '/workspaces',
    permissions: ['management'],
    body: null,
    query: pageQuery,
    result: () => z.object({ data: z.array(workspaceSchema()), total_count: z.int() }),
    async run({ query: { offset, limit }, caller }) {
      if (caller.managesAll) {
        const { records, total } = await workspaces.list({ offset, limit });
        return jsonReply({ data: records.map(showWorkspace), total_count: total });
      }
      const own = await workspaces.find(caller.workspaceId);
      // The workspace id of a host app can equal the slug of another workspace.
      const all = own?.id === caller.workspaceId ? [showWorkspace(own)] : [];
      return jsonReply({ data: all.slice(offset, offset + limit), total_count: all.length });
    },
  };
}
