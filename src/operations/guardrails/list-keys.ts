import * as z from 'zod';
import { isoTime } from '../../base/clock.ts';
import { lazily } from '../../base/lazily.ts';
import { type PageFields, type PageQuery, pageQuery } from '../../schema/page.ts';
import { notOwned, ownerReachable } from '../../stores/access.ts';
import type { ApiKeyStore } from '../../stores/api-keys/index.ts';
import { type ApiOperation, jsonReply } from '../operation.ts';
import type { GuardrailDeps } from './response.ts';

/** @see interface document of the public router: its clients take no fewer fields */
const assignmentSchema = lazily(() =>
  z.object({
    /** The guardrail and the hash of the key. */
    id: z.string(),
    key_hash: z.string(),
    guardrail_id: z.string(),
    /** The name and the label as GET /keys shows them; empty for a deleted key. */
    key_name: z.string(),
    key_label: z.string(),
    /** Always null: only the audit log has it. */
    assigned_by: z.null(),
    /** The time of the guardrail's last change: the assignment is not later. */
    created_at: z.iso.datetime(),
  }),
);
export interface GuardrailKeyAssignment extends z.infer<ReturnType<typeof assignmentSchema>> {}

export interface ListGuardrailKeysDeps extends GuardrailDeps {
  apiKeys: Pick<ApiKeyStore, 'get'>;
}

/** Lists the keys that a guardrail is assigned to. */
export function listGuardrailKeys({
  guardrails,
  owners,
  apiKeys,
}: ListGuardrailKeysDeps): ApiOperation<
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
        data: z.array(assignmentSchema()),
        total_count: z.int(),
      }),
    async run({ params, query: { offset, limit }, caller }) {
      const id = (params.id as string).toLowerCase();
      const workspaceId = await ownerReachable(owners, caller, 'guardrail', id);
      const found = await guardrails(workspaceId).get(id);
      if (!found) throw notOwned('guardrail');
      const { keyHashes, createdAtMs, updatedAtMs } = found;
      const created_at = isoTime(updatedAtMs ?? createdAtMs);
      const data = await Promise.all(
        keyHashes.slice(offset, offset + limit).map(async (hash): Promise<GuardrailKeyAssignment> => {
          const { name = '', label = '' } = (await apiKeys.get(workspaceId, hash)) ?? {};
          const key = { key_hash: hash, key_name: name, key_label: label };
          return { id: `${id}:${hash}`, ...key, guardrail_id: id, assigned_by: null, created_at };
        }),
      );
      return jsonReply({ data, total_count: keyHashes.length });
    },
  };
}
