import { isoTime } from '../../base/clock.ts';
import type { Caller } from '../../call/call.ts';
import type { Workspace } from '../../schema/tenants/workspace.ts';
import type { WorkspaceRecord } from '../../stores/workspaces.ts';

export function showWorkspace({ id, settings, createdAtMs, createdBy, updatedAtMs }: WorkspaceRecord): Workspace {
  return {
    id,
    ...settings,
    created_at: isoTime(createdAtMs),
    created_by: createdBy,
    updated_at: updatedAtMs === null ? null : isoTime(updatedAtMs),
  };
}

/** The creator of a resource: a user of the host app, else the beginning of an api key's hash. */
export function creatorOf({ userId, apiKeyHash }: Caller): string {
  return userId ?? (apiKeyHash === null ? 'operator' : `key:${apiKeyHash.slice(0, 8)}`);
}
