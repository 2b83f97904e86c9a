import type { Clock } from '../../base/clock.ts';
import type { WorkspaceId } from '../../call/workspace.ts';
import type { RecordSettings } from '../../schema/record-settings.ts';
import type { RequestRecord } from '../record.ts';
import { generationOf } from './generation-of.ts';
import type { TailMail, WatchedInstance } from './tail-mail.ts';

/**
 * Sends the records of this instance to those that clients watch. While nobody watches, that is one read of the store
 * for each time that records are written.
 */
export interface TailSender {
  /** Sends records of one workspace that were written. Never rejects: what was not sent is counted. */
  send(workspaceId: WorkspaceId, records: readonly RequestRecord[]): Promise<void>;
  /** A record of a workspace was dropped before it was written. */
  lost(workspaceId: string): void;
}

export function createTailSender(mail: TailMail, clock: Clock, { flushMs }: RecordSettings): TailSender {
  let others: readonly WatchedInstance[] = [];
  let readAtMs = Number.NEGATIVE_INFINITY;
  /** By watched instance and workspace: what the next mail tells of. */
  const dropped = new Map<string, Map<string, number>>();

  async function readOthers(): Promise<void> {
    const nowMs = clock.now();
    if (nowMs - readAtMs < flushMs) return;
    others = await mail.others(nowMs);
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
      // Where the store does not respond: with the next records, those who watch are told how many they have missed.
      await readOthers().catch(() => undefined);
      for (const { instance } of watching(workspaceId))
        await sendTo(instance, workspaceId, records).catch(() => undefined);
    },
    lost(workspaceId) {
      for (const { instance } of watching(workspaceId)) countDropped(instance, workspaceId, 1);
    },
  };
}
