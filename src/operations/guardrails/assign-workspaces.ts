import * as z from 'zod';
import { type WorkspaceAssignment, workspaceAssignmentSchema } from '../../schema/tenants/guardrail.ts';
import { type ApiOperation, jsonReply } from '../operation.ts';
import type { GuardrailDeps } from './response.ts';
import { setWorkspaceAssignment } from './workspace-assignment.ts';

/** Assigns a guardrail to its own workspace, where it then acts on every request. */
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
