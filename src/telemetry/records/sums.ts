import type { Clock } from '../../base/clock.ts';
import { tryParseJson } from '../../base/json.ts';
import { parseWorkspaceId, type WorkspaceId } from '../../call/workspace.ts';
import type { RecordSettings } from '../../schema/settings/records.ts';
import { damagedRecord } from '../../stores/damaged.ts';
import type { Storage } from '../../stores/storage/storage.ts';
import { type Cell, rowSchema } from './cell.ts';
import { placeBefore } from './newest-first.ts';
import { activeKind, type Grain, grainMs, indexPartition, type RowSeries, rowKind, startOf } from './places.ts';

/** The sums of one instance in a minute, an hour or a day. */
export interface SumRow {
  startMs: number;
  cells: readonly Cell[];
}

/** Reads sums. The number of reads depends on the length of the time, not on the number of requests. */
export interface Sums {
  /** The rows by day. `toMs` is not included; both are at midnight UTC. */
  days(workspaceId: WorkspaceId, fromMs: number, toMs: number): Promise<SumRow[]>;
  /** As `days`; the cells are told apart by user and tags as well. */
  users(workspaceId: WorkspaceId, fromMs: number, toMs: number): Promise<SumRow[]>;
  /** The sums of a time in whole minutes, or in whole hours where its minutes are not kept any more. */
  between(workspaceId: WorkspaceId, fromMs: number, toMs: number): Promise<Cell[]>;
  /** The workspaces that have sums; at most 1,000. */
  workspaces(): Promise<WorkspaceId[]>;
}

/** The number of rows in one read. */
const readSize = 500;
const maxWorkspaces = 1_000;

export function createSums(storage: Storage, clock: Clock, settings: RecordSettings): Sums {
  async function rows(workspaceId: WorkspaceId, series: RowSeries, fromMs: number, toMs: number): Promise<SumRow[]> {
    const kind = rowKind(series);
    const timeOf = ({ id }: { id: string }) => startOf(id);
    const found: SumRow[] = [];
    let place = await placeBefore(storage, { partition: workspaceId, kind, timeOf }, toMs);
    for (;;) {
      const { records } = await storage.list(workspaceId, kind, { offset: place, limit: readSize });
      for (const { id, value } of records) {
        const startMs = startOf(id);
        if (startMs < fromMs) return found;
        const parsed = rowSchema().safeParse(tryParseJson(value));
        if (!parsed.success) throw damagedRecord(kind);
        found.push({ startMs, cells: parsed.data });
      }
      if (records.length < readSize) return found;
      place += records.length;
    }
  }

  return {
    days: (workspaceId, fromMs, toMs) => rows(workspaceId, 'day', fromMs, toMs),
    users: (workspaceId, fromMs, toMs) => rows(workspaceId, 'user', fromMs, toMs),
    async between(workspaceId, fromMs, toMs) {
      const nowMs = clock.now();
      const cells: Cell[] = [];
      const endMs = Math.min(toMs, nowMs + grainMs.minute);
      for (const segment of segmentsOf(fromMs, endMs, nowMs - settings.minutesMs))
        for (const row of await rows(workspaceId, segment.grain, segment.fromMs, segment.toMs))
          cells.push(...row.cells);
      return cells;
    },
    async workspaces() {
      const page = { offset: 0, limit: maxWorkspaces };
      const { records } = await storage.list(indexPartition, activeKind, page);
      return records.map(({ id }) => parseWorkspaceId(id)).filter((id) => id !== null);
    },
  };
}

interface Segment {
  grain: Grain;
  fromMs: number;
  toMs: number;
}

/**
 * Divides a time into minutes up to an hour, hours up to a day, days, and the same downwards: at most five segments.
 */
export function segmentsOf(fromMs: number, toMs: number, minutesFromMs: number): Segment[] {
  const finest = (atMs: number): Grain => (atMs < minutesFromMs ? 'hour' : 'minute');
  const segments: Segment[] = [];
  let atMs = fromMs - (fromMs % grainMs[finest(fromMs)]);
  while (atMs < toMs) {
    const fits = (grain: Grain) => atMs % grainMs[grain] === 0 && atMs + grainMs[grain] <= toMs;
    const grain = fits('day') ? 'day' : fits('hour') ? 'hour' : finest(atMs);
    const nextMs = atMs - (atMs % grainMs[grain]) + grainMs[grain];
    const last = segments.at(-1);
    if (last?.grain === grain) last.toMs = nextMs;
    else segments.push({ grain, fromMs: atMs - (atMs % grainMs[grain]), toMs: nextMs });
    atMs = nextMs;
  }
  return segments;
}
