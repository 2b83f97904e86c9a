import { LRUCache } from 'lru-cache';
import type { Clock } from '../../base/clock.ts';
import { parseWorkspaceId, type WorkspaceId } from '../../call/workspace.ts';
import type { RecordSettings } from '../../schema/settings/records.ts';
import { damagedRecord } from '../../stores/damaged.ts';
import type { Storage } from '../../stores/storage/storage.ts';
import type { Cell, CellName } from './cell.ts';
import { type ListEntry, placeBefore, readerByRank } from './newest-first.ts';
import {
  activeKind,
  type Grain,
  grainMs,
  indexPartition,
  partOf,
  rowKind,
  rowRank,
  startOf,
  userParts,
} from './places.ts';
import { readTable, type TablePlace, tableFor, tablesOf } from './tables.ts';

/** The sums of one instance in a minute, an hour or a day. */
export interface SumRow {
  startMs: number;
  cells: readonly Cell[];
}

/** The sums that are wanted. */
export interface WantedSums {
  grain: Grain;
  /** Both times are at the beginning of a minute, hour or day. */
  fromMs: number;
  toMs: number;
  /** The names that the cells must have. Users and tags are in sums by day alone. */
  names: ReadonlySet<CellName>;
  /** Only cells with one of these values need be read; others may be among them. */
  only?: { name: CellName; values: ReadonlySet<string | null> } | undefined;
}

/** Reads sums. The number of reads depends on the length of the time, not on the number of requests. */
export interface Sums {
  /** The rows of a time. The cells have the wanted names, perhaps more. */
  rows(workspaceId: WorkspaceId, wanted: WantedSums): Promise<SumRow[]>;
  /**
   * The sums of a time that need not be told apart by time. Its whole hours and days are read as such: a month by the hour
   * is thirty rows.
   * @param wanted  grain: of the rest; hours also where its minutes are not kept any more
   */
  between(workspaceId: WorkspaceId, wanted: WantedSums): Promise<SumRow[]>;
  /** The workspaces that have sums; at most 1,000. */
  workspaces(): Promise<WorkspaceId[]>;
}

/** The most rows in one read. */
const readSize = 500;
/** The number of rows of one user in one read: each instance has one for a day. */
const readOfUser = 2;
const maxWorkspaces = 1_000;
/** The most characters of rows whose cells are remembered: those of a week of ten workspaces by the hour. */
const rememberedChars = 4_000_000;

