import { LRUCache } from 'lru-cache';
import type { Clock } from '../../base/clock.ts';
import { isGatewayError } from '../../base/errors.ts';
import { parseWorkspaceId, type WorkspaceId } from '../../call/workspace.ts';
import type { RecordSettings } from '../../schema/record-settings.ts';
import { unlessDeleted } from '../../stores/deletion.ts';
import { writeLog } from '../../stores/storage/logger.ts';
import type { Change, Storage } from '../../stores/storage/storage.ts';
import type { CallContent } from '../follow.ts';
import type { Logger, RequestRecord } from '../record.ts';
import { type ContentVault, contentText, writeContent } from './content.ts';
import { generationOf } from './generation-of.ts';
import { activeAt, indexAt, ownerText, recordAt, storableId } from './places.ts';
import type { Rollups } from './rollups.ts';
import type { Sweeper } from './sweeper.ts';
import type { TailSender } from './tail-sender.ts';

/** Writes records to a store, in batches, beside the requests that they are of. */
export interface RecordWriter {
  /** Takes a record. Never waits and never throws: where the queue is full, the record is dropped and counted. */
  write(record: RequestRecord): void;
  /** To be called before `write`. Where too much waits, the content is left out, and its record is written all the same. */
  keepContent(record: RequestRecord, content: CallContent): void;
  /** Resolves when all that was taken before is written, or could not be. Never rejects. */
  flush(): Promise<void>;
  /** Records that were not kept since the start: the queue was full, or the store refused them. */
  readonly dropped: number;
  /** Records that were taken and are not written yet. */
  readonly waiting: number;
  /** Writes what is in the queue, once. */
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
  /** Tells other instances what was written; null: there are none. */
  sender: TailSender | null;
}

/** Records in one step of the store. */
const batch = 100;

export function createRecordWriter(deps: RecordWriterDeps): RecordWriter {
  const { storage, clock, logger, settings, sweeper, rollups, sender } = deps;
  /** Workspaces that are known to have sums. */
  const active = new LRUCache<WorkspaceId, true>({ max: 1_000 });
  let queue: RequestRecord[] = [];
  /** Taken from the queue, and not written yet. */
  let inFlight = 0;
  let dropped = 0;
  /** Dropped since the queue last had room: one line tells of all of them. */
  let isFull = false;
  let cancel: (() => void) | null = null;
  let running: Promise<void> | null = null;
  let isClosed = false;
  /** What waits to be written beside its record. */
  const contents = new Map<RequestRecord, string>();
  let contentChars = 0;
  let contentsDropped = 0;

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

  /** One batch. @returns false: the store does not respond, and the rest has to wait */
  async function writeBatch(): Promise<boolean> {
    const taken = queue.splice(0, batch);
    inFlight = taken.length;
    let isUp = true;
    const kept: RequestRecord[] = [];
    for (const [workspaceId, records] of byWorkspace(taken)) {
      if (!isUp) {
        kept.push(...records);
        continue;
      }
      try {
        await writeAll(workspaceId, records);
      } catch (error) {
        if (isGatewayError(error) && error.kind === 'unavailable') {
          isUp = false;
          kept.push(...records);
        } else {
          dropped += records.length;
          for (const record of records) {
            takeContent(record);
            sender?.lost(workspaceId);
          }
          writeLog(logger, 'warn', { records: records.length, dropped }, 'records could not be stored');
        }
      }
    }
    inFlight = 0;
    queue = [...kept, ...queue];
    return isUp;
  }

  async function writeAll(workspaceId: WorkspaceId, records: readonly RequestRecord[]): Promise<void> {
    const changes = records.map(
      (record): Change => ({
        at: recordAt(workspaceId, record.id),
        value: JSON.stringify(generationOf(record)),
        rank: -record.receivedAtMs,
      }),
    );
    const rows = rollups.changed(workspaceId);
    // Nothing is left behind in a workspace that is gone.
    const isThere = await storage.commit([...changes, ...rows.changes, unlessDeleted(workspaceId)]);
    rows.confirm();
    if (!isThere) return;
    if (!active.has(workspaceId)) {
      await storage.commit([{ at: activeAt(workspaceId), value: '1', rank: clock.now() }]);
      active.set(workspaceId, true);
    }
    if (records.length === 0) return;
    await storage.commit(
      records.map(({ id, receivedAtMs }) => ({
        at: indexAt(id),
        value: ownerText(workspaceId, receivedAtMs),
        rank: receivedAtMs,
      })),
    );
    sweeper.wrote(workspaceId);
    // At once: each may ask a key service.
    await Promise.all(records.map((record) => keep(workspaceId, record)));
    await sender?.send(workspaceId, records);
  }

  function takeContent(record: RequestRecord): string | undefined {
    const text = contents.get(record);
    if (text === undefined) return undefined;
    contents.delete(record);
    contentChars -= text.length;
    return text;
  }

  /** After the record, so that nothing stays that no record leads to. */
  async function keep(workspaceId: WorkspaceId, record: RequestRecord): Promise<void> {
    const text = takeContent(record);
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
    for (let left = queue.length; left > 0; left -= batch) {
      if (!(await writeBatch())) break;
    }
    // Sums of records that were dropped.
    if (queue.length === 0) await writeSums();
    if (isFull && queue.length + inFlight < settings.queueLength) {
      isFull = false;
      writeLog(logger, 'warn', { dropped }, 'The queue of records has room again');
    }
    if (queue.length > 0) schedule();
  }

  function flush(): Promise<void> {
    if (running) return running.then(() => (queue.length > 0 && !cancel ? flush() : undefined));
    if (queue.length === 0) return Promise.resolve();
    stop();
    const run = drain().finally(() => {
      running = null;
    });
    running = run;
    return run;
  }

  return {
    write(record) {
      rollups.add(record);
      // Such an id can only be made by the host app's own `ids`.
      const isStorable = storableId.test(record.id);
      if (isClosed || !isStorable || queue.length + inFlight >= settings.queueLength) {
        dropped++;
        takeContent(record);
        sender?.lost(record.workspaceId);
        if (isFull || isClosed || !isStorable) return;
        isFull = true;
        writeLog(logger, 'warn', { dropped, option: 'records.queueLength' }, 'Records are dropped: the queue is full');
        return;
      }
      queue.push(record);
      schedule();
    },
    keepContent(record, content) {
      const text = contentText(content, settings.maxContentChars);
      if (isClosed || contentChars + text.length > settings.contentQueueChars) {
        contentsDropped++;
        // Once for each power of ten: it must not fill the log.
        if (Number.isInteger(Math.log10(contentsDropped)))
          writeLog(logger, 'warn', { dropped: contentsDropped }, 'The content of requests is dropped: too much waits');
        return;
      }
      contents.set(record, text);
      contentChars += text.length;
    },
    flush,
    get waiting() {
      return queue.length + inFlight;
    },
    get dropped() {
      return dropped;
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

function byWorkspace(records: readonly RequestRecord[]): Map<WorkspaceId, RequestRecord[]> {
  const groups = new Map<WorkspaceId, RequestRecord[]>();
  for (const record of records) {
    const workspaceId = parseWorkspaceId(record.workspaceId);
    if (workspaceId === null) continue;
    const known = groups.get(workspaceId);
    if (known) known.push(record);
    else groups.set(workspaceId, [record]);
  }
  return groups;
}
