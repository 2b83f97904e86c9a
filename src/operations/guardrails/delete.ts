import * as z from 'zod';
import { notOwned, ownerReachable, setBy } from '../../stores/access.ts';
import { type ApiOperation, jsonReply } from '../operation.ts';
import type { GuardrailDeps } from './response.ts';

export function deleteGuardrail({
  guardrails,
  owners,
}: GuardrailDeps): ApiOperation<'guardrails.delete', { id: string }, { deleted: true }> {
  return {
    name: 'deleteGuardrail',
    api: 'guardrails.delete',
    method: 'DELETE',
    path: '/guardrails/:id',
    permissions: ['management'],
    body: null,
    result: () => z.object({ deleted: z.literal(true) }),
    async run({ params, caller }) {
      const id = (params.id as string).toLowerCase();
      const workspaceId = await ownerReachable(owners, caller, 'guardrail', id);
      if (!(await guardrails(workspaceId).delete(id, setBy(caller)))) throw notOwned('guardrail');
      return jsonReply({ deleted: true });
    },
  };
}
