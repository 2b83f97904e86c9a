import * as z from 'zod';
import {
  type Guardrail,
  guardrailSchema,
  type ListGuardrailsFields,
  type ListGuardrailsQuery,
  listGuardrailsQuery,
} from '../../schema/tenants/guardrail.ts';
import { reachableWorkspace } from '../../stores/access.ts';
import { type ApiOperation, jsonReply } from '../operation.ts';
import type { CreateGuardrailDeps } from './create.ts';
import { showGuardrail } from './response.ts';

/** Lists the guardrails of one workspace in the order of creation. Default: the caller's workspace. */
export function listGuardrails({
  guardrails,
  workspaces,
}: CreateGuardrailDeps): ApiOperation<
  'guardrails.list',
  ListGuardrailsFields,
  { data: Guardrail[]; total_count: number },
  unknown,
  ListGuardrailsQuery
> {
  return {
    name: 'listGuardrails',
    api: 'guardrails.list',
    method: 'GET',
    path: '/guardrails',
    permissions: ['management'],
    body: null,
    query: listGuardrailsQuery,
    result: () => z.object({ data: z.array(guardrailSchema()), total_count: z.int() }),
    async run({ query: { offset, limit, workspace_id }, caller }) {
      const workspaceId = await reachableWorkspace(workspaces, caller, workspace_id);
      const all = await guardrails(workspaceId).list();
      const data = all.slice(offset, offset + limit).map((one) => showGuardrail(one, workspaceId));
      return jsonReply({ data, total_count: all.length });
    },
  };
}
