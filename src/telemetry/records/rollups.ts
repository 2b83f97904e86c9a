import { parseWorkspaceId, type WorkspaceId } from '../../call/workspace.ts';
import type { Change } from '../../stores/storage/storage.ts';
import type { RequestRecord } from '../record.ts';
import { addCell, type Cell, cellOf, emptyCell } from './cell.ts';
import { type Grain, grainMs, grains, rowAt, startOf } from './places.ts';

/**
 * Sums by minute, hour and day. Each instance has rows of its own, which nobody else writes: it writes them whole, so
 * that a write may be repeated, and readers add the rows of all instances together.
 */
export interface Rollups {
  add(record: RequestRecord): void;
  /** Rows of a workspace that have changed since they were written; at most a few. */
  changed(workspaceId: WorkspaceId): ChangedRows;
  /** Workspaces with rows that have changed. */
  dirty(): WorkspaceId[];
}

export interface ChangedRows {
  changes: Change[];
  /** They are written, as they were when they were asked for. */
  confirm(): void;
}

interface Row {
  at: Change['at'];
  endMs: number;
  cells: Map<string, Cell>;
  /** How often it has changed, and how often it had when it was last written. */
  version: number;
  writtenVersion: number;
}

/** Different models, providers and keys in one row; further ones share one cell. */
const maxCells = 500;
/** Rows in one step of the store. */
const maxChanges = 20;
/** Rows in memory. Beyond it, those that are written make room; while the store is away, further sums are lost. */
const maxRows = 10_000;
/** How long after its end a row is kept in memory, for requests that end late. */
const lateMs = 900_000;

/** @param instance  makes a name that no other instance has, nor this one after a restart */
export function createRollups(instance: () => string): Rollups {
  const all = new Map<WorkspaceId, Map<string, Row>>();
  let count = 0;
  /** A row that is forgotten and begins anew has another name: it would replace the sums of the first. */
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
