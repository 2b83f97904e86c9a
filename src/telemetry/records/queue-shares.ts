import { parseWorkspaceId, type WorkspaceId } from '../../call/workspace.ts';
import type { RequestRecord } from '../record.ts';

export function byWorkspace(records: readonly RequestRecord[]): Map<WorkspaceId, RequestRecord[]> {
  const groups = new Map<WorkspaceId, RequestRecord[]>();
  for (const record of records) {
    const workspaceId = parseWorkspaceId(record.workspaceId);
    if (workspaceId === null) continue;
    const known = groups.get(workspaceId);
    if (known) known.push(record);
    else groups.set(workspaceId, [record]);
  }
  return groups;
}

/**
 * The place in a full queue that a record of a workspace may take: that of the newest record of the workspace with the
 * most records, if that one has more.
 * @returns -1: no place
 */
export function newestOfLarger(queue: readonly RequestRecord[], workspaceId: string): number {
  const counts = new Map<string, number>();
  for (const one of queue) counts.set(one.workspaceId, (counts.get(one.workspaceId) ?? 0) + 1);
  let largest = workspaceId;
  for (const [id, count] of counts) if (count > (counts.get(largest) ?? 0)) largest = id;
  if ((counts.get(largest) ?? 0) <= (counts.get(workspaceId) ?? 0) + 1) return -1;
  return queue.findLastIndex((one) => one.workspaceId === largest);
}
