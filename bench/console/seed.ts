import { isoTime } from '../../src/base/clock.ts';
import type { WorkspaceId } from '../../src/call/workspace.ts';
import type { Change, Storage } from '../../src/stores/storage/storage.ts';
import type { RequestRecord } from '../../src/telemetry/record.ts';
import { generationOf } from '../../src/telemetry/records/generation-of.ts';
import {
  activeAt,
  indexAt,
  indexPartition,
  ownerText,
  recordAt,
  rowKind,
  rowSeries,
} from '../../src/telemetry/records/places.ts';
import { createRollups } from '../../src/telemetry/records/rollups.ts';

/** The traffic that a store is filled with. */
export interface Traffic {
  records: number;
  /** The number of days (UTC) over which they are spread evenly, today included until `nowMs`. */
  days: number;
  nowMs: number;
  workspaces: readonly WorkspaceId[];
  /** Hashes of keys. Each key is of one workspace. */
  keys: readonly string[];
  models: readonly string[];
  providers: readonly string[];
  /** The number of users of each workspace. */
  users: number;
  tags: readonly string[];
  /** The time for which sums by minute are kept. */
  minutesMs: number;
}

const batch = 20_000;
const dayMs = 86_400_000;

/** Runs one statement of the database behind the store. */
export type RunSql = (sql: string) => Promise<unknown>;

/**
 * Fills a store as a gateway does: with records in the form in which they are stored, their index, and the sums that the
 * gateway's own code makes of them. That is done for today and for yesterday; the days before are copies of yesterday,
 * with other times and ids, so that ten million records take minutes.
 * @param templates  real records, which the others are made of; each stands for as many requests as the others
 * @param table      the table of records
 */
export async function seed(
  { storage, run, table }: { storage: Storage; run: RunSql; table: string },
  templates: readonly RequestRecord[],
  traffic: Traffic,
): Promise<void> {
  const { days, nowMs, workspaces, minutesMs } = traffic;
  const todayMs = nowMs - (nowMs % dayMs);
  const perDay = Math.round(traffic.records / (days - 1 + (nowMs - todayMs) / dayMs));
  const rollups = createRollups(() => 'bench000');
  const next = pseudoRandom(1);
  await write({ storage, rollups, templates, traffic, next }, todayMs - dayMs, perDay);
  for (let back = 2; back <= days; back++) {
    const fromMs = todayMs - dayMs;
    const copied = { fromMs, toMs: todayMs - back * dayMs, keepsMinutes: back * dayMs < minutesMs, workspaces };
    await copyDay(run, table, copied);
    process.stderr.write(`${dayOf(todayMs - back * dayMs)}\n`);
  }
  const elapsed = (nowMs - todayMs) / dayMs;
  await write({ storage, rollups, templates, traffic, next }, todayMs, Math.floor(perDay * elapsed), elapsed);
  for (const id of workspaces) await storage.commit([{ at: activeAt(id), value: '1', rank: nowMs }]);
}

interface Work {
  storage: Storage;
  rollups: ReturnType<typeof createRollups>;
  templates: readonly RequestRecord[];
  traffic: Traffic;
  next: () => number;
}

/** Writes the records of a day, or of its first part. */
async function write(work: Work, startMs: number, count: number, share = 1): Promise<void> {
  const { storage, rollups, traffic } = work;
  for (let from = 0; from < count; from += batch) {
    const changes = new Map<WorkspaceId, Change[]>(traffic.workspaces.map((id) => [id, []]));
    const index: Change[] = [];
    for (let at = from; at < Math.min(from + batch, count); at++) {
      const record = recordOf(work, at, startMs + Math.floor(((at + 0.5) * share * dayMs) / count));
      const workspaceId = record.workspaceId as WorkspaceId;
      const { receivedAtMs: rank, id } = record;
      rollups.add(record);
      const value = JSON.stringify(generationOf(record));
      changes.get(workspaceId)?.push({ at: recordAt(workspaceId, id), value, rank: -rank });
      index.push({ at: indexAt(id), value: ownerText(workspaceId, rank), rank });
    }
    await storage.commit(index);
    for (const [workspaceId, ofRecords] of changes) {
      const ofRows: Change[] = [];
      for (let rows = rollups.changed(workspaceId); rows.changes.length > 0; rows = rollups.changed(workspaceId)) {
        ofRows.push(...rows.changes);
        rows.confirm();
      }
      await storage.commit([...ofRecords, ...ofRows]);
    }
  }
}

