import type { Clock } from '../../base/clock.ts';
import type { ReplyStream } from '../../call/reply.ts';
import type { WorkspaceId } from '../../call/workspace.ts';
import type { GenerationContent } from '../../schema/generation-content.ts';
import type { RecordSettings } from '../../schema/record-settings.ts';
import type { Change, Storage } from '../../stores/storage/storage.ts';
import type { CallContent } from '../follow.ts';
import type { Logger, RequestRecord } from '../record.ts';
import { type ContentVault, readContent } from './content.ts';
import { generationOf } from './generation-of.ts';
import { createLiveTail, type Watched } from './live-tail.ts';
import { activeAt, grains, indexAt, recordKind, removal, rowKind } from './places.ts';
import { createRecordReader, type RecordReader } from './reader.ts';
import { createRollups } from './rollups.ts';
import { createSums, type Sums } from './sums.ts';
import { createSweeper } from './sweeper.ts';
import { createTailMail } from './tail-mail.ts';
import { createTailReceiver } from './tail-receiver.ts';
import { createTailSender } from './tail-sender.ts';
import { createRecordWriter } from './writer.ts';

/** The records that are kept in the store. What this instance has taken is written before it is read. */
export interface Records extends RecordReader {
  /** A sink of records. */
  write(record: RequestRecord): void;
  /** Keeps the prompt and the response of a request beside its record, which is written next. */
  keepContent(record: RequestRecord, content: CallContent): void;
  /** @returns null: none was kept. @throws GatewayError unavailable (503) */
  content(workspaceId: WorkspaceId, id: string): Promise<GenerationContent | null>;
  /** Records that were not kept since the start. */
  dropped(): number;
  /** Records that wait to be written. */
  waiting(): number;
  readonly sums: Sums;
  /** A stream of the records of all instances on the store: of this one at once, of the others when they have written them. */
  watch(wanted: Watched): ReplyStream;
  close(): Promise<void>;
}

export interface RecordsDeps {
  /** With a circuit of its own: what fails here must not stop requests. */
  storage: Storage;
  /** Seals prompts and responses, where it can. */
  vault: ContentVault;
  clock: Clock;
  logger: Logger | null;
  settings: RecordSettings;
  /** Makes a name that no other instance has. */
  instance: () => string;
}

export function createRecords(deps: RecordsDeps): Records {
  const { storage, clock, settings } = deps;
  const tail = createLiveTail(clock, settings);
  const sweeper = createSweeper(storage, clock, settings);
  const mail = createTailMail(storage, deps.instance);
  const sender = mail && createTailSender(mail, clock, settings);
  const receiver = mail && createTailReceiver(mail, tail, clock, settings);
  const writer = createRecordWriter({ ...deps, sweeper, sender, rollups: createRollups(deps.instance) });
  const reader = createRecordReader(deps);
  const sums = createSums(storage, clock, settings);
  /** What is read through it holds what was recorded here before. */
  const flushed =
    <Given extends unknown[], Result>(read: (...given: Given) => Promise<Result>) =>
    async (...given: Given): Promise<Result> => {
      await writer.flush();
      return read(...given);
    };
  return {
    write(record) {
      tail.publish(record.workspaceId, () => generationOf(record));
      writer.write(record);
    },
    keepContent: writer.keepContent,
    content: flushed((workspaceId, id) => readContent(deps, workspaceId, id)),
    watch(wanted) {
      const stream = tail.watch(wanted);
      receiver?.watching();
      return stream;
    },
    dropped: () => writer.dropped,
    waiting: () => writer.waiting,
    async close() {
      tail.close();
      await writer.close();
      await receiver?.close();
    },
    ownerOf: flushed(reader.ownerOf),
    find: flushed(reader.find),
    list: flushed(reader.list),
    oldestMs: flushed(reader.oldestMs),
    sums: {
      days: flushed(sums.days),
      between: flushed(sums.between),
      workspaces: flushed(sums.workspaces),
    },
  };
}

/** Records that are removed in one step. */
const step = 200;

/** Removes all records of a workspace, also where they are no longer kept. May be repeated. */
export async function deleteRecords(storage: Storage, workspaceId: WorkspaceId): Promise<void> {
  for (;;) {
    const { records } = await storage.list(workspaceId, recordKind, { offset: 0, limit: step });
    if (records.length === 0) break;
    await storage.commit(records.map(({ id }): Change => ({ at: indexAt(id), value: null })));
    await storage.commit(records.flatMap(({ id }) => removal(workspaceId, id)));
  }
  for (const grain of grains) {
    const kind = rowKind(grain);
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
