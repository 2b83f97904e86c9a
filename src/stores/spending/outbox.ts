import type { Clock } from '../../base/clock.ts';
import type { WorkspaceId } from '../../call/workspace.ts';
import { wasNotSent } from '../storage/circuit.ts';
import { type StoreLogger, writeLog } from '../storage/logger.ts';
import { nameOfError } from '../storage/outage.ts';

/** Something the store has to hear of. Told again until it is taken, so that it must do nothing twice. */
export interface OutboxEntry {
  workspaceId: WorkspaceId;
  /** `release` may be lost where there are too many: its hold then expires. */
  kind: 'settlement' | 'release' | 'addition';
  /**
   * Without a promise: it was taken at once.
   * @param isRepeat  it was sent before, with unknown outcome
   */
  send(isRepeat: boolean): void | Promise<void>;
  /** It was taken, or given up. */
  end?(isTaken: boolean): void;
}

/** Brings what must reach the store there, however long that takes. */
export interface Outbox {
  /**
   * Sends at once, and again later where that fails.
   * @returns when it was sent once, whatever came of it; without a promise where it was taken at once. Never rejects
   */
  deliver(outboxEntry: OutboxEntry): void | Promise<void>;
  /** When all that is on its way for a workspace has arrived or failed; null: nothing is. Never rejects. */
  inFlight(workspaceId: WorkspaceId): Promise<unknown> | null;
  /** The store has just answered: what waits is sent now. */
  wake(): void;
  /** Gives up what waits for a workspace. */
  forget(workspaceId: WorkspaceId): void;
  /**
   * Waits until nothing is left, but not for long. What comes later is sent once. Never rejects.
   * @param noMore  when nothing more is to come; null: nothing is
   */
  drain(limitMs: number, noMore: Promise<void> | null): Promise<void>;
}

export interface OutboxDeps {
  clock: Clock;
  /** In [0, 1). */
  random: () => number;
  logger: StoreLogger | null;
  /** For how long something is sent again. */
  giveUpMs: number;
}

interface Item {
  outboxEntry: OutboxEntry;
  sinceMs: number;
  wasSent: boolean;
}

/** Of each kind of queue. Holds fail while the store is away, so that few settlements come: as many as calls were in flight. */
const maxWaiting = 100_000;
/** How many are sent at once when the store is back. */
const width = 16;
const firstCooldownMs = 100;
const longestCooldownMs = 30_000;
/** An answer to others wakes what waits no sooner than this after a failure: it may fail for a reason of its own. */
const wakeAfterMs = 1_000;

