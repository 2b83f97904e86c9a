import * as z from 'zod';
import { GatewayError } from '../../base/errors.ts';
import {
  createWorkspaceSchema,
  type Workspace,
  type WorkspaceFields,
  type WorkspaceSettings,
  workspaceSchema,
} from '../../schema/tenants/workspace.ts';
import type { Workspaces } from '../../stores/workspaces.ts';
import type { NotesSwitches } from '../../telemetry/idle-switches.ts';
import { type ApiOperation, jsonReply } from '../operation.ts';
import { creatorOf, showWorkspace } from './response.ts';

export interface CreateWorkspaceDeps {
  workspaces: Workspaces;
  noteSwitches: NotesSwitches;
}

/** @see interface document, "POST /workspaces" */
export function createWorkspace({
  workspaces,
  noteSwitches,
}: CreateWorkspaceDeps): ApiOperation<'workspaces.create', WorkspaceFields, { data: Workspace }, WorkspaceSettings> {
  return {
    name: 'createWorkspace',
    api: 'workspaces.create',
    method: 'POST',
    path: '/workspaces',
    permissions: ['management'],
    body: createWorkspaceSchema,
    result: () => z.object({ data: workspaceSchema() }),
    async run({ body, caller }) {
      if (!caller.managesAll) {
        throw new GatewayError('permission_denied', 'An API key of one workspace cannot make another');
      }
      const made = await workspaces.create(body, creatorOf(caller));
      noteSwitches(made.id, made.settings);
      return jsonReply({ data: showWorkspace(made) }, 201);
    },
  };
}
