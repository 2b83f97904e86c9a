import * as z from 'zod';
import { type PageQuery, pageQuery } from '../schema/page.ts';
import { workspaceSchema } from '../schema/workspace.ts';
import type { Workspaces } from '../stores/workspaces.ts';
import { jsonReply, type Operation } from './operation.ts';
import { showWorkspace } from './tenants/workspace-response.ts';

export interface ListWorkspacesDeps {
  workspaces: Workspaces;
}

/** In the order in which they were made. A caller of one workspace sees that one. */
export function listWorkspaces({ workspaces }: ListWorkspacesDeps): Operation<unknown, PageQuery> {
  return {
    name: 'listWorkspaces',
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
      // A host app's id may be another workspace's slug.
      const all = own?.id === caller.workspaceId ? [showWorkspace(own)] : [];
      return jsonReply({ data: all.slice(offset, offset + limit), total_count: all.length });
    },
  };
}
