import * as z from 'zod';
import { type WorkspaceAssignment, workspaceAssignmentSchema } from '../../schema/tenants/guardrail.ts';
import { type ApiOperation, jsonReply } from '../operation.ts';
import type { GuardrailDeps } from './response.ts';
import { setWorkspaceAssignment } from './workspace-assignment.ts';

/** Takes a guardrail from its workspace. It still acts on the keys that it is assigned to. */
export function unassignGuardrailWorkspaces(
  deps: GuardrailDeps,
): ApiOperation<
  'guardrails.unassignWorkspaces',
  { id: string; workspace_ids: string[] },
  { unassigned_count: number },
  WorkspaceAssignment
> {
  return {
    name: 'bulkUnassignWorkspacesFromGuardrail',
    api: 'guardrails.unassignWorkspaces',
    method: 'POST',
    path: '/guardrails/:id/assignments/workspaces/remove',
    permissions: ['management'],
    body: workspaceAssignmentSchema,
    result: () => z.object({ unassigned_count: z.int() }),
    run: async (input) => jsonReply({ unassigned_count: await setWorkspaceAssignment(deps, input, false) }),
  };
}
