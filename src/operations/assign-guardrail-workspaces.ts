import * as z from 'zod';
import { type WorkspaceAssignment, workspaceAssignmentSchema } from '../schema/guardrail.ts';
import { type ApiOperation, jsonReply } from './operation.ts';
import type { GuardrailDeps } from './tenants/guardrail-response.ts';
import { setWorkspaceAssignment } from './tenants/workspace-assignment.ts';

/** A guardrail acts in its own workspace alone: there, on every request. */
export function assignGuardrailWorkspaces(
  deps: GuardrailDeps,
): ApiOperation<
  'guardrails.assignWorkspaces',
  { id: string; workspace_ids: string[] },
  { assigned_count: number },
  WorkspaceAssignment
> {
  return {
    name: 'bulkAssignWorkspacesToGuardrail',
    api: 'guardrails.assignWorkspaces',
    method: 'POST',
    path: '/guardrails/:id/assignments/workspaces',
    permissions: ['management'],
    body: workspaceAssignmentSchema,
    result: () => z.object({ assigned_count: z.int() }),
    run: async (input) => jsonReply({ assigned_count: await setWorkspaceAssignment(deps, input, true) }),
  };
}
