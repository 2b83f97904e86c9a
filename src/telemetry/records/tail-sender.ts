import type { Clock } from '../../base/clock.ts';
import type { WorkspaceId } from '../../call/workspace.ts';
import type { RecordSettings } from '../../schema/settings/records.ts';
import type { RequestRecord } from '../record.ts';
import { generationOf } from './generation-of.ts';
import type { TailMail, WatchedInstance } from './tail-mail.ts';

/**
 * Sends the records of this instance to watched instances. While no client watches, that costs one read of the store
 * each time that records are written.
 */
export interface TailSender {
  /** Sends written records of one workspace. Never rejects: records that were not sent are counted. */
  send(workspaceId: WorkspaceId, records: readonly RequestRecord[]): Promise<void>;
  /** Counts a record of a workspace that was dropped before it was written. */
  lost(workspaceId: string): void;
}

export function createTailSender(mail: TailMail, clock: Clock, { flushMs }: RecordSettings): TailSender {
  let others: readonly WatchedInstance[] = [];
  let readAtMs = Number.NEGATIVE_INFINITY;
  /** By watched instance and workspace: the number of missed records, for the next mail. */
  const dropped = new Map<string, Map<string, number>>();

  async function readOthers(): Promise<void> {
    const nowMs = clock.monotonic();
    if (nowMs - readAtMs < flushMs) return;
    others = await mail.others(clock.now());
    readAtMs = nowMs;
    for (const id of dropped.keys()) if (!others.some(({ instance }) => instance === id)) dropped.delete(id);
  }

  const watching = (workspaceId: string) =>
    others.filter(({ workspaceIds }) => workspaceIds === null || workspaceIds.includes(workspaceId));

  function countDropped(instance: string, workspaceId: string, more: number): void {
    const counts = dropped.get(instance) ?? new Map<string, number>();
    dropped.set(instance, counts.set(workspaceId, (counts.get(workspaceId) ?? 0) + more));
  }

  async function sendTo(instance: string, workspaceId: string, records: readonly RequestRecord[]): Promise<void> {
    const before = dropped.get(instance)?.get(workspaceId) ?? 0;
    countDropped(instance, workspaceId, records.length);
    const isSent = await mail.send(
      instance,
      { workspaceId, dropped: before, generations: records.map((record) => ({ ...generationOf(record) })) },
      clock.now(),
    );
    if (isSent) dropped.get(instance)?.delete(workspaceId);
  }

  return {
    async send(workspaceId, records) {
      // If the store does not respond, the next mail tells the number of missed records.
      await readOthers().catch(() => undefined);
      for (const { instance } of watching(workspaceId))
        await sendTo(instance, workspaceId, records).catch(() => undefined);
    },
    lost(workspaceId) {
      for (const { instance } of watching(workspaceId)) countDropped(instance, workspaceId, 1);
    },
  };
}
