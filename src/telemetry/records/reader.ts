import type { Clock } from '../../base/clock.ts';
import { tryParseJson } from '../../base/json.ts';
import type { WorkspaceId } from '../../call/workspace.ts';
import type { Behind } from '../../schema/instant.ts';
import { type Generation, generationSchema, type ListGenerationsQuery } from '../../schema/records/generation.ts';
import type { RecordSettings } from '../../schema/settings/records.ts';
import { damagedRecord } from '../../stores/damaged.ts';
import type { Storage } from '../../stores/storage/storage.ts';
import { type ListEntry, placeBefore, placeWhere, readerByRank } from './newest-first.ts';
import { indexAt, ownerOf, recordAt, recordKind, storableId } from './places.ts';

/** Selects records. Absent fields select all. Instants are epoch ms; `from` is inside the range, `to` is not. */
export type RecordFilter = Partial<
  Pick<
    ListGenerationsQuery,
    'api_key_hash' | 'model' | 'provider' | 'user' | 'tag' | 'session' | 'outcome' | 'from'
  > & {
    to: number | undefined;
    /** Only records that come after this one in the list. */
    behind: Behind;
  }
>;

/** A page of records, newest first. */
export interface RecordPage {
  records: Generation[];
  /** The number of records of the workspace; null for a list with filters, and for a long one: the sums tell it. */
  total: number | null;
  /** The record after which an interrupted list goes on; null: the list is complete. */
  resumeBehind: Behind | null;
}

/** Finds kept records. Every method rejects with GatewayError unavailable (503) without the store. */
export interface RecordReader {
  /** The workspace of an id, for a caller that manages all workspaces; null: no workspace has the id. */
  ownerOf(id: string): Promise<WorkspaceId | null>;
  /** @returns null: there is no such record in this workspace, or it has expired */
  find(workspaceId: WorkspaceId, id: string): Promise<Generation | null>;
  /** The arrival of the oldest record of a workspace, epoch ms; null: there is none. */
  oldestMs(workspaceId: WorkspaceId): Promise<number | null>;
  list(workspaceId: WorkspaceId, filter: RecordFilter, page: { offset: number; limit: number }): Promise<RecordPage>;
}

export interface RecordReaderDeps {
  storage: Storage;
  clock: Clock;
  settings: RecordSettings;
}

/** The number of records in one read. */
const readSize = 500;
/** The longest list of which every record is counted; the sums tell the length of a longer one. */
const longestCounted = 100_000;

