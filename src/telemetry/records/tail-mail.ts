import * as z from 'zod';
import { tryParseJson } from '../../base/json.ts';
import { lazily } from '../../base/lazily.ts';
import { type Address, type Storage, sharesRecords } from '../../stores/storage/storage.ts';

/**
 * Sends records to instances on the same store whose clients watch. A watched instance notes that in the store, and has
 * a mailbox there. Every method rejects with GatewayError unavailable (503) without the store.
 */
export interface TailMail {
  /** Notes that this instance is watched. */
  register(watched: WatchedUntil): Promise<void>;
  /** Removes the note, and empties the mailbox. */
  unregister(): Promise<void>;
  /** The other instances that are watched. Removes the notes of those that died. */
  others(nowMs: number): Promise<WatchedInstance[]>;
  /** @returns false: the mailbox is full */
  send(instance: string, mail: Mail, nowMs: number): Promise<boolean>;
  /** The mails of this instance, oldest first. `mail` is null where it is damaged. */
  read(): Promise<{ id: string; mail: Mail | null }[]>;
  /** Removes mails that were read. */
  remove(ids: readonly string[]): Promise<void>;
}

const watchedSchema = lazily(() =>
  z.object({
    /** Epoch ms. */
    untilMs: z.number(),
    /** The workspaces that clients watch; null: all workspaces. */
    workspaceIds: z.array(z.string()).nullable(),
  }),
);
type WatchedUntil = z.infer<ReturnType<typeof watchedSchema>>;
/** An instance that is watched. */
export type WatchedInstance = WatchedUntil & { instance: string };

const mailSchema = lazily(() =>
  z.object({
    workspaceId: z.string(),
    /** The number of records of the workspace that were not sent before. */
    dropped: z.int(),
    /** Records in their shown form. */
    generations: z.array(z.looseObject({})),
  }),
);
/** Records of one workspace. */
export type Mail = z.infer<ReturnType<typeof mailSchema>>;

/** The largest difference between the clocks of two instances. */
const skewMs = 60_000;
/** The most watched instances that get mails. */
const maxWatched = 32;
/** The most mails in a mailbox; each has at most as many records as the writer writes at once. */
const maxMail = 20;

const partition = 'tail';
const watchedKind = 'tail-watched';
const mailKind = 'tail-mail';
const watchedAt = (instance: string): Address => ({ partition, kind: watchedKind, id: instance });
const mailAt = (instance: string, id: string): Address => ({ partition: mailbox(instance), kind: mailKind, id });
const mailbox = (instance: string) => `tail.${instance}`;

/**
 * @param instance  makes a name that no other instance has
 * @returns null: no other instance sees the records of this storage
 */
export function createTailMail(storage: Storage, instance: () => string): TailMail | null {
  if (!sharesRecords(storage)) return null;
  let name: string | null = null;
  const own = () => {
    name ??= instance();
    return name;
  };
  let sent = 0;

  const list = (of: string, limit: number) => storage.list(mailbox(of), mailKind, { offset: 0, limit });

  async function remove(of: string, ids: readonly string[]): Promise<void> {
    if (ids.length > 0) await storage.commit(ids.map((id) => ({ at: mailAt(of, id), value: null })));
  }

  async function empty(of: string): Promise<void> {
    const { records } = await list(of, maxMail);
    await remove(
      of,
      records.map(({ id }) => id),
    );
  }

  return {
    async register(watched) {
      await storage.commit([{ at: watchedAt(own()), value: JSON.stringify(watched), rank: -watched.untilMs }]);
    },
    async unregister() {
      await storage.commit([{ at: watchedAt(own()), value: null }]);
      await empty(own());
    },
    async others(nowMs) {
      const { records } = await storage.list(partition, watchedKind, { offset: 0, limit: maxWatched });
      const found: WatchedInstance[] = [];
      for (const { id, value } of records) {
        if (id === own()) continue;
        const { data } = watchedSchema().safeParse(tryParseJson(value));
        if (data && data.untilMs > nowMs - skewMs) {
          found.push({ ...data, instance: id });
          continue;
        }
        await empty(id);
        await storage.commit([{ at: watchedAt(id), expect: value, value: null }]);
      }
      return found;
    },
    async send(to, mail, nowMs) {
      if ((await list(to, 0)).total >= maxMail) return false;
      const at = mailAt(to, `${own()}.${sent++}`);
      await storage.commit([{ at, value: JSON.stringify(mail), rank: nowMs }]);
      return true;
    },
    async read() {
      const { records } = await list(own(), maxMail);
      return records.map(({ id, value }) => ({ id, mail: mailSchema().safeParse(tryParseJson(value)).data ?? null }));
    },
    remove: (ids) => remove(own(), ids),
  };
}
