import { LRUCache } from 'lru-cache';
import pLimit from 'p-limit';
import type { Clock } from '../../base/clock.ts';
import { parseWorkspaceId, type WorkspaceId } from '../../call/workspace.ts';
import type { RecordSettings } from '../../schema/settings/records.ts';
import { damagedRecord } from '../../stores/damaged.ts';
import type { RankedRecord, RankSpan, Storage } from '../../stores/storage/storage.ts';
import type { Cell, CellName } from './cell.ts';
import { type ListEntry, placeBefore } from './newest-first.ts';
import {
  activeKind,
  type Grain,
  grainMs,
  indexPartition,
  partOf,
  type RowSeries,
  rowKind,
  rowRank,
  rowStartOf,
  shapeOf,
  startOf,
} from './places.ts';
import { readTable, type TablePlace, tableFor, tablesOf } from './tables.ts';

/** The sums of one instance in a minute, an hour or a day. */
export interface SumRow {
  workspaceId: WorkspaceId;
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
  /** The rows of a time, of some workspaces. The cells have the wanted names, perhaps more. */
  rows(of: readonly WorkspaceId[], wanted: WantedSums): Promise<SumRow[]>;
  /**
   * The sums of a time that need not be told apart by time. Its whole hours and days are read as such: a month by the hour
   * is thirty rows. A time that is not over ends with the day, of which there is nothing yet.
   * @param wanted  grain: of the rest; hours also where its minutes are not kept any more
   */
  between(of: readonly WorkspaceId[], wanted: WantedSums): Promise<SumRow[]>;
  /** The workspaces that have sums; at most 1,000. */
  workspaces(): Promise<WorkspaceId[]>;
}

/** The number of rows in one read; more where one instance alone has more in a time. */
const readSize = 500;
/** The most reads at the same time: fewer than a store has connections. */
const readsAtOnce = 5;
const maxWorkspaces = 1_000;
/** The most characters of rows whose cells are remembered: those of a week of ten workspaces by the hour. */
const rememberedChars = 12_000_000;

/** A row that was read, and the cells of those of its tables that were wanted. */
interface Remembered {
  value: string;
  tables: (Timed[] | undefined)[];
}

/** The cells of one time of a row. */
interface Timed {
  startMs: number;
  cells: readonly Cell[];
}

/** The values of the cells that are wanted; null: all. */
type Values = ReadonlySet<string | null> | null;

interface AskedRows {
  fromMs: number;
  toMs: number;
  values: Values;
}

/** The part of a list that has rows of a time. */
interface RowSpan extends RankSpan {
  partition: WorkspaceId;
  /** The number of rows that one instance has in it. */
  rows: number;
}

