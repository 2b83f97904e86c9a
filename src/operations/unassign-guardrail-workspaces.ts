import * as z from 'zod';
import { type WorkspaceAssignment, workspaceAssignmentSchema } from '../schema/guardrail.ts';
import { type ApiOperation, jsonReply } from './operation.ts';
import type { GuardrailDeps } from './tenants/guardrail-response.ts';
import { setWorkspaceAssignment } from './tenants/workspace-assignment.ts';

/** Keys that the guardrail is assigned to keep it. */
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