export function createOutbox({ clock, random, logger, giveUpMs }: OutboxDeps): Outbox {
  // Sets keep the order of coming and lose one from the middle at no cost. Releases are the last to be sent.
  const waiting = new Set<Item>();
  const releases = new Set<Item>();
  const onTheirWay = new Map<WorkspaceId, Set<Promise<void>>>();
  let sending = 0;
  let repeating = 0;
  /** How often in a row something that waited was not taken. */
  let failures = 0;
  let failedAtMs = 0;
  let cancelRest: (() => void) | null = null;
  let isClosed = false;
  let onEmpty: (() => void) | null = null;

  const countWaiting = () => waiting.size + releases.size;

  function attempt(item: Item): void | Promise<void> {
    let sent: void | Promise<void>;
    try {
      sent = item.outboxEntry.send(item.wasSent);
    } catch (error) {
      sent = Promise.reject(error);
    }
    if (sent instanceof Promise) return follow(item, sent);
    item.outboxEntry.end?.(true);
    if (sending + countWaiting() === 0) onEmpty?.();
  }

  /** Until it has arrived or failed. */
  function follow(item: Item, sent: Promise<void>): Promise<void> {
    const { workspaceId } = item.outboxEntry;
    sending++;
    const arrived = () => {
      sending--;
      const others = onTheirWay.get(workspaceId);
      others?.delete(attempted);
      if (others?.size === 0) onTheirWay.delete(workspaceId);
      if (sending + countWaiting() === 0) onEmpty?.();
    };
    const attempted = sent.then(
      () => {
        item.outboxEntry.end?.(true);
        arrived();
      },
      (error: unknown) => {
        item.wasSent ||= !wasNotSent(error);
        fail(item, error);
        arrived();
      },
    );
    const others = onTheirWay.get(workspaceId);
    if (others) others.add(attempted);
    else onTheirWay.set(workspaceId, new Set([attempted]));
    return attempted;
  }

  function fail(item: Item, error: unknown): void {
    const { kind } = item.outboxEntry;
    failedAtMs = clock.now();
    if (isClosed || failedAtMs - item.sinceMs >= giveUpMs) {
      giveUp([item], isClosed ? 'closed' : 'too old');
      return;
    }
    if (failures === 0) {
      writeLog(
        logger,
        'warn',
        { kind, error: nameOfError(error) },
        'the store did not take a booking; it is sent again until it does',
      );
    }
    enqueue(item);
    rest();
  }

  function enqueue(item: Item): void {
    const queue = item.outboxEntry.kind === 'release' ? releases : waiting;
    queue.add(item);
    if (queue.size <= maxWaiting) return;
    const [oldest] = queue;
    queue.delete(oldest as Item);
    giveUp([oldest as Item], 'too many');
  }

  function giveUp(items: Iterable<Item>, reason: string): void {
    for (const { outboxEntry } of items) {
      const { kind, workspaceId } = outboxEntry;
      writeLog(logger, 'warn', { kind, workspaceId, reason }, 'a booking was given up: the store has not taken it');
      outboxEntry.end?.(false);
    }
  }

  /** Until the store may be back. */
  function rest(): void {
    if (cancelRest !== null) return;
    const cooldownMs = Math.min(longestCooldownMs, firstCooldownMs * 2 ** Math.min(failures++, 20));
    cancelRest = clock.after(cooldownMs * (0.5 + random() / 2), () => {
      cancelRest = null;
      pump();
    });
  }

  /** One to see whether the store is back, then many. */
  function pump(): void {
    for (const queue of [waiting, releases]) {
      for (const item of queue) {
        if (cancelRest !== null || repeating >= (failures > 0 ? 1 : width)) return;
        queue.delete(item);
        repeat(item);
      }
    }
  }

  async function repeat(item: Item): Promise<void> {
    repeating++;
    await attempt(item);
    repeating--;
    if (cancelRest !== null) return;
    if (failures > 0) writeLog(logger, 'info', { waiting: countWaiting() }, 'the store takes bookings again');
    failures = 0;
    pump();
  }

  function wake(): void {
    if (cancelRest === null || clock.now() - failedAtMs < wakeAfterMs) return;
    cancelRest();
    cancelRest = null;
    pump();
  }

  return {
    deliver: (outboxEntry) => attempt({ outboxEntry, sinceMs: clock.now(), wasSent: false }),
    inFlight(workspaceId) {
      const promises = onTheirWay.get(workspaceId);
      return promises ? Promise.all(promises) : null;
    },
    wake,
    forget(workspaceId) {
      for (const queue of [waiting, releases]) {
        for (const item of queue) {
          if (item.outboxEntry.workspaceId !== workspaceId) continue;
          queue.delete(item);
          item.outboxEntry.end?.(false);
        }
      }
    },
    async drain(limitMs, noMore) {
      if (sending + countWaiting() > 0 || noMore) {
        cancelRest?.();
        cancelRest = null;
        await new Promise<void>((resolve) => {
          const cancel = clock.after(limitMs, resolve);
          let mayCome = noMore !== null;
          onEmpty = () => {
            if (mayCome || sending + countWaiting() > 0) return;
            cancel();
            resolve();
          };
          void noMore?.then(() => {
            mayCome = false;
            onEmpty?.();
          });
          pump();
        });
        onEmpty = null;
      }
      isClosed = true;
      cancelRest?.();
      cancelRest = null;
      const left = [...waiting, ...releases];
      waiting.clear();
      releases.clear();
      giveUp(left, 'closed');
    },
  };
}
