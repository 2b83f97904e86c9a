import * as z from 'zod';
import { type KeyAssignment, keyAssignmentSchema } from '../../schema/tenants/guardrail.ts';
import { notOwned, ownerReachable, setBy } from '../../stores/access.ts';
import { type ApiOperation, jsonReply } from '../operation.ts';
import type { GuardrailDeps } from './response.ts';

export function unassignGuardrailKeys({
  guardrails,
  owners,
}: GuardrailDeps): ApiOperation<
  'guardrails.unassignKeys',
  { id: string; key_hashes: string[] },
  { unassigned_count: number },
  KeyAssignment
> {
  return {
    name: 'bulkUnassignKeysFromGuardrail',
    api: 'guardrails.unassignKeys',
    method: 'POST',
    path: '/guardrails/:id/assignments/keys/remove',
    permissions: ['management'],
    body: keyAssignmentSchema,
    result: () => z.object({ unassigned_count: z.int() }),
    async run({ params, body: { key_hashes: hashes }, caller }) {
      const id = (params.id as string).toLowerCase();
      const workspaceId = await ownerReachable(owners, caller, 'guardrail', id);
      let count = 0;
      const after = await guardrails(workspaceId).update(id, setBy(caller), (one) => {
        const keyHashes = one.keyHashes.filter((hash) => !hashes.includes(hash));
        count = one.keyHashes.length - keyHashes.length;
        return { ...one, keyHashes };
      });
      if (!after) throw notOwned('guardrail');
      return jsonReply({ unassigned_count: count });
    },
  };
}
