import * as z from 'zod';
import { type Workspace, workspaceSchema } from '../../schema/tenants/workspace.ts';
import { reachWorkspace } from '../../stores/access.ts';
import type { Workspaces } from '../../stores/workspaces.ts';
import { type ApiOperation, jsonReply } from '../operation.ts';
import { showWorkspace } from './response.ts';

export interface GetWorkspaceDeps {
  workspaces: Workspaces;
}

/** @see interface document, "GET /workspaces/{id}" */
export function getWorkspace({
  workspaces,
}: GetWorkspaceDeps): ApiOperation<'workspaces.get', { id: string }, { data: Workspace }> {
  return {
    name: 'getWorkspace',
    api: 'workspaces.get',
    method: 'GET',
    path: '/workspaces/:id',
    permissions: ['management'],
    body: null,
    result: () => z.object({ data: workspaceSchema() }),
    async run({ params, caller }) {
      const found = await reachWorkspace(workspaces, caller, params.id as string);
      return jsonReply({ data: showWorkspace(found) });
    },
  };
}
