import * as z from 'zod';
import type { Clock } from '../../base/clock.ts';
import { tryParseJson } from '../../base/json.ts';
import { lazily } from '../../base/lazily.ts';
import type { WorkspaceId } from '../../call/workspace.ts';
import type { RecordSettings } from '../../schema/record-settings.ts';
import { type Address, type Storage, sharesRecords } from '../../stores/storage/storage.ts';
import type { RequestRecord } from '../record.ts';
import { generationOf } from './generation-of.ts';
import type { LiveTail } from './live-tail.ts';

/**
 * Brings records to the clients that watch another instance. An instance that is watched says so in the store, and has
 * a mailbox there, to which the others send what they have written. While nobody watches, each instance reads that
 * once for each time that it writes.
 */
export interface TailRelay {
  /** A client has begun to watch this instance. */
  watching(): void;
  /** Sends records of one workspace to the instances that are watched. Never rejects: what was not sent is counted. */
  send(workspaceId: WorkspaceId, records: readonly RequestRecord[]): Promise<void>;
  /** A record of a workspace was dropped before it was written. */
  lost(workspaceId: string): void;
  close(): Promise<void>;
}

export interface TailRelayDeps {
  storage: Storage;
  clock: Clock;
  settings: RecordSettings;
  /** Makes a name that no other instance has. */
  instance: () => string;
  tail: LiveTail;
}

const partition = 'tail';
const watchedKind = 'tail-watched';
const mailKind = 'tail-mail';
const watchedAt = (instance: string): Address => ({ partition, kind: watchedKind, id: instance });
const mailbox = (instance: string) => `tail.${instance}`;

/** How long an instance counts as watched after it has said so. */
const leaseMs = 30_000;
const renewMs = 10_000;
/** The most that the clocks of two instances may differ. */
const skewMs = 60_000;
/** Further watched instances get nothing. */
const maxWatched = 32;
/** Batches in a mailbox; each has at most as many records as the writer writes at once. */
const maxMail = 20;

/** An instance that is watched. */
const watchedSchema = lazily(() =>
  z.object({
    /** Epoch ms. */
    untilMs: z.number(),
    /** What its clients want to see; null: all workspaces. */
    workspaceIds: z.array(z.string()).nullable(),
  }),
);
type Watched = z.infer<ReturnType<typeof watchedSchema>> & { instance: string };

/** Records of one workspace, in a mailbox. */
const mailSchema = lazily(() =>
  z.object({
    workspaceId: z.string(),
    /** Records that were not sent before. */
    dropped: z.int(),
    generations: z.array(z.record(z.string(), z.unknown())),
  }),
);

