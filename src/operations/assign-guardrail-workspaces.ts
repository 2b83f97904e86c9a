import * as z from 'zod';
import { refusal } from '../base/refusal.ts';
import { type WorkspaceAssignment, workspaceAssignmentSchema } from '../schema/guardrail.ts';
import { notOwned, ownerReachable, setBy } from '../stores/access.ts';
import { type ApiOperation, jsonReply } from './operation.ts';
import type { GuardrailDeps } from './tenants/guardrail-response.ts';

/** A guardrail acts in its own workspace alone: there, on every request. */
export function assignGuardrailWorkspaces({
  guardrails,
  owners,
}: GuardrailDeps): ApiOperation<
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
    async run({ params, body: { workspace_ids: workspaceIds }, caller }) {
      const id = (params.id as string).toLowerCase();
      const workspaceId = await ownerReachable(owners, caller, 'guardrail', id);
      const issues = workspaceIds.flatMap((one, at) =>
        one === workspaceId ? [] : { path: `workspace_ids[${at}]`, message: 'expected the workspace of the guardrail' },
      );
      if (issues.length > 0) throw refusal('invalid_request', issues);
      let count = 0;
      const after = await guardrails(workspaceId).update(id, setBy(caller), (one) => {
        count = one.ofWorkspace === true ? 0 : 1;
        return { ...one, ofWorkspace: true };
      });
      if (!after) throw notOwned('guardrail');
      return jsonReply({ assigned_count: count });
    },
  };
}
