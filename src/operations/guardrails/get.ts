import * as z from 'zod';
import { type Guardrail, guardrailSchema } from '../../schema/tenants/guardrail.ts';
import { notOwned, ownerReachable } from '../../stores/access.ts';
import { type ApiOperation, jsonReply } from '../operation.ts';
import { type GuardrailDeps, showGuardrail } from './response.ts';

export function getGuardrail({
  guardrails,
  owners,
}: GuardrailDeps): ApiOperation<'guardrails.get', { id: string }, { data: Guardrail }> {
  return {
    name: 'getGuardrail',
    api: 'guardrails.get',
    method: 'GET',
    path: '/guardrails/:id',
    permissions: ['management'],
    body: null,
    result: () => z.object({ data: guardrailSchema() }),
    async run({ params, caller }) {
      const id = (params.id as string).toLowerCase();
      const workspaceId = await ownerReachable(owners, caller, 'guardrail', id);
      const found = await guardrails(workspaceId).get(id);
      if (!found) throw notOwned('guardrail');
      return jsonReply({ data: showGuardrail(found, workspaceId) });
    },
  };
}
