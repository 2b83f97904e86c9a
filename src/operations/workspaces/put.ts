import * as z from 'zod';
import { isGatewayError } from '../../base/errors.ts';
import { isUuid } from '../../base/ids.ts';
import { refusal } from '../../base/refusal.ts';
import type { Caller } from '../../call/call.ts';
import {
  createWorkspaceSchema,
  isSlug,
  type PutWorkspace,
  putWorkspaceSchema,
  type Workspace,
  workspaceSchema,
} from '../../schema/tenants/workspace.ts';
import { noWorkspace, reachWorkspace } from '../../stores/access.ts';
import type { WorkspaceRecord } from '../../stores/workspaces.ts';
import { type ApiOperation, jsonReply } from '../operation.ts';
import { creatorOf, showWorkspace } from './response.ts';
import { changeWorkspace, type UpdateWorkspaceDeps } from './update.ts';

/**
 * Makes the workspace with this slug, or changes it: a workspace per customer is one call, which may be repeated. Of two
 * calls at once, one makes it, and the other changes it.
 */
export function putWorkspace(
  deps: UpdateWorkspaceDeps,
): ApiOperation<'workspaces.put', { id: string } & PutWorkspace, { data: Workspace }, PutWorkspace> {
  return {
    name: 'upsertWorkspace',
    api: 'workspaces.put',
    method: 'PUT',
    path: '/workspaces/:id',
    permissions: ['management'],
    body: putWorkspaceSchema,
    result: () => z.object({ data: workspaceSchema() }),
    async run({ params, body, caller }) {
      const id = params.id as string;
      const made = await makeUnlessThere(deps, id, body, caller);
      if (made === null) {
        const found = await reachWorkspace(deps.workspaces, caller, id);
        return jsonReply({ data: showWorkspace(await changeWorkspace(deps, found, body, caller)) });
      }
      deps.noteSwitches(made.id, made.settings);
      return jsonReply({ data: showWorkspace(made) });
    },
  };
}

/** @returns null: there is one, or it is of somebody else, which the caller learns from the look for it */
async function makeUnlessThere(
  { workspaces }: UpdateWorkspaceDeps,
  slug: string,
  body: PutWorkspace,
  caller: Caller,
): Promise<WorkspaceRecord | null> {
  if (!caller.managesAll || (await workspaces.find(slug)) !== null) return null;
  // A workspace gets its id from the gateway: there is none to be made with this one.
  if (isUuid(slug)) throw noWorkspace();
  if (!isSlug(slug)) {
    const message = 'expected a slug: lower-case letters and digits, in parts joined by single hyphens, 50 at most';
    throw refusal('invalid_request', [{ path: 'id', message }]);
  }
  const settings = createWorkspaceSchema().parse({ name: slug, ...body, slug });
  try {
    return await workspaces.create(settings, creatorOf(caller));
  } catch (error) {
    // Another call has made it meanwhile.
    if (isGatewayError(error) && error.kind === 'invalid_request' && (await workspaces.find(slug)) !== null)
      return null;
    throw error;
  }
}
