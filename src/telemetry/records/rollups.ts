import { parseWorkspaceId, type WorkspaceId } from '../../call/workspace.ts';
import type { Change } from '../../stores/storage/storage.ts';
import type { RequestRecord } from '../record.ts';
import { addCell, type Cell, type CellKey, cellOf, emptyCell, textOfKey, userKeyOf } from './cell.ts';
import { grainMs, grains, type RowSeries, rowAt, startOf } from './places.ts';

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
  endMs: number;
  cells: Map<string, Cell>;
  /** The number of changes, and the number at the last write. */
  version: number;
  writtenVersion: number;
}

/** The most cells of a row, for different models, providers and keys. Further ones share one cell. */
const maxCells = 500;
/**
 * The number of rows over which the users of a day are spread, and the most cells of each: a whole row is written
 * for each request that costs something, so a row is small.
 */
const userRows = 32;
const maxUserCells = 64;
/** The most rows in one step of the store. */
const maxChanges = 20;
/**
 * The most rows in memory. Beyond them, rows that are written make room; while the store is away, further sums are
 * lost.
 */
const maxRows = 10_000;
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

  /** @param part  one of several rows of the same time; empty: there is one */
  function rowOf(workspaceId: WorkspaceId, series: RowSeries, startMs: number, part = ''): Row | null {
    let rows = all.get(workspaceId);
    const key = `${series} ${startMs}${part}`;
    const known = rows?.get(key);
    if (known) return known;
    if (count >= maxRows) for (const of of all.values()) forget(of, () => true);
    if (count >= maxRows) return null;
    if (!rows) {
      rows = new Map();
      all.set(workspaceId, rows);
    }
    name ??= instance();
    const at = rowAt(workspaceId, series, startMs, `${name}-${forgotten}${part}`);
    const endMs = startMs + grainMs[series === 'user' ? 'day' : series];
    const row: Row = { at, endMs, cells: new Map(), version: 0, writtenVersion: 0 };
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
      const startOfGrain = (ms: number) => record.receivedAtMs - (record.receivedAtMs % ms);
      for (const grain of grains) {
        const row = rowOf(workspaceId, grain, startOfGrain(grainMs[grain]));
        if (row) addTo(row, cell);
      }
      const ofUser = { ...cell, ...userKeyOf(record) };
      const row = rowOf(workspaceId, 'user', startOfGrain(grainMs.day), `-u${partOf(ofUser.user)}`);
      if (row) addUserTo(row, ofUser);
    },
    changed(workspaceId) {
      const rows = all.get(workspaceId);
      const written = [...(rows?.values() ?? [])].filter(isDirty).slice(0, maxChanges);
      const versions = written.map(({ version }) => version);
      return {
        changes: written.map(({ at, cells }) => ({
          at,
          value: JSON.stringify([...cells.values()]),
          rank: -startOf(at.id),
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

/** The row of a user: the same one in every process. */
function partOf(user: string | null | undefined): number {
  let sum = 0;
  for (let at = 0; at < (user?.length ?? 0); at++) sum = (sum * 31 + (user?.charCodeAt(at) ?? 0)) % 65_521;
  return sum % userRows;
}

function addTo(row: Row, cell: Cell): void {
  const isShared = row.cells.size >= maxCells && !row.cells.has(textOfKey(cell));
  addUnder(row.cells, isShared ? { model: null, provider: null, apiKeyHash: null } : cell, cell);
  row.version++;
}

/**
 * Adds to the cell of a user. In a full row, the cheaper half of the cells lose their users: those who cost most are
 * the ones that an operator looks for.
 */
function addUserTo(row: Row, cell: Cell): void {
  if (row.cells.size >= maxUserCells && !row.cells.has(textOfKey(cell))) row.cells = withoutCheapUsers(row.cells);
  addUnder(row.cells, cell, cell);
  row.version++;
}

function withoutCheapUsers(cells: Row['cells']): Row['cells'] {
  const sorted = [...cells.values()].sort((a, b) => b.costNanoUsd - a.costNanoUsd || b.requests - a.requests);
  const kept: Row['cells'] = new Map();
  for (const [at, cell] of sorted.entries()) {
    if (at < maxUserCells / 2) addUnder(kept, cell, cell);
    else {
      // Beyond a quarter of the row, they also lose their models.
      const isNamed = kept.size < (maxUserCells * 3) / 4;
      const { model, provider, apiKeyHash, tags } = cell;
      const named = { model, provider, apiKeyHash, user: null, tags };
      const isKept = isNamed || kept.has(textOfKey(named));
      addUnder(kept, isKept ? named : { model: null, provider: null, apiKeyHash: null, user: null, tags: [] }, cell);
    }
  }
  return kept;
}

function addUnder(cells: Row['cells'], { model, provider, apiKeyHash, user, tags }: CellKey, cell: Cell): void {
  const key = { model, provider, apiKeyHash, ...(user !== undefined && { user, tags }) };
  const text = textOfKey(key);
  let sum = cells.get(text);
  if (!sum) {
    sum = emptyCell(key);
    cells.set(text, sum);
  }
  addCell(sum, cell);
}
