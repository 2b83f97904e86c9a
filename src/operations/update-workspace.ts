import * as z from 'zod';
import { type UpdateWorkspace, updateWorkspaceSchema, workspaceSchema } from '../schema/workspace.ts';
import { reachWorkspace } from '../stores/access.ts';
import type { Workspaces } from '../stores/workspaces.ts';
import { jsonReply, type Operation } from './operation.ts';
import { showWorkspace } from './tenants/workspace-response.ts';

export interface UpdateWorkspaceDeps {
  workspaces: Workspaces;
}

/** @see interface document, "PATCH /workspaces/{id}" */
export function updateWorkspace({ workspaces }: UpdateWorkspaceDeps): Operation<UpdateWorkspace> {
  return {
    name: 'updateWorkspace',
    method: 'PATCH',
    path: '/workspaces/:id',
    permissions: ['management'],
    body: updateWorkspaceSchema,
    result: () => z.object({ data: workspaceSchema() }),
    async run({ params, body, caller }) {
      const { id } = await reachWorkspace(workspaces, caller, params.id as string);
      return jsonReply({ data: showWorkspace(await workspaces.update(id, body)) });
    },
  };
}