/** @returns null: no other instance sees the records of this storage */
export function createTailRelay({ storage, clock, settings, instance, tail }: TailRelayDeps): TailRelay | null {
  if (!sharesRecords(storage)) return null;
  let name: string | null = null;
  const own = () => {
    name ??= instance();
    return name;
  };

  // What this instance sends.
  let others: readonly Watched[] = [];
  let readAtMs = Number.NEGATIVE_INFINITY;
  /** By watched instance and workspace. */
  const dropped = new Map<string, Map<string, number>>();
  let sent = 0;

  function countDropped(id: string, workspaceId: string, more: number): void {
    const counts = dropped.get(id) ?? new Map<string, number>();
    dropped.set(id, counts.set(workspaceId, (counts.get(workspaceId) ?? 0) + more));
  }

  async function readOthers(): Promise<void> {
    const nowMs = clock.now();
    if (nowMs - readAtMs < settings.flushMs) return;
    const { records } = await storage.list(partition, watchedKind, { offset: 0, limit: maxWatched });
    readAtMs = nowMs;
    const found: Watched[] = [];
    for (const { id, value } of records) {
      if (id === own()) continue;
      const parsed = watchedSchema().safeParse(tryParseJson(value));
      if (parsed.success && parsed.data.untilMs > nowMs - skewMs) found.push({ ...parsed.data, instance: id });
      else await removeGone(id, value);
    }
    others = found;
    for (const id of dropped.keys()) if (!found.some(({ instance }) => instance === id)) dropped.delete(id);
  }

  /** An instance that died while it was watched. */
  async function removeGone(id: string, value: string): Promise<void> {
    await empty(id);
    await storage.commit([{ at: watchedAt(id), expect: value, value: null }]);
  }

  async function sendTo(id: string, workspaceId: WorkspaceId, records: readonly RequestRecord[]): Promise<void> {
    const missed = dropped.get(id)?.get(workspaceId) ?? 0;
    countDropped(id, workspaceId, records.length);
    const { total } = await storage.list(mailbox(id), mailKind, { offset: 0, limit: 0 });
    if (total >= maxMail) return;
    const value = JSON.stringify({ workspaceId, dropped: missed, generations: records.map(generationOf) });
    const at = { partition: mailbox(id), kind: mailKind, id: `${own()}.${sent++}` };
    await storage.commit([{ at, value, rank: clock.now() }]);
    dropped.get(id)?.delete(workspaceId);
  }

  // What this instance is sent.
  let registered: { text: string; untilMs: number } | null = null;
  /** Delivered, and not removed from the mailbox yet. */
  const delivered = new Set<string>();
  const slice = Math.ceil(settings.tailLength / 2);
  let shown = 0;
  let polling: Promise<void> | null = null;
  let cancel: (() => void) | null = null;
  let isClosed = false;

  async function register(workspaceIds: readonly string[] | null): Promise<void> {
    const text = JSON.stringify(workspaceIds);
    const nowMs = clock.now();
    if (registered?.text === text && registered.untilMs - nowMs > leaseMs - renewMs) return;
    const untilMs = nowMs + leaseMs;
    await storage.commit([{ at: watchedAt(own()), value: JSON.stringify({ untilMs, workspaceIds }), rank: -untilMs }]);
    registered = { text, untilMs };
  }

  async function receive(): Promise<void> {
    const { records } = await storage.list(mailbox(own()), mailKind, { offset: 0, limit: maxMail });
    for (const { id, value } of records) {
      if (delivered.has(id)) continue;
      delivered.add(id);
      const parsed = mailSchema().safeParse(tryParseJson(value));
      if (!parsed.success) continue;
      const { workspaceId, dropped: missed, generations } = parsed.data;
      if (missed > 0) tail.missed(workspaceId, missed);
      for (const generation of generations) {
        // A client that reads fast would miss the end of a long batch, had it no time to read its beginning.
        if (++shown % slice === 0) await new Promise<void>((resolve) => void clock.after(0, resolve));
        tail.publish(workspaceId, () => generation);
      }
    }
    await remove(own(), records);
    delivered.clear();
  }

  async function remove(of: string, records: readonly { id: string }[]): Promise<void> {
    if (records.length === 0) return;
    await storage.commit(
      records.map(({ id }) => ({ at: { partition: mailbox(of), kind: mailKind, id }, value: null })),
    );
  }

  async function empty(of: string): Promise<void> {
    const { records } = await storage.list(mailbox(of), mailKind, { offset: 0, limit: maxMail });
    await remove(of, records);
  }

  async function leave(): Promise<void> {
    if (registered === null) return;
    await storage.commit([{ at: watchedAt(own()), value: null }]);
    registered = null;
    await empty(own());
  }

  async function poll(): Promise<void> {
    try {
      const wanted = isClosed ? null : tail.watched();
      if (wanted === null) return await leave();
      await register(wanted.workspaceIds);
      await receive();
    } catch {
      // The store does not respond, which it logs itself: until it does, clients see the records of this instance.
    }
  }

  function watching(): void {
    if (isClosed || polling !== null || cancel !== null) return;
    polling = poll().finally(() => {
      polling = null;
      if (isClosed || (tail.watched() === null && registered === null)) return;
      const again = () => {
        cancel = null;
        watching();
      };
      cancel = clock.after(settings.flushMs, again, { isIdle: true });
    });
  }

  return {
    watching,
    async send(workspaceId, records) {
      // Where the store does not respond: with the next records, those who watch are told how many they have missed.
      await readOthers().catch(() => undefined);
      for (const other of others) {
        if (sees(other, workspaceId)) await sendTo(other.instance, workspaceId, records).catch(() => undefined);
      }
    },
    lost(workspaceId) {
      for (const other of others) if (sees(other, workspaceId)) countDropped(other.instance, workspaceId, 1);
    },
    async close() {
      isClosed = true;
      cancel?.();
      cancel = null;
      await polling;
      await poll();
    },
  };
}

function sees({ workspaceIds }: Watched, workspaceId: string): boolean {
  return workspaceIds === null || workspaceIds.includes(workspaceId);
}
