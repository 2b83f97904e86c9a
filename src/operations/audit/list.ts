import * as z from 'zod';
import { GatewayError } from '../../base/errors.ts';
import {
  type AuditEntry,
  auditEntrySchema,
  type ListAuditFields,
  type ListAuditQuery,
  listAuditQuery,
} from '../../schema/records/audit.ts';
import { noWorkspace } from '../../stores/access.ts';
import type { AuditLog } from '../../stores/audit-log.ts';
import { type ApiOperation, jsonReply } from '../operation.ts';

/**
 * Lists changes, newest first. A caller bound to a workspace sees the changes there, without the keys and users of
 * operators.
 */
export function listAudit({
  auditLog,
}: {
  /** null: no changes are kept. */
  auditLog: AuditLog | null;
}): ApiOperation<'audit.list', ListAuditFields, { data: AuditEntry[]; total_count: number }, unknown, ListAuditQuery> {
  return {
    name: 'listAudit',
    api: 'audit.list',
    method: 'GET',
    path: '/audit',
    permissions: ['management'],
    body: null,
    query: listAuditQuery,
    result: () => z.object({ data: z.array(auditEntrySchema()), total_count: z.int() }),
    async run({ query, caller }) {
      if (auditLog === null)
        throw new GatewayError('not_found', 'No audit log is kept here; the operator can switch it on: audit.enabled');
      // A deleted workspace still has a log, so the workspace is not looked up.
      if (!caller.managesAll && query.workspace_id !== undefined && query.workspace_id !== caller.workspaceId)
        throw noWorkspace();
      const workspaceId = caller.managesAll ? query.workspace_id : caller.workspaceId;
      const { entries, total } = await auditLog.list(
        workspaceId,
        (stored) => {
          // A filter must not find what a tenant may not see.
          const entry = caller.managesAll ? stored : withoutOperator(stored);
          return (workspaceId === undefined || entry.workspace_id === workspaceId) && fits(entry, query);
        },
        query,
      );
      return jsonReply({ data: caller.managesAll ? entries : entries.map(withoutOperator), total_count: total });
    },
  };
}

function fits(entry: AuditEntry, { actor, operation, resource_type, resource_id, from, to }: ListAuditQuery): boolean {
  const atMs = Date.parse(entry.created_at);
  return (
    (actor === undefined || entry.actor.api_key_hash === actor || entry.actor.user_id === actor) &&
    (operation === undefined || entry.operation === operation) &&
    (resource_type === undefined || entry.resource_type === resource_type) &&
    (resource_id === undefined || entry.resource_id === resource_id) &&
    (from === undefined || atMs >= from) &&
    (to === undefined || atMs < to)
  );
}

function withoutOperator(entry: AuditEntry): AuditEntry {
  if (entry.actor.type === 'workspace') return entry;
  const actor = { type: 'operator' as const, api_key_hash: null, user_id: null, workspace_id: null };
  return { ...entry, actor, request_id: null };
}