/** @param written  a number that grows whenever this instance has written records or sums */
export function createSums(storage: Storage, clock: Clock, settings: RecordSettings, written: () => number): Sums {
  /** Reads that have not ended, by what they read and what was written before them. */
  const running = new Map<string, Promise<SumRow[]>>();
  const seekAll = storage.seekAll?.bind(storage);
  /** Rows that were read: a page asks for several sums of the same rows, again and again. */
  const remembered = new LRUCache<string, Remembered>({
    maxSize: rememberedChars,
    sizeCalculation: ({ value }) => value.length + 1,
  });

  /** @throws GatewayError internal (500): the row is damaged */
  function cellsOf(workspaceId: WorkspaceId, { id, value }: ListEntry, table: TablePlace, values: Values): Timed[] {
    const read = (only: Values) => {
      const cells = readTable(value, table, only);
      if (cells === null) throw damagedRecord(rowKind(table.series));
      return byTime(table, startOf(id), cells);
    };
    // Of a large row, few cells are read, and not remembered.
    if (values !== null && table.series !== 'quarter-models') return read(values);
    const key = `${workspaceId} ${table.series} ${id}`;
    let row = remembered.get(key);
    if (row?.value !== value) {
      row = { value, tables: [] };
      remembered.set(key, row);
    }
    const known = row.tables[table.at];
    if (known) return known;
    const found = read(null);
    row.tables[table.at] = found;
    return found;
  }

  /**
   * Reads rows. A page asks for several sums at once, of the same rows: the same read is done once, unless this instance
   * has written a record since it began. What another instance writes meanwhile may be missing, as in a read that began a
   * moment before.
   */
  function rows(of: readonly WorkspaceId[], wanted: WantedSums): Promise<SumRow[]> {
    const { grain, fromMs, toMs, names, only } = wanted;
    const table = tableFor(grain, names);
    if (table === null) throw new RangeError(`Sums by ${grain} do not tell ${[...names].join(', ')} apart`);
    const isFound = only !== undefined && tablesOf[table.series][table.at]?.names[0] === only.name;
    const values = isFound ? only.values : null;
    const key = JSON.stringify([written(), of, table, fromMs, toMs, values && [...values]]);
    const known = running.get(key);
    if (known) return known;
    const read = readRows(of, table, { fromMs, toMs, values }).finally(() => running.delete(key));
    running.set(key, read);
    return read;
  }

  async function readRows(of: readonly WorkspaceId[], table: TablePlace, asked: AskedRows): Promise<SumRow[]> {
    const { series } = table;
    const { fromMs, toMs, values } = asked;
    const found: SumRow[] = [];
    const take = (workspaceId: WorkspaceId, entries: readonly ListEntry[]) => {
      for (const entry of entries)
        for (const { startMs, cells } of cellsOf(workspaceId, entry, table, values))
          if (startMs >= fromMs && startMs < toMs) found.push({ workspaceId, startMs, cells });
    };
    if (seekAll) {
      const spans = of.flatMap((id) => spansOf(id, series, asked));
      await readByRank(spans, seekAll, take);
    } else
      await pLimit(readsAtOnce).map(of, async (workspaceId) =>
        take(workspaceId, await readByPlace(storage, workspaceId, series, asked)),
      );
    return found;
  }

  return {
    rows,
    async between(of, { grain, fromMs, toMs, names, only }) {
      const nowMs = clock.now();
      // A time that is not over is as long as its day: there is nothing after now.
      const isOpen = toMs > nowMs;
      const endMs = isOpen ? Math.floor(nowMs / grainMs.day + 1) * grainMs.day : toMs;
      const minutesFromMs = grain === 'minute' ? nowMs - settings.minutesMs : Number.POSITIVE_INFINITY;
      const segments = segmentsOf(fromMs, endMs, minutesFromMs);
      return (await Promise.all(segments.map((segment) => rows(of, { ...segment, names, only })))).flat();
    },
    async workspaces() {
      const page = { offset: 0, limit: maxWorkspaces };
      const { records } = await storage.list(indexPartition, activeKind, page);
      return records.map(({ id }) => parseWorkspaceId(id)).filter((id) => id !== null);
    },
  };
}

/** The cells of a row by their times. */
function byTime({ series, at }: TablePlace, startMs: number, cells: readonly Cell[]): Timed[] {
  if (!tablesOf[series][at]?.names.includes('hour')) return [{ startMs, cells }];
  const hours = Map.groupBy(cells, ({ hour }) => hour);
  return [...hours].map(([hour, ofHour]) => ({ startMs: startMs + hour * grainMs.hour, cells: ofHour }));
}

