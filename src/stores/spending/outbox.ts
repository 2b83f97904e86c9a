import type { Clock } from '../../base/clock.ts';
import type { WorkspaceId } from '../../call/workspace.ts';
import { type StoreLogger, writeLog } from '../storage/logger.ts';
import { nameOfError } from '../storage/outage.ts';

/**
 * A booking that must reach the store. The outbox sends it until the store accepts it, so a booking that is sent twice
 * must count once.
 */
export interface OutboxEntry {
  workspaceId: WorkspaceId;
  /** If too many entries wait, a `release` may be dropped: its hold then expires. */
  kind: 'settlement' | 'release' | 'addition';
  /** Returns no promise if the store accepted the booking at once. May be called again: it books once. */
  send(): void | Promise<void>;
  /**
   * false: an earlier booking has to arrive before. It is in the outbox too, and is sent again first. Default: none has.
   */
  isNext?(): boolean;
  /** Called when the store has accepted the booking, or when it was given up. */
  end?(isTaken: boolean): void;
}

/** Sends bookings to the store until the store accepts them, however long that takes. */
export interface Outbox {
  /**
   * Sends the entry at once, and again later if that fails.
   * @returns resolves after the first attempt, with success or not; no promise if the store accepted at once. Never
   *          rejects
   */
  deliver(outboxEntry: OutboxEntry): void | Promise<void>;
  /**
   * Resolves when all entries that are being sent for a workspace have arrived or failed; null: there are none. Never
   * rejects.
   */
  inFlight(workspaceId: WorkspaceId): Promise<unknown> | null;
  /** The same for all workspaces. */
  allInFlight(): Promise<unknown>;
  /** Entries that the store has not confirmed. */
  waiting(): number;
  /** To be called when the store has responded to another call: waiting entries are sent now, not after their pause. */
  wake(): void;
  /** Gives up the waiting entries of a workspace. */
  forget(workspaceId: WorkspaceId): void;
  /**
   * Waits until no entry is left, up to a limit. An entry that comes later is sent once. Never rejects.
   * @param noMore  resolves when no more entries will come; null: none will come
   */
  drain(limitMs: number, noMore: Promise<void> | null): Promise<void>;
}

export interface OutboxDeps {
  clock: Clock;
  /** In [0, 1). */
  random: () => number;
  logger: StoreLogger | null;
  /** The time in ms for which an entry is sent again. */
  giveUpMs: number;
}

interface Item {
  outboxEntry: OutboxEntry;
  sinceMs: number;
}

/**
 * The limit of each queue. While the store is away, holds fail, so few settlements come: at most one for each call in
 * flight.
 */
const maxWaiting = 100_000;
/** The number of entries that are sent at the same time when the store is back. */
const width = 16;
const firstPauseMs = 100;
/** Short: sums that wait here are missing in all reads after the store is back, and one attempt costs next to nothing. */
const longestPauseMs = 5_000;
/** The shortest time between a failure and `wake`: an entry may fail although the store responds to other calls. */
const wakeAfterMs = 1_000;

export function createOutbox({ clock, random, logger, giveUpMs }: OutboxDeps): Outbox {
  // Sets keep the order of arrival, and removing from the middle is cheap. Releases are sent last.
  const waiting = new Set<Item>();
  const releases = new Set<Item>();
  const onTheirWay = new Map<WorkspaceId, Set<Promise<void>>>();
  let sending = 0;
  let repeating = 0;
  /** The number of failed attempts in a row of waiting entries. */
  let failures = 0;
  let failedAtMs = 0;
  let cancelPause: (() => void) | null = null;
  let isClosed = false;
  let onEmpty: (() => void) | null = null;

  const countWaiting = () => waiting.size + releases.size;

  function attempt(item: Item): void | Promise<void> {
    let sent: void | Promise<void>;
    try {
      sent = item.outboxEntry.send();
    } catch (error) {
      sent = Promise.reject(error);
    }
    if (sent instanceof Promise) return follow(item, sent);
    item.outboxEntry.end?.(true);
    if (sending + countWaiting() === 0) onEmpty?.();
    else goOn();
  }

  /** Resolves when the entry has arrived or failed. */
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
        goOn();
      },
      (error: unknown) => {
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
    failedAtMs = clock.monotonic();
    if (isClosed || failedAtMs - item.sinceMs >= giveUpMs) {
      giveUp([item], isClosed ? 'closed' : 'too old');
      return;
    }
    if (failures === 0) {
      writeLog(
        logger,
        'warn',
        { kind, error: nameOfError(error) },
        'the store did not accept a booking; it is sent again until the store accepts it',
      );
    }
    enqueue(item);
    pause();
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
      writeLog(logger, 'warn', { kind, workspaceId, reason }, 'a booking was given up: the store has not accepted it');
      outboxEntry.end?.(false);
    }
  }

  /** Waits until the store may be back. */
  function pause(): void {
    if (cancelPause !== null) return;
    const pauseMs = Math.min(longestPauseMs, firstPauseMs * 2 ** Math.min(failures++, 20));
    cancelPause = clock.after(pauseMs * (0.5 + random() / 2), () => {
      cancelPause = null;
      pump();
    });
  }

  /** Sends one entry to find out whether the store is back, and then many. */
  function pump(): void {
    for (const queue of [waiting, releases]) {
      for (const item of queue) {
        if (cancelPause !== null || repeating >= (failures > 0 ? 1 : width)) return;
        // It would fail, and be a sign that the store is away.
        if (item.outboxEntry.isNext?.() === false) continue;
        queue.delete(item);
        repeat(item);
      }
    }
  }

  async function repeat(item: Item): Promise<void> {
    repeating++;
    await attempt(item);
    repeating--;
    if (cancelPause !== null) return;
    if (failures > 0) writeLog(logger, 'info', { waiting: countWaiting() }, 'the store accepts bookings again');
    failures = 0;
    pump();
  }

  function wake(): void {
    if (cancelPause === null || clock.monotonic() - failedAtMs < wakeAfterMs) return;
    cancelPause();
    cancelPause = null;
    pump();
  }

  /** After an entry has arrived, others may be next. */
  function goOn(): void {
    if (cancelPause === null) pump();
    else wake();
  }

  return {
    deliver: (outboxEntry) => attempt({ outboxEntry, sinceMs: clock.monotonic() }),
    inFlight(workspaceId) {
      const promises = onTheirWay.get(workspaceId);
      return promises ? Promise.all(promises) : null;
    },
    allInFlight: () => Promise.all([...onTheirWay.values()].flatMap((promises) => [...promises])),
    waiting: () => sending + countWaiting(),
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
        cancelPause?.();
        cancelPause = null;
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
      cancelPause?.();
      cancelPause = null;
      const left = [...waiting, ...releases];
      waiting.clear();
      releases.clear();
      giveUp(left, 'closed');
    },
  };
}
