import pLimit from 'p-limit';
import type { Clock } from '../../base/clock.ts';
import { lazily } from '../../base/lazily.ts';
import type { ReplyStream } from '../../call/reply.ts';
import type { WorkspaceId } from '../../call/workspace.ts';
import type { GenerationContent } from '../../schema/records/generation-content.ts';
import type { RecordSettings } from '../../schema/settings/records.ts';
import type { LostCallRecorder } from '../../stores/spending/lost-call.ts';
import type { PendingBookings } from '../../stores/spending/pending-bookings.ts';
import type { Change, Storage } from '../../stores/storage/storage.ts';
import type { CallContent } from '../follow.ts';
import type { Logger, RequestRecord } from '../record.ts';
import { type ContentVault, readContent } from './content.ts';
import { generationOf } from './generation-of.ts';
import { createLiveTail, type Watched } from './live-tail.ts';
import { lostRecorder } from './lost.ts';
import { activeAt, indexAt, recordKind, removal, rowKind, rowSeries } from './places.ts';
import { createRecordReader, type RecordReader } from './reader.ts';
import { createRollups } from './rollups.ts';
import { createSums, type Sums } from './sums.ts';
import { createSweeper } from './sweeper.ts';
import { createTailMail } from './tail-mail.ts';
import { createTailReceiver } from './tail-receiver.ts';
import { createTailSender } from './tail-sender.ts';
import { createRecordWriter } from './writer.ts';

/** The records in the store. Records that this instance has taken are written before a read. */
export interface Records extends RecordReader {
  /** Takes a record. */
  write(record: RequestRecord): void;
  /** Keeps the prompt and the response of a request beside its record, which has to be written next. */
  keepContent(record: RequestRecord, content: CallContent): void;
  /** Writes or corrects the record of a call whose process died. */
  recordLost: LostCallRecorder;
  /** @returns null: no content was kept. @throws GatewayError unavailable (503) */
  content(workspaceId: WorkspaceId, id: string): Promise<GenerationContent | null>;
  /** The number of records that were not kept since the start. */
  dropped(): number;
  /** The number of records that wait to be written. */
  waiting(): number;
  readonly sums: Sums;
  /**
   * Makes a stream of the records of all instances on the store: those of this one at once, those of the others when
   * they are written.
   */
  watch(wanted: Watched): ReplyStream;
  /** Writes the records that wait. Never rejects. */
  flush(): Promise<void>;
  close(): Promise<void>;
}

export interface RecordsDeps {
  /** The storage has a circuit of its own: its failures must not stop requests. */
  storage: Storage;
  /** Seals prompts and responses, if there is a master key. */
  vault: ContentVault;
  clock: Clock;
  logger: Logger | null;
  settings: RecordSettings;
  /** Makes a name that no other instance has. */
  instance: () => string;
  /** Books and records the calls of processes that died in a workspace. Never rejects. */
  bookLost: (workspaceId: WorkspaceId) => Promise<void>;
  /** Bookings that are written together with the records of their calls. Absent: there are none. */
  pending?: PendingBookings | null;
}

/** The most workspaces whose lost calls are looked for at the same time: fewer than a store has connections. */
const booksAtOnce = 5;

export function createRecords(deps: RecordsDeps): Records {
  const { storage, clock, settings, pending = null } = deps;
  const tail = createLiveTail(clock, settings);
  // Each instance begins at another place. Its name is made late: some runtimes have no random values before a request.
  const share = lazily(() => Number.parseInt(deps.instance().slice(0, 8), 16) / 2 ** 32 || 0);
  const sweeper = createSweeper(storage, clock, settings, share);
  const mail = createTailMail(storage, deps.instance);
  const sender = mail && createTailSender(mail, clock, settings);
  const receiver = mail && createTailReceiver(mail, tail, clock, settings);
  const writer = createRecordWriter({ ...deps, sweeper, sender, pending, rollups: createRollups(deps.instance) });
  pending?.commitWith(writer.commitWith);
  const reader = createRecordReader(deps);
  /** The number of records of lost calls that were looked at. */
  let lost = 0;
  const sums = createSums(storage, clock, settings, () => writer.steps + lost);
  /** Wraps a read, so that its result contains what was recorded here before. */
  const flushed =
    <Given extends unknown[], Result>(read: (...given: Given) => Promise<Result>) =>
    async (...given: Given): Promise<Result> => {
      await writer.flush();
      sweeper.begin();
      return read(...given);
    };
  /** Wraps a read, so that its result also contains the calls of processes that died. */
  const complete = <Of extends WorkspaceId | readonly WorkspaceId[], Given extends unknown[], Result>(
    read: (of: Of, ...given: Given) => Promise<Result>,
  ) =>
    flushed(async (of: Of, ...given: Given) => {
      const workspaces: readonly WorkspaceId[] = typeof of === 'string' ? [of] : of;
      await pLimit(booksAtOnce).map(workspaces, deps.bookLost);
      return read(of, ...given);
    });
  const writeLost = lostRecorder({ storage, clock, settings, sweeper });
  return {
    write(record) {
      tail.publish(record.workspaceId, () => generationOf(record));
      writer.write(record);
    },
    keepContent: writer.keepContent,
    async recordLost(workspaceId, call, isExact) {
      // A record of this instance goes before that of a lost call.
      await writer.flush();
      const record = await writeLost(workspaceId, call, isExact);
      lost++;
      if (record) tail.publish(workspaceId, () => record);
    },
    content: flushed((workspaceId, id) => readContent(deps, workspaceId, id)),
    watch(wanted) {
      const stream = tail.watch(wanted);
      receiver?.watching();
      return stream;
    },
    dropped: () => writer.dropped,
    waiting: () => writer.waiting,
    flush: writer.flush,
    async close() {
      tail.close();
      await writer.close();
      await receiver?.close();
    },
    ownerOf: flushed(reader.ownerOf),
    find: complete(reader.find),
    list: complete(reader.list),
    oldestMs: flushed(reader.oldestMs),
    sums: {
      rows: complete(sums.rows),
      between: complete(sums.between),
      workspaces: flushed(sums.workspaces),
    },
  };
}

/** The number of records that one step removes. */
const step = 200;

/** Removes all records of a workspace, also where they are no longer kept. May be repeated. */
export async function deleteRecords(storage: Storage, workspaceId: WorkspaceId): Promise<void> {
  for (;;) {
    const { records } = await storage.list(workspaceId, recordKind, { offset: 0, limit: step });
    if (records.length === 0) break;
    await storage.commit(records.map(({ id }): Change => ({ at: indexAt(id), value: null })));
    await storage.commit(records.flatMap(({ id }) => removal(workspaceId, id)));
  }
  for (const series of rowSeries) {
    const kind = rowKind(series);
    for (;;) {
      const { records } = await storage.list(workspaceId, kind, { offset: 0, limit: step });
      if (records.length === 0) break;
      await storage.commit(
        records.map(({ id }): Change => ({ at: { partition: workspaceId, kind, id }, value: null })),
      );
    }
  }
  await storage.commit([{ at: activeAt(workspaceId), value: null }]);
}
