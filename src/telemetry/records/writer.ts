import { LRUCache } from 'lru-cache';
import { createLock } from '../../base/async/lock.ts';
import type { Clock } from '../../base/clock.ts';
import { isGatewayError } from '../../base/errors.ts';
import type { WorkspaceId } from '../../call/workspace.ts';
import type { RecordSettings } from '../../schema/settings/records.ts';
import { unlessDeleted } from '../../stores/deletion.ts';
import type { PendingBookings, RecordCommit } from '../../stores/spending/pending-bookings.ts';
import { writeLog } from '../../stores/storage/logger.ts';
import type { Change, Storage } from '../../stores/storage/storage.ts';
import type { CallContent } from '../follow.ts';
import type { Logger, RequestRecord } from '../record.ts';
import { type ContentVault, writeContent } from './content.ts';
import { createContentQueue } from './content-queue.ts';
import { generationOf } from './generation-of.ts';
import { activeAt, indexAt, ownerText, recordAt, storableId } from './places.ts';
import { byWorkspace, newestOfLarger } from './queue-shares.ts';
import type { Rollups } from './rollups.ts';
import type { Sweeper } from './sweeper.ts';
import type { TailSender } from './tail-sender.ts';

/** Writes records to a store, in batches, beside their requests. */
export interface RecordWriter {
  /** Takes a record. Never waits and never throws: if the queue is full, the record is dropped and counted. */
  write(record: RequestRecord): void;
  /**
   * Keeps the content of a request; called before `write`. If too much waits, the content is left out, and only its
   * record is written.
   */
  keepContent(record: RequestRecord, content: CallContent): void;
  /**
   * Writes the records of these calls now, together with further changes of their workspace.
   * @returns resolves after that atomic step; false: nothing was written, and the records are written later, without the
   *   changes
   */
  commitWith: RecordCommit;
  /** Resolves when all earlier records are written, or could not be. Never rejects. */
  flush(): Promise<void>;
  /** The number of records that were not kept since the start: the queue was full, or the store refused them. */
  readonly dropped: number;
  /** The number of records that were taken and are not written yet. */
  readonly waiting: number;
  /** The number of steps in which records or sums were written since the start. It grows before `flush` resolves. */
  readonly steps: number;
  /** Tries once to write the queue. */
  close(): Promise<void>;
}

export interface RecordWriterDeps {
  storage: Storage;
  vault: ContentVault;
  clock: Clock;
  logger: Logger | null;
  settings: RecordSettings;
  sweeper: Sweeper;
  rollups: Rollups;
  /** Tells other instances of written records; null: there are none. */
  sender: TailSender | null;
  /** The bookings with which records are written; null: records wait for none. */
  pending: PendingBookings | null;
}

/** Changes that are written in the same step as records. */
interface Beside {
  changes: readonly Change[];
  /** Called with whether the step was written. */
  written(isThere: boolean): void;
}

const nothing: Beside = { changes: [], written: () => undefined };

/** The number of records in one step of the store. */
const batch = 100;