/** Copies a day, with its records, their index and its sums. */
async function copyDay(
  run: RunSql,
  table: string,
  {
    fromMs,
    toMs,
    keepsMinutes,
    workspaces,
  }: { fromMs: number; toMs: number; keepsMinutes: boolean; workspaces: readonly WorkspaceId[] },
): Promise<void> {
  const shiftMs = fromMs - toMs;
  const isPostgres = table.includes('.');
  const columns = isPostgres ? 'namespace, partition' : 'partition';
  // Each partition by its name: without it, each day would be looked for in the whole table.
  const inPartition = (partition: string) => `${isPostgres ? "namespace = '' AND " : ''}partition = '${partition}'`;
  async function copy(kinds: string, id: string, value: string, rank: string, least: number, most: number) {
    for (const partition of [...workspaces, indexPartition])
      await run(
        `INSERT INTO ${table} (${columns}, kind, id, value, rank)
          SELECT ${columns}, kind, ${id}, ${value}, ${rank} FROM ${table}
          WHERE ${inPartition(partition)} AND kind ${kinds} AND rank >= ${least} AND rank < ${most}`,
      );
  }
  const [from, to] = [dayOf(fromMs), dayOf(toMs)];
  const short = (day: string) => day.replaceAll('-', '');
  const otherId = `replace(id, 'gen-${short(from)}', 'gen-${short(to)}')`;
  const value = `replace(replace(value, '${from}', '${to}'), 'gen-${short(from)}', 'gen-${short(to)}')`;
  const older = [1 - fromMs - dayMs, 1 - fromMs] as const;
  await copy("= 'generation'", otherId, value, `rank + ${shiftMs}`, ...older);
  const shifted = `CAST(CAST(substr(value, 1, 13) AS BIGINT) - ${shiftMs} AS TEXT) || substr(value, 14)`;
  await copy("= 'generation-owner'", otherId, shifted, `rank - ${shiftMs}`, fromMs, fromMs + dayMs);
  const rowId = `CAST(CAST(substr(id, 1, 13) AS BIGINT) - ${shiftMs} AS TEXT) || substr(id, 14)`;
  const kinds = rowSeries
    .filter((series) => series !== 'minute' || keepsMinutes)
    .map((series) => `'${rowKind(series)}'`);
  // Parts of the rows of users have ranks below that of their day.
  await copy(`IN (${kinds.join(', ')})`, rowId, 'value', `rank + ${shiftMs}`, older[0], older[1]);
}

function dayOf(ms: number): string {
  return isoTime(ms).slice(0, 10);
}

function recordOf({ templates, traffic, next }: Work, at: number, receivedAtMs: number): RequestRecord {
  const { workspaces, keys, models, providers, users, tags } = traffic;
  const template = templates[at % templates.length] as RequestRecord;
  const keyAt = Math.floor(next() * keys.length);
  const firstMs = template.firstMs === null ? null : Math.round(150 + 1_500 * next() ** 3);
  const totalMs = Math.round((firstMs ?? 100) + 8_000 * next() ** 2);
  // By the square, so that a few models and users have most of the traffic.
  const model = models[Math.floor(next() ** 2 * models.length)] as string;
  const provider = providers[Math.floor(next() * providers.length)] as string;
  const isServed = template.model !== null;
  return {
    ...template,
    id: `gen-${dayOf(receivedAtMs).replaceAll('-', '')}${String(at).padStart(9, '0')}`,
    workspaceId: workspaces[keyAt % workspaces.length] as string,
    apiKeyHash: keys[keyAt] as string,
    userId: `user-${Math.floor(next() ** 2 * users)}`,
    tags: [tags[keyAt % tags.length] as string],
    requested: model,
    model: isServed ? model : null,
    provider: isServed ? provider : null,
    receivedAtMs,
    authenticatedAtMs: receivedAtMs + 1,
    firstMs,
    totalMs,
    costNanoUsd: template.costNanoUsd === null ? null : Math.floor(next() * 20_000_000),
    // Without the details of each generation: the file would be twice as large.
    generations: [],
    attempts: template.attempts.map((attempt) => ({
      ...attempt,
      model,
      provider,
      startedAtMs: receivedAtMs + 2,
      decidedAtMs: receivedAtMs + 100,
    })),
  };
}

/** The same numbers in each run, from 0 to below 1: mulberry32. */
function pseudoRandom(seedOf: number): () => number {
  let state = seedOf;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