export function createRecordReader({ storage, clock, settings }: RecordReaderDeps): RecordReader {
  const isLive = ({ created_at }: Generation) => Date.parse(created_at) >= clock.now() - settings.ttlMs;

  function firstPlace(workspaceId: WorkspaceId, { to, behind }: RecordFilter): Promise<number> | 0 {
    const list = { partition: workspaceId, kind: recordKind, timeOf };
    if (behind) return placeWhere(storage, list, (entry) => isBehind({ atMs: timeOf(entry), id: entry.id }, behind));
    return to === undefined ? 0 : placeBefore(storage, list, to);
  }

  /**
   * Makes a function that reads on from the place where a filter begins. It returns fewer records at the end alone.
   * @param having  texts that wanted records have; the text of others may be missing
   */
  async function readOn(
    workspaceId: WorkspaceId,
    filter: RecordFilter,
    having: readonly string[],
  ): Promise<(size: number) => Promise<(ListEntry & { atMs: number })[]>> {
    if (storage.seekAll) {
      const { to, behind } = filter;
      const from = behind ? -behind.atMs : to === undefined ? Number.MIN_SAFE_INTEGER : 1 - to;
      const list = { partition: workspaceId, kind: recordKind, having };
      const next = readerByRank(storage.seekAll.bind(storage), list, from);
      return async (size) => (await next(size)).map((entry) => ({ ...entry, atMs: -entry.rank }));
    }
    let place = await firstPlace(workspaceId, filter);
    return async (limit) => {
      const { records } = await storage.list(workspaceId, recordKind, { offset: place, limit });
      place += records.length;
      return records.map((entry) => ({ ...entry, atMs: timeOf(entry) }));
    };
  }

  async function search(
    workspaceId: WorkspaceId,
    filter: RecordFilter,
    { offset, limit }: { offset: number; limit: number },
  ): Promise<RecordPage> {
    const fits = predicateOf(filter);
    const having = textsOf(filter);
    const endMs = Math.max(filter.from ?? 0, clock.now() - settings.ttlMs);
    const found: Generation[] = [];
    const page = (resumeBehind: Behind | null = null): RecordPage => ({ records: found, total: null, resumeBehind });
    let skip = offset;
    let last = filter.behind ?? null;
    const next = await readOn(workspaceId, filter, having);
    for (let left = settings.maxScanned; left > 0; ) {
      const size = Math.min(readSize, left);
      const records = await next(size);
      for (const { id, value, atMs } of records) {
        if (atMs < endMs) return page();
        // Records that were written meanwhile have moved the others, so some are read a second time.
        if (atMs >= (filter.to ?? Number.POSITIVE_INFINITY) || !isBehind({ atMs, id }, last)) continue;
        last = { atMs, id };
        if (!having.every((text) => value.includes(text))) continue;
        const record = read(value);
        if (!fits(record)) continue;
        if (skip-- > 0) continue;
        found.push(record);
        if (found.length === limit) return page();
      }
      left -= records.length;
      if (records.length < size) return page();
    }
    return page(last);
  }

  return {
    async ownerOf(id) {
      if (!storableId.test(id)) return null;
      const text = await storage.get(indexAt(id));
      return text === null ? null : ownerOf(text).workspaceId;
    },
    async find(workspaceId, id) {
      if (!storableId.test(id)) return null;
      const text = await storage.get(recordAt(workspaceId, id));
      if (text === null) return null;
      const parsed = generationSchema().safeParse(tryParseJson(text));
      if (!parsed.success) throw damagedRecord(recordKind);
      return isLive(parsed.data) ? parsed.data : null;
    },
    async oldestMs(workspaceId) {
      if (storage.seek) {
        const range = { from: null, limit: 1, isFromEnd: true, countUpTo: 0 };
        const [last] = (await storage.seek(workspaceId, recordKind, range)).records;
        return last === undefined ? null : Math.max(timeOf(last), clock.now() - settings.ttlMs);
      }
      const { total } = await storage.list(workspaceId, recordKind, { offset: 0, limit: 0 });
      const page = { offset: Math.max(0, total - 1), limit: 1 };
      const [oldest] = (await storage.list(workspaceId, recordKind, page)).records;
      return oldest === undefined ? null : Math.max(timeOf(oldest), clock.now() - settings.ttlMs);
    },
    async list(workspaceId, filter, page) {
      if (Object.values(filter).some((value) => value !== undefined)) return search(workspaceId, filter, page);
      if (storage.seek && page.offset === 0) {
        const range = { from: null, limit: page.limit, isFromEnd: false, countUpTo: longestCounted + 1 };
        const { records, total } = await storage.seek(workspaceId, recordKind, range);
        const shown = records.map(({ value }) => read(value)).filter(isLive);
        return { records: shown, total: total > longestCounted ? null : total, resumeBehind: null };
      }
      const { records, total } = await storage.list(workspaceId, recordKind, page);
      return { records: records.map(({ value }) => read(value)).filter(isLive), total, resumeBehind: null };
    },
  };
}

/** Tells whether a record comes later in a list: it is older, or of the same time with a later id. */
function isBehind({ atMs, id }: Behind, last: Behind | null): boolean {
  return last === null || atMs < last.atMs || (atMs === last.atMs && id > last.id);
}

/** The arrival of a request, epoch ms. It is cut out of the text: most records of a search are read for nothing else. */
function timeOf({ value }: { value: string }): number {
  const at = value.indexOf(createdAt) + createdAt.length;
  const ms = at < createdAt.length ? Number.NaN : Date.parse(value.slice(at, value.indexOf('"', at)));
  return Number.isNaN(ms) ? Date.parse(read(value).created_at) : ms;
}

const createdAt = '"created_at":"';

/** Checks only one field: one page may read thousands of records. */
function read(text: string): Generation {
  const record = tryParseJson(text) as Generation | undefined;
  if (typeof record?.created_at !== 'string') throw damagedRecord(recordKind);
  return record;
}

/** Texts that a wanted record has somewhere: one without them need not be parsed, nor leave the store. */
function textsOf({ from: _, to: __, behind: ___, ...filter }: RecordFilter): string[] {
  return Object.values(filter)
    .filter((value) => value !== undefined)
    .map((value) => JSON.stringify(value));
}

function predicateOf(filter: RecordFilter): (record: Generation) => boolean {
  const { api_key_hash, model, provider, user, tag, session, outcome } = filter;
  const wanted = (
    [
      ['api_key_hash', api_key_hash],
      ['model', model],
      ['provider_name', provider],
      ['session_id', session],
      ['outcome', outcome],
    ] as const
  ).filter(([, value]) => value !== undefined);
  return (record) =>
    wanted.every(([name, value]) => record[name] === value) &&
    (user === undefined || record.external_user === user || record.user === user) &&
    (tag === undefined || record.tags.includes(tag));
}
