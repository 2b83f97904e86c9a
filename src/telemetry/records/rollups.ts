import { parseWorkspaceId, type WorkspaceId } from '../../call/workspace.ts';
import type { Change } from '../../stores/storage/storage.ts';
import type { RequestRecord } from '../record.ts';
import { addCell, type Cell, cellOf, emptyCell } from './cell.ts';
import { type Grain, grainMs, grains, rowAt, startOf } from './places.ts';

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
   * Counts rows that were dropped from memory. A row that begins anew needs another name: with the same name, it would
   * replace the earlier sums.
   */
  let series = 0;
  let name: string | null = null;
  let latestMs = 0;

  function forget(of: Map<string, Row>, mayGo: (row: Row) => boolean): void {
    for (const [key, row] of of) {
      if (isDirty(row) || !mayGo(row)) continue;
      of.delete(key);
      count--;
      series++;
    }
  }

  function rowOf(workspaceId: WorkspaceId, grain: Grain, startMs: number): Row | null {
    let rows = all.get(workspaceId);
    const key = `${grain} ${startMs}`;
    const known = rows?.get(key);
    if (known) return known;
    if (count >= maxRows) for (const of of all.values()) forget(of, () => true);
    if (count >= maxRows) return null;
    if (!rows) {
      rows = new Map();
      all.set(workspaceId, rows);
    }
    name ??= instance();
    const at = rowAt(workspaceId, grain, startMs, `${name}-${series}`);
    const row: Row = { at, endMs: startMs + grainMs[grain], cells: new Map(), version: 0, writtenVersion: 0 };
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
      for (const grain of grains) {
        const row = rowOf(workspaceId, grain, record.receivedAtMs - (record.receivedAtMs % grainMs[grain]));
        if (row) addTo(row, cell);
      }
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

function addTo(row: Row, cell: Cell): void {
  const { model, provider, apiKeyHash } = cell;
  const ownKey = JSON.stringify([model, provider, apiKeyHash]);
  const isShared = !row.cells.has(ownKey) && row.cells.size >= maxCells;
  const key = isShared ? '' : ownKey;
  let sum = row.cells.get(key);
  if (!sum) {
    sum = emptyCell(isShared ? { model: null, provider: null, apiKeyHash: null } : { model, provider, apiKeyHash });
    row.cells.set(key, sum);
  }
  addCell(sum, cell);
  row.version++;
}
