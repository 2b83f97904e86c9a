import type { Clock } from '../../base/clock.ts';
import { tryParseJson } from '../../base/json.ts';
import type { WorkspaceId } from '../../call/workspace.ts';
import { type Generation, generationSchema, type ListGenerationsQuery } from '../../schema/generation.ts';
import type { RecordSettings } from '../../schema/record-settings.ts';
import { damagedRecord } from '../../stores/damaged.ts';
import type { Storage } from '../../stores/storage/storage.ts';
import { placeBefore } from './newest-first.ts';
import { indexAt, ownerOf, recordAt, recordKind, storableId } from './places.ts';

/** Which records are listed. Absent: all. Instants are epoch ms; `from` is inside the range, `to` is not. */
export type RecordFilter = Partial<
  Pick<ListGenerationsQuery, 'api_key_hash' | 'model' | 'provider' | 'user' | 'session' | 'outcome' | 'from' | 'to'>
>;

/** A page of records, newest first. */
export interface RecordPage {
  records: Generation[];
  /** Records of the workspace; of a list with filters the gateway counts them elsewhere: null. */
  total: number | null;
  /** Epoch ms: the list was broken off at the record of this time, and goes on before it. null: it was not. */
  resumeBeforeMs: number | null;
}

/** Finds the records that are kept. Every method rejects with GatewayError unavailable (503) without the store. */
export interface RecordReader {
  /** The workspace that an id belongs to, for a caller that manages all; null: none does. */
  ownerOf(id: string): Promise<WorkspaceId | null>;
  /** @returns null: there is no such record in this workspace, or it has expired */
  find(workspaceId: WorkspaceId, id: string): Promise<Generation | null>;
  /** Epoch ms: when the oldest record of a workspace arrived; null: there is none. */
  oldestMs(workspaceId: WorkspaceId): Promise<number | null>;
  list(workspaceId: WorkspaceId, filter: RecordFilter, page: { offset: number; limit: number }): Promise<RecordPage>;
}

export interface RecordReaderDeps {
  storage: Storage;
  clock: Clock;
  settings: RecordSettings;
}

/** Records in one read. */
const readSize = 500;

export function createRecordReader({ storage, clock, settings }: RecordReaderDeps): RecordReader {
  const isLive = ({ created_at }: Generation) => Date.parse(created_at) >= clock.now() - settings.ttlMs;

  async function search(
    workspaceId: WorkspaceId,
    filter: RecordFilter,
    { offset, limit }: { offset: number; limit: number },
  ): Promise<RecordPage> {
    const fits = predicateOf(filter);
    const endMs = Math.max(filter.from ?? 0, clock.now() - settings.ttlMs);
    const found: Generation[] = [];
    let skip = offset;
    let place =
      filter.to === undefined
        ? 0
        : await placeBefore(storage, { partition: workspaceId, kind: recordKind, timeOf }, filter.to);
    for (let left = settings.maxScanned; left > 0; ) {
      const size = Math.min(readSize, left);
      const { records } = await storage.list(workspaceId, recordKind, { offset: place, limit: size });
      for (const { value } of records) {
        const record = read(value);
        if (Date.parse(record.created_at) < endMs) return { records: found, total: null, resumeBeforeMs: null };
        if (!fits(record)) continue;
        if (skip-- > 0) continue;
        found.push(record);
        if (found.length === limit) return { records: found, total: null, resumeBeforeMs: null };
      }
      left -= records.length;
      place += records.length;
      if (records.length < size) return { records: found, total: null, resumeBeforeMs: null };
      // One more, so that the next list also has those of the same millisecond.
      if (left <= 0) {
        const last = read((records.at(-1) as { value: string }).value);
        return { records: found, total: null, resumeBeforeMs: Date.parse(last.created_at) + 1 };
      }
    }
    return { records: found, total: null, resumeBeforeMs: null };
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
      const { total } = await storage.list(workspaceId, recordKind, { offset: 0, limit: 0 });
      const page = { offset: Math.max(0, total - 1), limit: 1 };
      const [oldest] = (await storage.list(workspaceId, recordKind, page)).records;
      return oldest === undefined ? null : Math.max(timeOf(oldest), clock.now() - settings.ttlMs);
    },
    async list(workspaceId, filter, page) {
      if (Object.values(filter).some((value) => value !== undefined)) return search(workspaceId, filter, page);
      const { records, total } = await storage.list(workspaceId, recordKind, page);
      return { records: records.map(({ value }) => read(value)).filter(isLive), total, resumeBeforeMs: null };
    },
  };
}

const timeOf = ({ value }: { value: string }) => Date.parse(read(value).created_at);

/** Checked no further: thousands may be looked at for one page. */
function read(text: string): Generation {
  const record = tryParseJson(text) as Generation | undefined;
  if (typeof record?.created_at !== 'string') throw damagedRecord(recordKind);
  return record;
}

function predicateOf(filter: RecordFilter): (record: Generation) => boolean {
  const { api_key_hash, model, provider, user, session, outcome } = filter;
  const wanted = (
    [
      ['api_key_hash', api_key_hash],
      ['model', model],
      ['provider_name', provider],
      ['external_user', user],
      ['session_id', session],
      ['outcome', outcome],
    ] as const
  ).filter(([, value]) => value !== undefined);
  return (record) => wanted.every(([name, value]) => record[name] === value);
}
