import { fingerprintOf } from '../../base/text/fingerprint.ts';
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

/**
 * The series of sums of a workspace: one for each grain; for hours and days also their totals, and the same by one name
 * alone; and for each day one by user and tags as well.
 */
export const rowSeries = [
  'minute',
  'hour',
  'hour-totals',
  'hour-margins',
  'day',
  'day-totals',
  'day-margins',
  'user',
] as const;
export type RowSeries = (typeof rowSeries)[number];

const grainOfSeries: Readonly<Record<RowSeries, Grain>> = {
  minute: 'minute',
  hour: 'hour',
  'hour-totals': 'hour',
  'hour-margins': 'hour',
  day: 'day',
  'day-totals': 'day',
  'day-margins': 'day',
  user: 'day',
};

/** The time that a row of a series covers. */
export function grainOf(series: RowSeries): Grain {
  return grainOfSeries[series];
}

/** The kind of the sums of a workspace, newest first. */
export function rowKind(series: RowSeries): string {
  return `activity-${series}`;
}

export function rowAt(workspaceId: WorkspaceId, series: RowSeries, startMs: number, instance: string): Address {
  return { partition: workspaceId, kind: rowKind(series), id: `${startMs}.${instance}` };
}

/** The number of rows over which the users of a day are spread: a row that is written for each request is small. */
export const userParts = 32;

/** The row of a user, from 1 on: the same one in every process. 0: the rows of lost calls, which have a row each. */
export function partOf(user: string | null): number {
  return 1 + (fingerprintOf([user ?? '']) % userParts);
}

/** The place of a row in its list, newest first. Rows of users are sorted by their part as well, so that one is found. */
export function rowRank(startMs: number, part = 0): number {
  return -(startMs + part);
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
