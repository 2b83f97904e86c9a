import * as z from 'zod';
import { refusal } from '../../base/refusal.ts';
import { type KeyAssignment, keyAssignmentSchema } from '../../schema/tenants/guardrail.ts';
import { notOwned, ownerReachable, setBy } from '../../stores/access.ts';
import type { ApiKeyStore } from '../../stores/api-keys/index.ts';
import { type ApiOperation, jsonReply } from '../operation.ts';
import type { GuardrailDeps } from './response.ts';

export interface AssignGuardrailKeysDeps extends GuardrailDeps {
  apiKeys: Pick<ApiKeyStore, 'get'>;
}

/** Assigns a guardrail to keys of its own workspace. All guardrails of a key act. */
export function assignGuardrailKeys({
  guardrails,
  owners,
  apiKeys,
}: AssignGuardrailKeysDeps): ApiOperation<
  'guardrails.assignKeys',
  { id: string; key_hashes: string[] },
  { assigned_count: number },
  KeyAssignment
> {
  return {
    name: 'bulkAssignKeysToGuardrail',
    api: 'guardrails.assignKeys',
    method: 'POST',
    path: '/guardrails/:id/assignments/keys',
    permissions: ['management'],
    body: keyAssignmentSchema,
    result: () => z.object({ assigned_count: z.int() }),
    async run({ params, body: { key_hashes: hashes }, caller }) {
      const id = (params.id as string).toLowerCase();
      const workspaceId = await ownerReachable(owners, caller, 'guardrail', id);
      const keys = await Promise.all(hashes.map((hash) => apiKeys.get(workspaceId, hash)));
      const issues = keys.flatMap((key, at) =>
        key === null ? { path: `key_hashes[${at}]`, message: 'expected a key of the workspace' } : [],
      );
      if (issues.length > 0) throw refusal('invalid_request', issues);
      let count = 0;
      const after = await guardrails(workspaceId).update(id, setBy(caller), (one) => {
        const keyHashes = [...new Set([...one.keyHashes, ...hashes])];
        count = keyHashes.length - one.keyHashes.length;
        return { ...one, keyHashes };
      });
      if (!after) throw notOwned('guardrail');
      return jsonReply({ assigned_count: count });
    },
  };
}
