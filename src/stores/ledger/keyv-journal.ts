import * as z from 'zod';
import { lazily } from '../../base/lazily.ts';
import { damagedRecord } from '../damaged.ts';
import type { KeyvEntries } from '../storage/keyv-entries.ts';
import { type KeptBooks, keepAll, keepChanged, keptBooksSchema, raise, restore } from './kept-books.ts';
import type { Books, Changes } from './memory.ts';

/** The number of changes that are written one by one before the books are written as a whole. */
export const journalSlots = 16;
/**
 * The number of versions whose changes have keys of their own: a process that is just ending must not overwrite the
 * changes of its successor.
 */
const keyedVersions = 4;

/** The books as a whole. */
const snapshotSchema = lazily(() => z.strictObject({ version: z.int().min(1), books: keptBooksSchema() }));
interface Snapshot extends z.infer<ReturnType<typeof snapshotSchema>> {}
const nothing: Snapshot = { version: 0, books: { sums: [], holds: [] } };
/** Changes to the books of one version. Changes of another version are left over from before. */
const changesSchema = lazily(() => z.strictObject({ of: z.int().min(1), changed: keptBooksSchema() }));

export interface JournalOptions {
  entries: KeyvEntries;
  /** The beginning of all keys of this workspace. */
  prefix: string;
  /** The books, which `openJournal` fills. */
  books: Books;
  /** Called when somebody else has written the books, before this journal overwrites them. */
  onForeignWriter: () => void;
}

/** Writes the books of one workspace, one write at a time. */
export interface Journal {
  /**
   * Resolves when every change up to now is in the store. Changes that come during a write share the next one.
   * @throws the store's error; the changes are then part of the next write
   */
  written(): Promise<void>;
  /** Deletes the books from the store. */
  remove(): Promise<void>;
}

/**
 * Reads the books of a workspace.
 *
 * One key has the books as a whole, with a version. A few other keys have what changed since then, one write each, with
 * absolute values. So a write is short, and the whole is only written now and then. The first write of a process is
 * always the whole, under a new version: changes that an earlier process may still write have no effect from then on.
 *
 * No write is begun before the store has told the end of the one before, however long that takes: a write that arrives
 * late must not undo a newer one.
 * @throws the store's error; GatewayError internal (500) for books that cannot be read: nothing is guessed about money
 */
export async function openJournal({ entries, prefix, books, onForeignWriter }: JournalOptions): Promise<Journal> {
  const changes = books.changes as Changes;
  const wholeKey = `${prefix}books`;
  const keysOf = (ofVersion: number) =>
    Array.from({ length: journalSlots }, (_, at) => `${prefix}change-${ofVersion % keyedVersions}-${at}`);
  const stored = await readWhole();
  /** The version of the books in the store; 0: there are none. */
  let version = stored.version;
  /** The version of a failed write, which may have arrived nevertheless. */
  let triedVersion = version;
  let slotKeys = keysOf(version);
  /** The place of the next change; `journalSlots`: the next write is the whole. */
  let slot = journalSlots;
  let current: Promise<void> | null = null;
  let coming: Promise<void> | null = null;
  const written = await readAll(stored);
  try {
    restore(books, written);
  } catch {
    throw damagedRecord('ledger');
  }

  async function readWhole(): Promise<Snapshot> {
    const [whole] = await entries.read([wholeKey]);
    return whole === undefined ? nothing : parsed(snapshotSchema(), whole);
  }

  /** Reads the whole books, and then the changes since. */
  async function readAll({ version: of, books: whole }: Snapshot): Promise<KeptBooks[]> {
    const written = [whole];
    for (const one of of === 0 ? [] : await entries.read(keysOf(of))) {
      if (one === undefined) break;
      const entry = parsed(changesSchema(), one);
      if (entry.of !== of) break;
      written.push(entry.changed);
    }
    return written;
  }

  async function write(): Promise<void> {
    if (changes.sums.size + changes.holds.size === 0) return;
    if (slot === journalSlots) return writeWhole();
    const taken = take();
    const entry = { of: version, changed: keepChanged(books, taken) };
    try {
      await entries.write(slotKeys[slot] as string, entry);
    } catch (error) {
      putBack(taken);
      throw error;
    }
    slot++;
  }

  async function writeWhole(): Promise<void> {
    const found = await readWhole();
    if (found.version !== version && found.version !== triedVersion) {
      onForeignWriter();
      raise(books, await readAll(found));
    }
    const taken = take();
    triedVersion = Math.max(version, found.version) + 1;
    try {
      await entries.write(wholeKey, { version: triedVersion, books: keepAll(books) });
    } catch (error) {
      putBack(taken);
      throw error;
    }
    version = triedVersion;
    slotKeys = keysOf(version);
    slot = 0;
  }

  function take(): Changes {
    const taken = { sums: new Set(changes.sums), holds: new Set(changes.holds) };
    changes.sums.clear();
    changes.holds.clear();
    return taken;
  }

  function putBack({ sums, holds }: Changes): void {
    for (const sum of sums) changes.sums.add(sum);
    for (const id of holds) changes.holds.add(id);
  }

  return {
    written() {
      if (coming !== null) return coming;
      if (changes.sums.size + changes.holds.size === 0) return current ?? Promise.resolve();
      const start = () => {
        current = own;
        coming = null;
        return write().finally(() => {
          if (current === own) current = null;
        });
      };
      const own: Promise<void> = (current ?? Promise.resolve()).then(start, start);
      coming = own;
      return own;
    },
    async remove() {
      await (coming ?? current)?.catch(() => undefined);
      // The whole goes first: changes without it have no effect.
      await entries.remove(wholeKey);
      const keys = Array.from({ length: keyedVersions }, (_, one) => keysOf(one)).flat();
      const found = await entries.read(keys);
      for (const [at, key] of keys.entries()) if (found[at] !== undefined) await entries.remove(key);
    },
  };
}

function parsed<T>(schema: z.ZodType<T>, value: unknown): T {
  const result = schema.safeParse(value);
  if (!result.success) throw damagedRecord('ledger');
  return result.data;
}