export function createRecordWriter(deps: RecordWriterDeps): RecordWriter {
  const { storage, clock, logger, settings, sweeper, rollups, sender, pending } = deps;
  /** The workspaces that are known to have sums. */
  const active = new LRUCache<WorkspaceId, true>({ max: 1_000 });
  let queue: RequestRecord[] = [];
  /** The number of records that were taken from the queue and are not written yet. */
  let inFlight = 0;
  let dropped = 0;
  let steps = 0;
  /** true: records were dropped since the queue last had room. One log line covers all of them. */
  let isFull = false;
  let cancel: (() => void) | null = null;
  let running: Promise<void> | null = null;
  let isClosed = false;
  /** The records that are in the sums. */
  const summed = new WeakSet<RequestRecord>();
  const lock = createLock();
  const afterwards = createLock();
  /** Written records that other instances do not know yet. */
  const untold: RequestRecord[] = [];
  /** Writes that run beside the queue. */
  const besides = new Set<Promise<unknown>>();
  const contents = createContentQueue(logger, settings);

  function schedule(): void {
    if (isClosed || cancel) return;
    cancel = clock.after(settings.flushMs, () => {
      cancel = null;
      void flush();
    });
  }

  function stop(): void {
    cancel?.();
    cancel = null;
  }

  /** Takes records out of the queue. */
  function take(isWanted: (record: RequestRecord) => boolean, most: number): RequestRecord[] {
    const taken: RequestRecord[] = [];
    queue = queue.filter((record) => {
      if (taken.length >= most || !isWanted(record)) return true;
      taken.push(record);
      return false;
    });
    inFlight += taken.length;
    return taken;
  }

  /** Writes one batch. @returns false: the store does not respond, and the rest has to wait */
  async function writeBatch(): Promise<boolean> {
    let isUp = true;
    const kept: RequestRecord[] = [];
    for (const [workspaceId, records] of byWorkspace(take(({ id }) => !pending?.has(id), batch))) {
      if (isUp) isUp = await tryToWrite(workspaceId, records);
      else kept.push(...records);
    }
    giveBack(kept);
    return isUp;
  }

  /** @returns false: the store does not respond, and the records are in the queue again */
  async function tryToWrite(
    workspaceId: WorkspaceId,
    records: readonly RequestRecord[],
    beside?: Beside,
  ): Promise<boolean> {
    try {
      await writeAll(workspaceId, records, beside);
    } catch (error) {
      if (isGatewayError(error) && error.kind === 'unavailable') {
        giveBack(records);
        return false;
      }
      dropped += records.length;
      for (const record of records) {
        sum(record);
        contents.take(record);
        sender?.lost(workspaceId);
      }
      writeLog(logger, 'warn', { records: records.length, dropped }, 'records could not be stored');
    }
    inFlight -= records.length;
    return true;
  }

  function giveBack(records: readonly RequestRecord[]): void {
    inFlight -= records.length;
    queue = [...records, ...queue];
    if (queue.length > 0) schedule();
  }

  /** Adds a record to the sums. They are written with the record: a reader of both finds the same. */
  function sum(record: RequestRecord): void {
    if (summed.has(record)) return;
    summed.add(record);
    rollups.add(record);
  }

  async function writeAll(
    workspaceId: WorkspaceId,
    records: readonly RequestRecord[],
    beside: Beside = nothing,
  ): Promise<void> {
    // One at a time: an older row must not replace a newer one.
    const isThere = await lock.run(workspaceId, () => writeRecords(workspaceId, records, beside));
    // In the same order; no write waits for it.
    if (isThere) await afterwards.run(workspaceId, () => followUp(workspaceId, records));
  }

  async function followUp(workspaceId: WorkspaceId, records: readonly RequestRecord[]): Promise<void> {
    if (!active.has(workspaceId)) {
      await storage.commit([{ at: activeAt(workspaceId), value: '1', rank: clock.now() }]);
      active.set(workspaceId, true);
    }
    if (records.length === 0) return;
    sweeper.wrote(workspaceId, records.length);
    // All at once: each may ask a key service.
    await Promise.all(records.map((record) => keep(workspaceId, record)));
    if (!sender) return;
    untold.push(...records);
    schedule();
  }

  /** @returns false: the workspace is gone */
  async function writeRecords(
    workspaceId: WorkspaceId,
    records: readonly RequestRecord[],
    beside: Beside,
  ): Promise<boolean> {
    const changes = records.map(
      (record): Change => ({
        at: recordAt(workspaceId, record.id),
        value: JSON.stringify(generationOf(record)),
        rank: -record.receivedAtMs,
      }),
    );
    const index = (value: (record: RequestRecord) => string | null) =>
      storage.commit(
        records.map((record): Change => {
          const at = indexAt(record.id);
          return { at, value: value(record), rank: record.receivedAtMs };
        }),
      );
    // The index goes first: a record without an index entry would never expire.
    if (records.length > 0) await index(({ receivedAtMs }) => ownerText(workspaceId, receivedAtMs));
    for (const record of records) sum(record);
    const rows = rollups.changed(workspaceId);
    // Nothing stays behind in a deleted workspace. The changes beside the records come first: a store that writes one
    // after the other may be interrupted.
    const isThere = await storage.commit([...beside.changes, ...changes, ...rows.changes, unlessDeleted(workspaceId)]);
    steps++;
    rows.confirm();
    beside.written(isThere);
    if (!isThere && records.length > 0) await index(() => null);
    return isThere;
  }

  async function commitWith(
    workspaceId: WorkspaceId,
    callIds: ReadonlySet<string>,
    changes: readonly Change[],
  ): Promise<boolean> {
    const records = take(({ id, workspaceId: of }) => of === workspaceId && callIds.has(id), queue.length);
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const work = tryToWrite(workspaceId, records, { changes, written: resolve }).finally(() => {
      besides.delete(work);
      // No step has reported a write, so nothing was written.
      resolve(false);
    });
    besides.add(work);
    return promise;
  }

  function drop(record: RequestRecord): void {
    dropped++;
    sum(record);
    contents.take(record);
    sender?.lost(record.workspaceId);
  }

  /** Writes the content after the record, so that no content stays without a record. */
  async function keep(workspaceId: WorkspaceId, record: RequestRecord): Promise<void> {
    const text = contents.take(record);
    if (text === undefined) return;
    try {
      await writeContent(deps, workspaceId, record.id, text);
    } catch (error) {
      writeLog(logger, 'warn', { error, id: record.id }, 'The content of a request could not be kept');
    }
  }

  async function writeSums(): Promise<void> {
    try {
      for (const workspaceId of rollups.dirty()) await writeAll(workspaceId, []);
    } catch {
      // They stay in memory, and are written with those of the next record.
    }
  }

  async function drain(): Promise<void> {
    // Pending bookings are written with their records.
    await pending?.flush();
    for (let left = queue.length; left > 0; left -= batch) {
      if (!(await writeBatch())) break;
    }
    // Writes the sums of records that were dropped.
    if (queue.length === 0) await writeSums();
    if (isFull && queue.length + inFlight < settings.queueLength) {
      isFull = false;
      writeLog(logger, 'warn', { dropped }, 'The queue of records has room again');
    }
    if (queue.length > 0) schedule();
  }

  async function flush(): Promise<void> {
    await drainOnce();
    await Promise.all(besides);
    // Sent together, because mailboxes hold few mails.
    for (const [workspaceId, records] of byWorkspace(untold.splice(0))) await sender?.send(workspaceId, records);
  }

  function drainOnce(): Promise<void> {
    if (running) return running.then(() => (queue.length > 0 && !cancel ? drainOnce() : undefined));
    if (queue.length === 0) return Promise.resolve();
    stop();
    const run = drain().finally(() => {
      running = null;
    });
    running = run;
    return run;
  }

  return {
    commitWith,
    write(record) {
      // Only a host app's own `ids` makes such an id.
      const isStorable = storableId.test(record.id);
      if (isClosed || !isStorable) return drop(record);
      if (queue.length + inFlight >= settings.queueLength) {
        if (!isFull) {
          isFull = true;
          writeLog(
            logger,
            'warn',
            { dropped: dropped + 1, option: 'records.queueLength' },
            'Records are dropped: the queue is full',
          );
        }
        const larger = newestOfLarger(queue, record.workspaceId);
        if (larger < 0) return drop(record);
        drop(queue[larger] as RequestRecord);
        queue.splice(larger, 1);
      }
      queue.push(record);
      schedule();
    },
    keepContent(record, content) {
      if (isClosed) contents.drop();
      else contents.add(record, content);
    },
    flush,
    get waiting() {
      return queue.length + inFlight;
    },
    get dropped() {
      return dropped;
    },
    get steps() {
      return steps;
    },
    async close() {
      await flush();
      isClosed = true;
      stop();
      sweeper.close();
      if (queue.length === 0) return;
      dropped += queue.length;
      writeLog(logger, 'warn', { records: queue.length, dropped }, 'Records were lost: the store did not respond');
      queue = [];
      contents.clear();
    },
  };
}
