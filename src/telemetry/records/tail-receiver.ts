import type { Clock } from '../../base/clock.ts';
import type { RecordSettings } from '../../schema/settings/records.ts';
import type { LiveTail } from './live-tail.ts';
import type { TailMail } from './tail-mail.ts';

/** Shows the records of other instances to the clients that watch this one. */
export interface TailReceiver {
  /** Notes that a client has begun to watch. */
  watching(): void;
  close(): Promise<void>;
}

/** The time for which a note that an instance is watched holds. */
const leaseMs = 30_000;
const renewMs = 10_000;

export function createTailReceiver(
  mail: TailMail,
  tail: LiveTail,
  clock: Clock,
  { flushMs, tailLength }: RecordSettings,
): TailReceiver {
  let registered: { text: string; untilMs: number } | null = null;
  /** The ids of mails that were shown, and perhaps not removed from the mailbox yet. */
  const shown = new Set<string>();
  let polling: Promise<void> | null = null;
  let cancel: (() => void) | null = null;
  let isClosed = false;

  async function register(workspaceIds: string[] | null): Promise<void> {
    const text = JSON.stringify(workspaceIds);
    const nowMs = clock.now();
    if (registered?.text === text && registered.untilMs - nowMs > leaseMs - renewMs) return;
    const untilMs = nowMs + leaseMs;
    await mail.register({ untilMs, workspaceIds });
    registered = { text, untilMs };
  }

  async function receive(): Promise<void> {
    const received = await mail.read();
    let count = 0;
    for (const { id, mail: read } of received) {
      if (read === null || shown.has(id)) continue;
      shown.add(id);
      const { workspaceId, dropped, generations } = read;
      if (dropped > 0) tail.missed(workspaceId, dropped);
      for (const generation of generations) {
        // A pause in a long batch: without it, even a fast client would miss the end of the batch.
        if (count++ >= tailLength / 2) {
          count = 1;
          await new Promise<void>((resolve) => void clock.after(0, resolve));
        }
        tail.publish(workspaceId, () => generation);
      }
    }
    await mail.remove(received.map(({ id }) => id));
    shown.clear();
  }

  async function poll(): Promise<void> {
    try {
      const watched = isClosed ? null : tail.watched();
      if (watched !== null) {
        await register(watched.workspaceIds);
        await receive();
      } else if (registered !== null) {
        await mail.unregister();
        registered = null;
      }
    } catch {
      // The store does not respond, and has logged that itself. Until it does, clients see only the records of this
      // instance.
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
      cancel = clock.after(flushMs, again, { isIdle: true });
    });
  }

  return {
    watching,
    async close() {
      isClosed = true;
      cancel?.();
      cancel = null;
      await polling;
      await poll();
    },
  };
}
