import * as z from 'zod';
import { GatewayError } from '../base/errors.ts';
import { type UpdateWorkspace, updateWorkspaceSchema, workspaceSchema } from '../schema/workspace.ts';
import { reachWorkspace } from '../stores/access.ts';
import type { Workspaces } from '../stores/workspaces.ts';
import { jsonReply, type Operation } from './operation.ts';
import { showWorkspace } from './tenants/workspace-response.ts';

export interface UpdateWorkspaceDeps {
  workspaces: Workspaces;
}

/**
 * A caller that sees one workspace alone does not change its slug: of one that is taken, the refusal would tell of another.
 * @see interface document, "PATCH /workspaces/{id}"
 */
export function updateWorkspace({ workspaces }: UpdateWorkspaceDeps): Operation<UpdateWorkspace> {
  return {
    name: 'updateWorkspace',
    method: 'PATCH',
    path: '/workspaces/:id',
    permissions: ['management'],
    body: updateWorkspaceSchema,
    result: () => z.object({ data: workspaceSchema() }),
    async run({ params, body, caller }) {
      const { id, settings } = await reachWorkspace(workspaces, caller, params.id as string);
      if (!caller.managesAll && body.slug !== undefined && body.slug !== settings.slug) throw slugIsFixed();
      return jsonReply({ data: showWorkspace(await workspaces.update(id, body)) });
    },
  };
}

function slugIsFixed(): GatewayError {
  const message = 'expected no other slug: only a caller that manages all workspaces can change it';
  return new GatewayError('permission_denied', `slug: ${message}`, {
    metadata: { issues: [{ path: 'slug', message }] },
  });
}
