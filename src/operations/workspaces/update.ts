import * as z from 'zod';
import type { GatewayError } from '../../base/errors.ts';
import { refusal } from '../../base/refusal.ts';
import type { Caller } from '../../call/call.ts';
import {
  type UpdateWorkspace,
  updateWorkspaceSchema,
  type Workspace,
  workspaceSchema,
} from '../../schema/tenants/workspace.ts';
import { reachWorkspace } from '../../stores/access.ts';
import type { WorkspaceRecord, Workspaces } from '../../stores/workspaces.ts';
import type { NotesSwitches } from '../../telemetry/idle-switches.ts';
import { type ApiOperation, jsonReply } from '../operation.ts';
import { showWorkspace } from './response.ts';

export interface UpdateWorkspaceDeps {
  workspaces: Workspaces;
  noteSwitches: NotesSwitches;
}

/**
 * Changes a workspace. A caller bound to it cannot change its slug: the refusal of a taken slug would tell of another
 * workspace. Nor can the caller change whose credentials it uses: that is the operator's money.
 * @see interface document, "PATCH /workspaces/{id}"
 */
export function updateWorkspace(
  deps: UpdateWorkspaceDeps,
): ApiOperation<'workspaces.update', { id: string } & UpdateWorkspace, { data: Workspace }, UpdateWorkspace> {
  return {
    name: 'updateWorkspace',
    api: 'workspaces.update',
    method: 'PATCH',
    path: '/workspaces/:id',
    permissions: ['management'],
    body: updateWorkspaceSchema,
    result: () => z.object({ data: workspaceSchema() }),
    async run({ params, body, caller }) {
      const found = await reachWorkspace(deps.workspaces, caller, params.id as string);
      return jsonReply({ data: showWorkspace(await changeWorkspace(deps, found, body, caller)) });
    },
  };
}

/** Changes a workspace that the caller may reach. @throws GatewayError permission_denied (403) for what is the operator's */
export async function changeWorkspace(
  { workspaces, noteSwitches }: UpdateWorkspaceDeps,
  { id, settings }: WorkspaceRecord,
  body: UpdateWorkspace,
  caller: Caller,
): Promise<WorkspaceRecord> {
  if (!caller.managesAll) {
    if (body.slug !== undefined && body.slug !== settings.slug) throw isFixed('slug', 'no other slug');
    if (body.is_byok_only !== undefined && body.is_byok_only !== settings.is_byok_only)
      throw isFixed('is_byok_only', String(settings.is_byok_only));
  }
  const updated = await workspaces.update(id, body);
  noteSwitches(id, body);
  return updated;
}

function isFixed(field: string, expected: string): GatewayError {
  const message = `expected ${expected}: only a caller that manages all workspaces can change it`;
  return refusal('permission_denied', [{ path: field, message }]);
}
