import * as z from 'zod';
import { reachWorkspace } from '../../stores/access.ts';
import type { Workspaces } from '../../stores/workspaces.ts';
import { type ApiOperation, jsonReply } from '../operation.ts';

export interface DeleteWorkspaceDeps {
  workspaces: Workspaces;
}

/**
 * Deletes a workspace with its budgets, credentials, and keys that are no longer valid. The default workspace and a
 * workspace with valid keys cannot be deleted.
 */
export function deleteWorkspace({
  workspaces,
}: DeleteWorkspaceDeps): ApiOperation<'workspaces.delete', { id: string }, { deleted: true }> {
  return {
    name: 'deleteWorkspace',
    api: 'workspaces.delete',
    method: 'DELETE',
    path: '/workspaces/:id',
    permissions: ['management'],
    body: null,
    result: () => z.object({ deleted: z.literal(true) }),
    async run({ params, caller }) {
      const { id } = await reachWorkspace(workspaces, caller, params.id as string);
      await workspaces.delete(id);
      return jsonReply({ deleted: true });
    },
  };
}
