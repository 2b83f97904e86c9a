import * as z from 'zod';
import { type PageFields, type PageQuery, pageQuery } from '../schema/page.ts';
import { notOwned, ownerReachable } from '../stores/access.ts';
import { type ApiOperation, jsonReply } from './operation.ts';
import type { GuardrailDeps } from './tenants/guardrail-response.ts';

export interface GuardrailKeyAssignment {
  key_hash: string;
  guardrail_id: string;
}

/** Lists the keys that a guardrail is assigned to. */
export function listGuardrailKeys({
  guardrails,
  owners,
}: GuardrailDeps): ApiOperation<
  'guardrails.keys',
  { id: string } & PageFields,
  { data: GuardrailKeyAssignment[]; total_count: number },
  unknown,
  PageQuery
> {
  return {
    name: 'listGuardrailKeyAssignments',
    api: 'guardrails.keys',
    method: 'GET',
    path: '/guardrails/:id/assignments/keys',
    permissions: ['management'],
    body: null,
    query: pageQuery,
    result: () =>
      z.object({
        data: z.array(z.object({ key_hash: z.string(), guardrail_id: z.string() })),
        total_count: z.int(),
      }),
    async run({ params, query: { offset, limit }, caller }) {
      const id = (params.id as string).toLowerCase();
      const workspaceId = await ownerReachable(owners, caller, 'guardrail', id);
      const found = await guardrails(workspaceId).get(id);
      if (!found) throw notOwned('guardrail');
      const { keyHashes } = found;
      const data = keyHashes.slice(offset, offset + limit).map((hash) => ({ key_hash: hash, guardrail_id: id }));
      return jsonReply({ data, total_count: keyHashes.length });
    },
  };
}
