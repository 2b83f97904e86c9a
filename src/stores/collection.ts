import type { ZodType } from 'zod';
import { GatewayError } from '../base/errors.ts';
import { tryParseJson } from '../base/json.ts';
import type { WorkspaceId } from '../call/workspace.ts';
import { damagedRecord } from './damaged.ts';
import type { Address, Change, Page, Storage } from './storage/storage.ts';

/**
 * Records of one kind in one partition of a storage, checked by their schema when they are read.
 * Every method fails closed: it rejects with GatewayError unavailable (503) when the store does not respond, and with
 * internal (500) for a damaged record.
 */
export interface Collection<T> {
  /** @returns null: there is no such record */
  get(id: string): Promise<T | null>;
  /**
   * Reads a record together with further texts of its partition. Where the store cannot read all in one step, the
   * record is read first.
   */
  getWith(id: string, further: readonly Address[]): Promise<{ record: T | null; further: (string | null)[] }>;
  /**
   * Writes a new record.
   * @param more  `rank`: lists the record, in this order; `also`: further records of the partition, written together
   *              with it
   * @returns false: the record already exists, or an expectation of `also` was not met; nothing was written
   */
  create(id: string, record: T, more?: { rank?: number; also?: readonly Change[] }): Promise<boolean>;
  /**
   * Reads, changes and writes a record. Starts again when another process wrote the record in between.
   * @param also  further records of the partition that are written together with it, such as an index by name
   * @returns the new record; null: there is no such record
   * @throws ConflictError when an expectation of `also` was not met; nothing was written
   */
  update(
    id: string,
    change: (record: T) => T | Promise<T>,
    also?: (before: T, after: T) => readonly Change[],
  ): Promise<T | null>;
  /**
   * @returns the deleted record; null: there was none
   * @throws ConflictError like `update`
   */
  delete(id: string, also?: (record: T) => readonly Change[]): Promise<T | null>;
  /** The listed records, by rank. */
  list(page: Page): Promise<{ records: T[]; total: number }>;
}

/** A further record of an update is not as expected, such as a name that is already taken. */
export class ConflictError extends Error {}

export interface CollectionOptions<T> {
  storage: Storage;
  kind: string;
  schema: () => ZodType<T>;
  /**
   * Remembers parsed records by their text, for long records: checking them takes longer than finding them. Absent:
   * each read checks the record.
   */
  known?: { get(text: string): T | undefined; set(text: string, record: T): unknown };
}

/** The number of attempts of an update. Each fails if another process writes between our read and our write. */
const maxRaces = 20;

/** The changes to write, and the result to return once they are written. */
interface Planned<R> {
  value: string | null;
  also: readonly Change[];
  result: R;
}

/** Records that belong to no workspace. */
export function createCollection<T>(
  partition: string,
  { storage, kind, schema, known }: CollectionOptions<T>,
): Collection<T> {
  const at = (id: string) => ({ partition, kind, id });

  function read(text: string): T {
    const earlier = known?.get(text);
    if (earlier !== undefined) return earlier;
    const parsed = schema().safeParse(tryParseJson(text));
    if (!parsed.success) throw damagedRecord(kind);
    known?.set(text, parsed.data);
    return parsed.data;
  }

  /** Tells whether one of these expectations failed, and not that of the record itself. */
  async function isConflict(also: readonly Change[]): Promise<boolean> {
    const expecting = also.filter(({ expect }) => expect !== undefined);
    const found = await storage.getMany(expecting.map((change) => change.at));
    return expecting.some(({ expect }, position) => expect !== found[position]);
  }

  /**
   * Writes the changes that `plan` makes for the stored record. Starts again when another process has written the
   * record in between.
   */
  async function rewrite<R>(id: string, plan: (before: T) => Planned<R> | Promise<Planned<R>>): Promise<R | null> {
    let failed: { text: string; also: readonly Change[] } | undefined;
    for (let race = 0; race < maxRaces; race++) {
      const text = await storage.get(at(id));
      if (text === null) return null;
      if (failed?.text === text && (await isConflict(failed.also))) throw new ConflictError();
      const { value, also, result } = await plan(read(text));
      if (await storage.commit([{ at: at(id), expect: text, value }, ...also])) return result;
      failed = { text, also };
    }
    throw new GatewayError('unavailable', 'Too many changes of the same record at once; try again', {
      retryAfterMs: 1000,
    });
  }

  return {
    async get(id) {
      const text = await storage.get(at(id));
      return text === null ? null : read(text);
    },
    async getWith(id, beside) {
      const [text = null, ...further] = await storage.getMany([at(id), ...beside]);
      return { record: text === null ? null : read(text), further };
    },
    create: (id, record, { rank, also = [] } = {}) =>
      storage.commit([
        { at: at(id), expect: null, value: JSON.stringify(record), ...(rank === undefined ? {} : { rank }) },
        ...also,
      ]),
    update: (id, change, also = () => []) =>
      rewrite(id, async (before) => {
        const after = await change(before);
        return { value: JSON.stringify(after), also: also(before, after), result: after };
      }),
    delete: (id, also = () => []) => rewrite(id, (before) => ({ value: null, also: also(before), result: before })),
    async list(page) {
      const { records, total } = await storage.list(partition, kind, page);
      return { records: records.map(({ value }) => read(value)), total };
    },
  };
}

/** Records of workspaces. Every access to a record names its workspace. */
export type PerWorkspace<T> = (workspaceId: WorkspaceId) => Collection<T>;

export function perWorkspace<T>(options: CollectionOptions<T>): PerWorkspace<T> {
  return (workspaceId) => createCollection(workspaceId, options);
}
