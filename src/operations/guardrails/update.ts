import * as z from 'zod';
import { definedOnly } from '../../base/defined-only.ts';
import {
  type Guardrail,
  type GuardrailChanges,
  guardrailSchema,
  type UpdateGuardrail,
  updateGuardrailSchema,
} from '../../schema/tenants/guardrail.ts';
import { notOwned, ownerReachable, setBy } from '../../stores/access.ts';
import { type ApiOperation, jsonReply } from '../operation.ts';
import { checkSettings, type GuardrailDeps, showGuardrail } from './response.ts';

/** Changes a guardrail. A caller bound to the workspace cannot change a guardrail of an operator. */
export function updateGuardrail({
  guardrails,
  owners,
  bounds,
}: GuardrailDeps): ApiOperation<
  'guardrails.update',
  { id: string } & GuardrailChanges,
  { data: Guardrail },
  UpdateGuardrail
> {
  return {
    name: 'updateGuardrail',
    api: 'guardrails.update',
    method: 'PATCH',
    path: '/guardrails/:id',
    permissions: ['management'],
    body: updateGuardrailSchema,
    result: () => z.object({ data: guardrailSchema() }),
    async run({ params, body, caller }) {
      const id = (params.id as string).toLowerCase();
      const changes = definedOnly(body);
      const workspaceId = await ownerReachable(owners, caller, 'guardrail', id);
      const before = await guardrails(workspaceId).get(id);
      if (!before) throw notOwned('guardrail');
      const steps = await checkSettings({ ...before.settings, ...changes }, bounds);
      const after = await guardrails(workspaceId).update(id, setBy(caller), (one) => ({
        ...one,
        settings: { ...one.settings, ...changes },
        steps,
      }));
      if (!after) throw notOwned('guardrail');
      return jsonReply({ data: showGuardrail(after, workspaceId) });
    },
  };
}
