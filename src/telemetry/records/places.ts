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
 * alone; and for each day one by user and tags as well. A row of a quarter has six hours: a week is read in few rows, and
 * a row that is written for each request is small.
 */
export const rowSeries = [
  'minute',
  'hour',
  'quarter-totals',
  'quarter-models',
  'day',
  'day-totals',
  'day-models',
  'day-names',
  'user',
] as const;
export type RowSeries = (typeof rowSeries)[number];

const quarterMs = 6 * grainMs.hour;

/** The rows of a series. */
interface RowShape {
  /** The time that its cells tell apart. */
  grain: Grain;
  /** The time that a row covers. */
  rowMs: number;
  /**
   * Rows of the same time are spread over so many parts, by a name of their cells: what is asked for one name is in one
   * part, and a row that is written for each request is small. null: one row has all.
   */
  parts: { count: number; name: 'user' | 'model' } | null;
}

const shapes: Readonly<Record<RowSeries, RowShape>> = {
  minute: { grain: 'minute', rowMs: grainMs.minute, parts: null },
  hour: { grain: 'hour', rowMs: grainMs.hour, parts: null },
  'quarter-totals': { grain: 'hour', rowMs: quarterMs, parts: null },
  'quarter-models': { grain: 'hour', rowMs: quarterMs, parts: { count: 16, name: 'model' } },
  day: { grain: 'day', rowMs: grainMs.day, parts: null },
  'day-totals': { grain: 'day', rowMs: grainMs.day, parts: null },
  'day-models': { grain: 'day', rowMs: grainMs.day, parts: null },
  'day-names': { grain: 'day', rowMs: grainMs.day, parts: null },
  user: { grain: 'day', rowMs: grainMs.day, parts: { count: 32, name: 'user' } },
};

export function shapeOf(series: RowSeries): RowShape {
  return shapes[series];
}

/** The start of the row that has an instant, epoch ms. */
export function rowStartOf(series: RowSeries, atMs: number): number {
  return atMs - (atMs % shapes[series].rowMs);
}

/** The kind of the sums of a workspace, newest first. */
export function rowKind(series: RowSeries): string {
  return `activity-${series}`;
}

export function rowAt(workspaceId: WorkspaceId, series: RowSeries, startMs: number, instance: string): Address {
  return { partition: workspaceId, kind: rowKind(series), id: `${startMs}.${instance}` };
}

/**
 * The part in which cells of a name are, from 1 on: the same one in every process. 0: the rows of lost calls, which have a
 * row each, and the only row of a series without parts.
 */
export function partOf(series: RowSeries, name: string | null): number {
  const { parts } = shapes[series];
  return parts === null ? 0 : 1 + (fingerprintOf([name ?? '']) % parts.count);
}

/**
 * The place of a row in its list, newest first. Rows of a day that are in parts are sorted by their part and then by time,
 * so that those of one part are found together.
 */
export function rowRank(series: RowSeries, startMs: number, part = 0): number {
  const { parts, rowMs } = shapes[series];
  if (parts === null) return -startMs;
  const intoDayMs = startMs % grainMs.day;
  return -(startMs - intoDayMs + part * (grainMs.day / rowMs) + intoDayMs / rowMs);
}

/** The end of the id of a row that is one of several parts. */
export function suffixOf(part: number): string {
  return part === 0 ? '' : `-u${part}`;
}

/** The number of the hour of an instant in its quarter of the day, from 0 on. */
export function hourOf(atMs: number): number {
  return Math.floor((atMs % quarterMs) / grainMs.hour);
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
