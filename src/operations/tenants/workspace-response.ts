import type { Workspace } from '../../schema/workspace.ts';
import type { WorkspaceRecord } from '../../stores/workspaces.ts';
import { timestamp } from './answer.ts';

export function showWorkspace({ id, settings, createdAtMs, createdBy, updatedAtMs }: WorkspaceRecord): Workspace {
  return {
    id,
    ...settings,
    created_at: timestamp(createdAtMs),
    created_by: createdBy,
    updated_at: updatedAtMs === null ? null : timestamp(updatedAtMs),
  };
}
