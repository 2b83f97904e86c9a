import * as z from 'zod';
import { tryParseJson } from '../../base/json.ts';
import { lazily } from '../../base/lazily.ts';
import { intervals } from '../../base/windows.ts';
import type { WorkspaceId } from '../../call/workspace.ts';
import type { Address, Change } from '../storage/storage.ts';
import type { Hold } from './hold.ts';
import type { Reported } from './slice.ts';
import type { SumsPart } from './usage-counter.ts';

/** The bookings of one batch. Any process that finds the note can send it again, and it counts once. */
export interface Note {
  /** Epoch ms. */
  atMs: number;
  ends: readonly NotedEnd[];
  /** The reports of slices that do not end. */
  draws: readonly NotedDraw[];
  sums: readonly SumsPart[];
}

export interface NotedEnd {
  /** The hold, or the slice with the amount that it had before. */
  hold: Omit<Hold, 'workspaceId'>;
  nanoUsd: number;
  /**
   * The earlier reports of the slice that had not arrived. Not all of them are in a note of their own: those that give
   * back what is free have no record to agree with.
   */
  before: readonly Reported[];
}

export interface NotedDraw {
  /** The slice, with the amount that it had before. */
  hold: Omit<Hold, 'workspaceId'>;
  toNanoUsd: number;
  spentNanoUsd: number;
  /** As of an end. */
  before: readonly Reported[];
}

const windowSchema = () =>
  z.object({
    account: z.string(),
    interval: z.enum(intervals),
    startMs: z.int(),
    endMs: z.int().nullable(),
  });
const holdSchema = () =>
  z.object({
    id: z.string(),
    nanoUsd: z.int(),
    sinceMs: z.int(),
    windows: z.array(z.object({ ...windowSchema().shape, limitNanoUsd: z.int() })),
  });
// Processes of earlier versions write none.
const beforeSchema = () => z.array(z.tuple([z.int(), z.int(), z.int()])).default([]);
const noteSchema = lazily(() =>
  z.object({
    atMs: z.int(),
    ends: z.array(z.object({ nanoUsd: z.int(), hold: holdSchema(), before: beforeSchema() })),
    // Processes of earlier versions write none.
    draws: z
      .array(z.object({ toNanoUsd: z.int(), spentNanoUsd: z.int(), hold: holdSchema(), before: beforeSchema() }))
      .default([]),
    sums: z.array(
      z.object({ id: z.string(), additions: z.array(z.object({ window: windowSchema(), nanoUsd: z.int() })) }),
    ),
  }),
);

/** The kind of notes. They are in the partition of their workspace, like the records, oldest first. */
export const noteKind = 'booking';

export function noteAt(workspaceId: WorkspaceId, id: string): Address {
  return { partition: workspaceId, kind: noteKind, id };
}

export function noteRemovals(workspaceId: WorkspaceId, ids: readonly string[]): Change[] {
  return ids.map((id) => ({ at: noteAt(workspaceId, id), value: null }));
}

export function noteText({ atMs, ends, draws, sums }: Note): string {
  const shown = ends.map(({ hold, nanoUsd, before }) => ({ nanoUsd, hold: shownHold(hold), ...shownBefore(before) }));
  const drawn = draws.map(({ hold, toNanoUsd, spentNanoUsd, before }) => ({
    toNanoUsd,
    spentNanoUsd,
    hold: shownHold(hold),
    ...shownBefore(before),
  }));
  return JSON.stringify({ atMs, ends: shown, ...(drawn.length > 0 ? { draws: drawn } : {}), sums });
}

function shownHold({ id, nanoUsd, sinceMs, windows }: Omit<Hold, 'workspaceId'>) {
  return { id, nanoUsd, sinceMs, windows };
}

function shownBefore(before: readonly Reported[]) {
  return before.length > 0 ? { before } : {};
}

/** @returns null: the note is damaged */
export function parseNote(text: string): Note | null {
  const found = noteSchema().safeParse(tryParseJson(text));
  return found.success ? found.data : null;
}
