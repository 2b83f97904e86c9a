import type { ZodType } from 'zod';
import { GatewayError } from '../base/errors.ts';
import { tryParseJson } from '../base/json.ts';
import type { WorkspaceId } from '../call/workspace.ts';
import { damagedRecord } from './damaged.ts';
import type { Change, Page, Storage } from './storage/storage.ts';

/**
 * Records of one kind in one partition of a storage, checked by their schema when they are read.
 * Every method rejects with GatewayError unavailable (503) when the store cannot tell, and with internal (500) for a
 * record that is damaged: it fails closed.
 */
export interface Collection<T> {
  /** null: there is no such record. */
  get(id: string): Promise<T | null>;
  /**
   * Writes a new record.
   * @param more  `rank`: listed, in this order; `also`: further records of the partition, written with it or not at all
   * @returns false: there is one already, or an expectation of `also` did not hold; nothing was written
   */
  create(id: string, record: T, more?: { rank?: number; also?: readonly Change[] }): Promise<boolean>;
  /**
   * Reads, changes and writes back, again from the start when somebody else wrote in between.
   * @param also  further records of the partition that are written with it, such as an index by name
   * @returns the record as it is now; null: there is none
   * @throws ConflictError when an expectation of `also` did not hold; nothing was written
   */
  update(
    id: string,
    change: (record: T) => T | Promise<T>,
    also?: (before: T, after: T) => readonly Change[],
  ): Promise<T | null>;
  /**
   * @returns what was there; null: nothing
   * @throws ConflictError as `update`
   */
  delete(id: string, also?: (record: T) => readonly Change[]): Promise<T | null>;
  /** The listed records, by rank. */
  list(page: Page): Promise<{ records: T[]; total: number }>;
}

/** A further record that an update would have written is not as it was expected to be, such as a name that is taken. */
export class ConflictError extends Error {}

export interface CollectionOptions<T> {
  storage: Storage;
  kind: string;
  schema: () => ZodType<T>;
}

/** More writers than this, each between our read and our write, and we give up. */
const maxRaces = 20;

/** What is to be written, and what is to be given back when it was. */
interface Planned<R> {
  value: string | null;
  also: readonly Change[];
  result: R;
}

/** Records that belong to no workspace. */
export function createCollection<T>(partition: string, { storage, kind, schema }: CollectionOptions<T>): Collection<T> {
  const at = (id: string) => ({ partition, kind, id });

  function read(text: string): T {
    const parsed = schema().safeParse(tryParseJson(text));
    if (parsed.success) return parsed.data;
    throw damagedRecord(kind);
  }

  /** Whether what failed was one of these, rather than the record itself. */
  async function isConflict(also: readonly Change[]): Promise<boolean> {
    const expecting = also.filter(({ expect }) => expect !== undefined);
    const found = await storage.getMany(expecting.map((change) => change.at));
    return expecting.some(({ expect }, position) => expect !== found[position]);
  }

  /** Writes what `plan` makes of what is there, again from the start when somebody else wrote in between. */
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

/** Records of workspaces: there is no way to one but by naming its workspace. */
export type PerWorkspace<T> = (workspaceId: WorkspaceId) => Collection<T>;

export function perWorkspace<T>(options: CollectionOptions<T>): PerWorkspace<T> {
  return (workspaceId) => createCollection(workspaceId, options);
}
