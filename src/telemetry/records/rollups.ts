import { parseWorkspaceId, type WorkspaceId } from '../../call/workspace.ts';
import type { Change } from '../../stores/storage/storage.ts';
import type { RequestRecord } from '../record.ts';
import { addNumbers, type Cell, type CellNames, cellOf, emptySum, type Sum } from './cell.ts';
import { partOf, type RowSeries, rowAt, rowRank, rowSeries, rowStartOf, shapeOf, suffixOf } from './places.ts';
import { addTo, namedFor, rowText, type SumTable, tablesOf, textOfNames } from './tables.ts';

/**
 * Sums by minute, hour and day. Each instance has rows of its own, which no other writes. It writes whole rows, so that
 * a write may be repeated. Readers add up the rows of all instances.
 */
export interface Rollups {
  add(record: RequestRecord): void;
  /** The rows of a workspace that have changed since they were written; at most a few. */
  changed(workspaceId: WorkspaceId): ChangedRows;
  /** Workspaces with rows that have changed. */
  dirty(): WorkspaceId[];
}

export interface ChangedRows {
  changes: Change[];
  /** Notes that the rows are written, in the state in which they were returned. */
  confirm(): void;
}

interface Row {
  at: Change['at'];
  series: RowSeries;
  rank: number;
  endMs: number;
  /** The sums of each of its tables, by their names. */
  tables: Map<string, Sum>[];
  /** The number of changes, and the number at the last write. */
  version: number;
  writtenVersion: number;
}

/** The most cells of a table, for different models, providers and keys. Further ones share one cell. */
const maxCells = 500;
/** The same of a row of users: a whole row is written for each request that costs something. */
const maxUserCells = 64;
/** The same of an hour in a row of a part of the models: twice the share of a part of `maxCells` models. */
const maxModelCells = 64;
/** The most rows in one step of the store: those of a batch, whose users are in as many rows as there are parts. */
const maxChanges = 128;
/**
 * The most rows in memory. Beyond them, rows that are written make room; while the store is away, further sums are
 * lost.
 */
const maxRows = 20_000;
/** The time after its end for which a row stays in memory, for requests that end late. */
const lateMs = 900_000;

/** @param instance  makes a name that no other instance has, nor this one after a restart */
export function createRollups(instance: () => string): Rollups {
  const all = new Map<WorkspaceId, Map<string, Row>>();
  let count = 0;
  /**
   * The number of rows that were dropped from memory. A row that begins anew needs another name: with the same name, it
   * would replace the earlier sums.
   */
  let forgotten = 0;
  let name: string | null = null;
  let latestMs = 0;

  function forget(of: Map<string, Row>, mayGo: (row: Row) => boolean): void {
    for (const [key, row] of of) {
      if (isDirty(row) || !mayGo(row)) continue;
      of.delete(key);
      count--;
      forgotten++;
    }
  }

  /** @param part  one of several rows of the same time; 0: there is one */
  function rowOf(workspaceId: WorkspaceId, series: RowSeries, startMs: number, part: number): Row | null {
    let rows = all.get(workspaceId);
    const suffix = suffixOf(part);
    const key = `${series} ${startMs}${suffix}`;
    const known = rows?.get(key);
    if (known) return known;
    if (count >= maxRows) for (const of of all.values()) forget(of, () => true);
    if (count >= maxRows) return null;
    if (!rows) {
      rows = new Map();
      all.set(workspaceId, rows);
    }
    name ??= instance();
    const at = rowAt(workspaceId, series, startMs, `${name}-${forgotten}${suffix}`);
    const endMs = startMs + shapeOf(series).rowMs;
    const rank = rowRank(series, startMs, part);
    const tables = tablesOf[series].map(() => new Map<string, Sum>());
    const row: Row = { at, series, rank, endMs, tables, version: 0, writtenVersion: 0 };
    rows.set(key, row);
    count++;
    return row;
  }

  return {
    add(record) {
      const workspaceId = parseWorkspaceId(record.workspaceId);
      if (workspaceId === null) return;
      latestMs = Math.max(latestMs, record.receivedAtMs);
      const cell = cellOf(record);
      for (const series of rowSeries) {
        const { parts } = shapeOf(series);
        const startMs = rowStartOf(series, record.receivedAtMs);
        const row = rowOf(workspaceId, series, startMs, parts === null ? 0 : partOf(series, cell[parts.name]));
        if (row) addToRow(row, cell);
      }
    },
    changed(workspaceId) {
      const rows = all.get(workspaceId);
      const written = [...(rows?.values() ?? [])].filter(isDirty).slice(0, maxChanges);
      const versions = written.map(({ version }) => version);
      return {
        changes: written.map(({ at, series, tables, rank }) => ({
          at,
          value: rowText(
            series,
            tables.map((cells) => cells.values()),
          ),
          rank,
        })),
        confirm() {
          for (const [index, row] of written.entries()) row.writtenVersion = versions[index] as number;
          if (!rows) return;
          forget(rows, ({ endMs }) => endMs + lateMs < latestMs);
          if (rows.size === 0 && all.get(workspaceId) === rows) all.delete(workspaceId);
        },
      };
    },
    dirty: () => [...all].filter(([, rows]) => [...rows.values()].some(isDirty)).map(([id]) => id),
  };
}

function isDirty({ version, writtenVersion }: Row): boolean {
  return version !== writtenVersion;
}

function addToRow(row: Row, cell: Cell): void {
  for (const [line, table] of tablesOf[row.series].entries()) {
    let cells = row.tables[line] as Map<string, Sum>;
    for (const names of namedFor(table, cell)) {
      const text = textOfNames(table, names);
      let sum = cells.get(text);
      if (!sum && row.series === 'user' && cells.size >= maxUserCells) {
        cells = withoutCheapUsers(table, cells);
        row.tables[line] = cells;
        sum = cells.get(text);
      }
      // Each hour has its share, also after hours with too many.
      const most = row.series === 'quarter-models' ? maxModelCells * (cell.hour + 1) : maxCells;
      const isShared = !sum && row.series !== 'user' && cells.size >= most;
      sum ??= sumIn(cells, table, isShared ? { hour: cell.hour } : names);
      addTo(sum, cell, table);
    }
  }
  row.version++;
}

function sumIn(cells: Map<string, Sum>, table: SumTable, names: Partial<CellNames>): Sum {
  const made = emptySum(names);
  const text = textOfNames(table, made);
  const known = cells.get(text);
  if (known) return known;
  cells.set(text, made);
  return made;
}

/**
 * Makes room in a full table of users. The cheaper half of the cells lose their users: those who cost most are the ones
 * that an operator looks for.
 */
function withoutCheapUsers(table: SumTable, cells: ReadonlyMap<string, Sum>): Map<string, Sum> {
  const sorted = [...cells.values()].sort((a, b) => b.costNanoUsd - a.costNanoUsd || b.requests - a.requests);
  const kept = new Map<string, Sum>();
  for (const [at, sum] of sorted.entries()) {
    if (at < maxUserCells / 2) kept.set(textOfNames(table, sum), sum);
    else {
      // Beyond a quarter of the row, they also lose their models.
      const isNamed = kept.size < (maxUserCells * 3) / 4;
      const { model, provider, apiKeyHash, tags } = sum;
      const named = { model, provider, apiKeyHash, tags, user: null, isOfHost: false };
      const isKept = isNamed || kept.has(textOfNames(table, named));
      addNumbers(sumIn(kept, table, isKept ? named : {}), sum);
    }
  }
  return kept;
}
