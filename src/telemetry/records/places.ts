import { parseWorkspaceId, type WorkspaceId } from '../../call/workspace.ts';
import type { Address, Change } from '../../stores/storage/storage.ts';
import { contentAt } from './content.ts';

/** The kind of records. The records of a workspace are in its own partition, newest first. */
export const recordKind = 'generation';

export function recordAt(workspaceId: WorkspaceId, id: string): Address {
  return { partition: workspaceId, kind: recordKind, id };
}

/** Removes a record, and the content beside it. */
export function removal(workspaceId: WorkspaceId, id: string): Change[] {
  return [recordAt(workspaceId, id), contentAt(workspaceId, id)].map((at) => ({ at, value: null }));
}

/**
 * The index of the records of all workspaces, oldest first, with the workspace of each. Operators and the search for
 * expired records use it.
 */
export const indexPartition = 'generations';
export const indexKind = 'generation-owner';

export function indexAt(id: string): Address {
  return { partition: indexPartition, kind: indexKind, id };
}

/** The ids that a store accepts; a host app's own `ids` may make others. */
export const storableId = /^[A-Za-z0-9_.-]{1,100}$/;

/** The text of the index: the arrival of the request, epoch ms, and its workspace. */
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

/** The sums of a workspace: by model, provider and key for each grain, and by user and tags as well for each day. */
export const rowSeries = [...grains, 'user'] as const;
export type RowSeries = (typeof rowSeries)[number];

/** The kind of the sums of a workspace, newest first. */
export function rowKind(series: RowSeries): string {
  return `activity-${series}`;
}

export function rowAt(workspaceId: WorkspaceId, series: RowSeries, startMs: number, instance: string): Address {
  return { partition: workspaceId, kind: rowKind(series), id: `${startMs}.${instance}` };
}

/** The start of a row by its id, epoch ms. */
export function startOf(rowId: string): number {
  return Number(rowId.slice(0, rowId.indexOf('.')));
}

/** The kind of the index of workspaces that have sums, also workspaces that only the host app knows. */
export const activeKind = 'activity-workspace';

export function activeAt(workspaceId: WorkspaceId): Address {
  return { partition: indexPartition, kind: activeKind, id: workspaceId };
}