/** The parts of the list of a series that have rows of a time with some values. */
function spansOf(partition: WorkspaceId, series: RowSeries, { fromMs, toMs, values }: AskedRows): RowSpan[] {
  const kind = rowKind(series);
  const { rowMs, parts } = shapeOf(series);
  const span = (from: number, before: number, rows: number): RowSpan => {
    return { partition, kind, from, before, limit: Math.max(readSize, rows), rows };
  };
  if (parts === null) {
    const firstMs = rowStartOf(series, fromMs);
    return [span(1 - toMs, 1 - firstMs, Math.ceil((toMs - firstMs) / rowMs))];
  }
  const { day } = grainMs;
  // What there was no room for has no name, in each part.
  const isOfAll = values === null || values.has(null);
  const wanted = isOfAll
    ? Array.from({ length: parts.count + 1 }, (_, part) => part)
    : new Set([0, ...[...values].map((value) => partOf(series, value))]);
  const spans: RowSpan[] = [];
  for (let dayMs = fromMs - (fromMs % day); dayMs < toMs; dayMs += day) {
    const [firstMs, endMs] = [rowStartOf(series, Math.max(fromMs, dayMs)), Math.min(toMs, dayMs + day)];
    const rows = Math.ceil((endMs - firstMs) / rowMs);
    if (isOfAll && rows === day / rowMs) spans.push(span(1 - endMs, 1 - firstMs, rows * parts.count));
    else
      for (const part of wanted) {
        const last = rowRank(series, firstMs, part);
        spans.push(span(last - rows + 1, last + 1, part === 0 ? 0 : rows));
      }
  }
  return spans;
}

/** Reads rows from the newest before an instant on, in a store that reads a list by its places. */
async function readByPlace(
  storage: Storage,
  partition: WorkspaceId,
  series: RowSeries,
  { fromMs, toMs }: AskedRows,
): Promise<ListEntry[]> {
  const kind = rowKind(series);
  const { rowMs, parts } = shapeOf(series);
  // Rows in parts are in the order of time by whole days.
  const stepMs = parts === null ? rowMs : grainMs.day;
  const [firstMs, endMs] = [fromMs - (fromMs % stepMs), Math.ceil(toMs / stepMs) * stepMs];
  // As many as one instance has, and the one before them: a read of more would fetch what nobody looks at.
  const limit = Math.min(readSize, ((endMs - firstMs) / rowMs) * (parts?.count ?? 1) + 1);
  const found: ListEntry[] = [];
  let offset = await placeBefore(storage, { partition, kind, timeOf: ({ id }) => startOf(id) }, endMs);
  for (;;) {
    const { records } = await storage.list(partition, kind, { offset, limit });
    offset += records.length;
    for (const entry of records) {
      if (startOf(entry.id) < firstMs) return found;
      found.push(entry);
    }
    if (records.length < limit) return found;
  }
}

/** Divides parts of lists into groups of as many rows as one read has. */
function groupsOf(spans: readonly RowSpan[]): RowSpan[][] {
  const groups: RowSpan[][] = [];
  let left = 0;
  for (const span of spans) {
    if (groups.length === 0 || left < span.rows) {
      groups.push([]);
      left = readSize;
    }
    left -= span.rows;
    groups.at(-1)?.push(span);
  }
  return groups;
}

/**
 * Reads rows by their ranks: those of all workspaces together, some hundreds in each read.
 * @param take  takes rows as they come, so that their texts are not kept until the last
 */
async function readByRank(
  spans: readonly RowSpan[],
  seek: NonNullable<Storage['seekAll']>,
  take: (workspaceId: WorkspaceId, entries: readonly ListEntry[]) => void,
): Promise<void> {
  await pLimit(readsAtOnce).map(groupsOf(spans), async (group) => {
    const lists = await seek(group);
    for (const [at, span] of group.entries()) {
      const entries = lists[at] as RankedRecord[];
      if (entries.length >= span.limit) await readOn(span, entries, seek);
      take(span.partition, entries);
    }
  });
}

/** Reads the rest of a part that has more rows than were read at first: several instances have rows in it. */
async function readOn(span: RankSpan, entries: RankedRecord[], seek: NonNullable<Storage['seekAll']>): Promise<void> {
  for (let isWhole = false; !isWhole; ) {
    // Those of the last rank are read once more: others of the same rank may follow.
    const from = (entries.at(-1) as RankedRecord).rank;
    const known = new Set(entries.filter(({ rank }) => rank === from).map(({ id }) => id));
    const limit = readSize + known.size;
    const [more = []] = await seek([{ ...span, from, limit }]);
    for (const entry of more) if (!known.has(entry.id)) entries.push(entry);
    isWhole = more.length < limit;
  }
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
