import { parseWorkspaceId, type WorkspaceId } from '../../call/workspace.ts';
import type { Address, Change } from '../../stores/storage/storage.ts';
import { contentAt } from './content.ts';

/** The records of a workspace are in its own partition, newest first. */
export const recordKind = 'generation';

export function recordAt(workspaceId: WorkspaceId, id: string): Address {
  return { partition: workspaceId, kind: recordKind, id };
}

/** Removes a record, and what is kept beside it. */
export function removal(workspaceId: WorkspaceId, id: string): Change[] {
  return [recordAt(workspaceId, id), contentAt(workspaceId, id)].map((at) => ({ at, value: null }));
}

/** Which workspace a record belongs to, of all workspaces, oldest first: for operators, and to find what is expired. */
export const indexPartition = 'generations';
export const indexKind = 'generation-owner';

export function indexAt(id: string): Address {
  return { partition: indexPartition, kind: indexKind, id };
}

/** What a store takes as an id; those of a host app's own `ids` may be of another form. */
export const storableId = /^[A-Za-z0-9_.-]{1,100}$/;

/** The text of the index: when the request arrived, epoch ms, and its workspace. */
export function ownerText(workspaceId: WorkspaceId, receivedAtMs: number): string {
  return `${receivedAtMs} ${workspaceId}`;
}

export function ownerOf(text: string): { receivedAtMs: number; workspaceId: WorkspaceId | null } {
  const at = text.indexOf(' ');
  return { receivedAtMs: Number(text.slice(0, at)), workspaceId: parseWorkspaceId(text.slice(at + 1)) };
}

export const grainMs = { minute: 60_000, hour: 3_600_000, day: 86_400_000 } as const;
export type Grain = keyof typeof grainMs;
export const grains = ['minute', 'hour', 'day'] as const satisfies readonly Grain[];

/** Sums of a workspace, newest first. */
export function rowKind(grain: Grain): string {
  return `activity-${grain}`;
}

export function rowAt(workspaceId: WorkspaceId, grain: Grain, startMs: number, instance: string): Address {
  return { partition: workspaceId, kind: rowKind(grain), id: `${startMs}.${instance}` };
}

/** Epoch ms, of the id of a row. */
export function startOf(rowId: string): number {
  return Number(rowId.slice(0, rowId.indexOf('.')));
}

/** The workspaces that have sums: also those that only the host app knows of. */
export const activeKind = 'activity-workspace';

export function activeAt(workspaceId: WorkspaceId): Address {
  return { partition: indexPartition, kind: activeKind, id: workspaceId };
}