export function createSums(storage: Storage, clock: Clock, settings: RecordSettings): Sums {
  const { seek } = storage;
  const kept = seek?.bind(storage);
  /** Tables that were read, with the text of their row: a page asks for several sums of the same rows, again and again. */
  const remembered = new LRUCache<string, { value: string; cells: readonly Cell[] }>({
    maxSize: rememberedChars,
    sizeCalculation: ({ value }) => value.length + 1,
  });

  /** @throws GatewayError internal (500): the row is damaged */
  function rowOf(workspaceId: WorkspaceId, entry: ListEntry, table: TablePlace, only: Values): SumRow {
    const { id, value } = entry;
    const key = `${workspaceId} ${table.series} ${table.at} ${id}`;
    const known = only === null ? remembered.get(key) : undefined;
    if (known?.value === value) return { startMs: startOf(id), cells: known.cells };
    const cells = readTable(value, table, only);
    if (cells === null) throw damagedRecord(rowKind(table.series));
    if (only === null) remembered.set(key, { value, cells });
    return { startMs: startOf(id), cells };
  }

  /** Makes a function that reads on in the rows from the newest before an instant. */
  async function readBefore(workspaceId: WorkspaceId, kind: string, beforeMs: number) {
    const list = { partition: workspaceId, kind };
    if (kept) return readerByRank(kept, { ...list, rankOf: rankIn }, 1 - beforeMs);
    let place = await placeBefore(storage, { ...list, timeOf: ({ id }) => startOf(id) }, beforeMs);
    return async (limit: number) => {
      const { records } = await storage.list(workspaceId, kind, { offset: place, limit });
      place += records.length;
      return records;
    };
  }

  async function rows(workspaceId: WorkspaceId, wanted: WantedSums): Promise<SumRow[]> {
    const { grain, fromMs, toMs, names, only } = wanted;
    const table = tableFor(grain, names);
    if (table === null) throw new RangeError(`Sums by ${grain} do not tell ${[...names].join(', ')} apart`);
    const isFound = only !== undefined && tablesOf[table.series][table.at]?.names[0] === only.name;
    const values = isFound ? only.values : null;
    if (kept && table.series === 'user' && values?.size === 1)
      return rowsOfUser(workspaceId, table, { fromMs, toMs, values });
    const kind = rowKind(table.series);
    const found: SumRow[] = [];
    const next = await readBefore(workspaceId, kind, toMs);
    // As many as one instance has, and the one before them: a read of more would fetch what nobody looks at.
    const perTime = table.series === 'user' ? userParts : 1;
    const size = Math.min(readSize, ((toMs - fromMs) / grainMs[grain]) * perTime + 1);
    for (;;) {
      const entries = await next(size);
      for (const entry of entries) {
        if (startOf(entry.id) < fromMs) return found;
        found.push(rowOf(workspaceId, entry, table, values));
      }
      if (entries.length < size) return found;
    }
  }

  /** Reads only the rows in which a user is: there are so many of other users that they would take seconds. */
  async function rowsOfUser(
    workspaceId: WorkspaceId,
    table: TablePlace,
    { fromMs, toMs, values }: { fromMs: number; toMs: number; values: ReadonlySet<string | null> },
  ): Promise<SumRow[]> {
    const kind = rowKind(table.series);
    async function ofPart(startMs: number, part: number): Promise<SumRow[]> {
      const rank = rowRank(startMs, part);
      const list = { partition: workspaceId, kind, rankOf: rankIn };
      const next = readerByRank(kept as NonNullable<typeof kept>, list, rank);
      const found: SumRow[] = [];
      for (;;) {
        const entries = await next(readOfUser);
        for (const entry of entries) {
          if (rankIn(entry) > rank) return found;
          found.push(rowOf(workspaceId, entry, table, values));
        }
        if (entries.length < readOfUser) return found;
      }
    }
    const days = Array.from({ length: (toMs - fromMs) / grainMs.day }, (_, at) => fromMs + at * grainMs.day);
    // Those of lost calls are in no user's part.
    const [user = null] = values;
    const read = days.flatMap((startMs) => [ofPart(startMs, partOf(user)), ofPart(startMs, 0)]);
    return (await Promise.all(read)).flat();
  }

  return {
    rows,
    async between(workspaceId, { grain, fromMs, toMs, names, only }) {
      const nowMs = clock.now();
      const found: SumRow[] = [];
      const endMs = Math.min(toMs, Math.floor(nowMs / grainMs[grain] + 1) * grainMs[grain]);
      const minutesFromMs = grain === 'minute' ? nowMs - settings.minutesMs : Number.POSITIVE_INFINITY;
      for (const segment of segmentsOf(fromMs, endMs, minutesFromMs))
        found.push(...(await rows(workspaceId, { ...segment, names, only })));
      return found;
    },
    async workspaces() {
      const page = { offset: 0, limit: maxWorkspaces };
      const { records } = await storage.list(indexPartition, activeKind, page);
      return records.map(({ id }) => parseWorkspaceId(id)).filter((id) => id !== null);
    },
  };
}

/** The values of the cells that are wanted; null: all. */
type Values = ReadonlySet<string | null> | null;

/** The rank of a row, which its id tells. */
function rankIn({ id }: ListEntry): number {
  return rowRank(startOf(id), Number(/-u(\d+)$/.exec(id)?.[1] ?? 0));
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
