import type { WorkspaceId } from '../../call/workspace.ts';
import {
  type Draw,
  type DrawOutcome,
  type EndOutcome,
  expireBatch,
  type HoldOutcome,
  type HoldRequest,
  keepEndedMs,
  keepWindowsMs,
  type Ledger,
  type LedgerOptions,
  type RequestSteps,
  type SpendingWindow,
  type WindowState,
} from './ledger.ts';

/** The money of a window. */
export interface Sum extends WindowState {
  readonly key: string;
  /** null: the window is never dropped. */
  endMs: number | null;
}

export interface LiveHold {
  amountNanoUsd: number;
  sums: readonly Sum[];
  leaseUntilMs: number;
}

interface Expired {
  chargedNanoUsd: number;
  sums: readonly Sum[];
  atMs: number;
}

/** The changes since the books were last written elsewhere. */
export interface Changes {
  sums: Set<Sum>;
  /** The ids of holds that were made or have ended. */
  holds: Set<string>;
}

/** The money of one workspace. */
export interface Books {
  sums: Map<string, Sum>;
  holds: Map<string, LiveHold>;
  /** The expired holds, in order of expiry. */
  expired: Map<string, Expired>;
  /** The ids of releases and additions, with their times; in order of arrival. */
  seen: Map<string, number>;
  /** The earliest time at which a lease may end. */
  nextExpiryMs: number;
  /** The time of the next search for old windows. */
  nextSweepMs: number;
  /** null: nobody writes the books elsewhere. */
  changes: Changes | null;
}

const sweepMs = 3_600_000;

/**
 * The most ids that are remembered, even if they are less than a day old: so many releases and additions per workspace,
 * and so many settlements in all. In one process, a later message overtakes an earlier one by at most a turn of the
 * event loop. A longer memory only serves a caller that repeats a call.
 */
export const maxSeen = 10_000;

/** A ledger within one process. Every step is synchronous and therefore atomic. New entries push out old ones. */
export function memoryLedger(options: LedgerOptions): Ledger {
  const { ledger, steps } = createLedger(options, false);
  local.set(ledger, steps);
  return ledger;
}

/**
 * The same ledger for a caller that writes the books elsewhere. A method has taken its step when it returns its
 * promise.
 * @returns `booksOf`: the books of a workspace, which collect their changes
 */
export function openBooks(options: LedgerOptions): { ledger: Ledger; booksOf(workspaceId: WorkspaceId): Books } {
  const { ledger, booksOf } = createLedger(options, true);
  return { ledger, booksOf };
}

function createLedger({ onLostHold, now = Date.now }: LedgerOptions, keepsChanges: boolean) {
  const workspaces = new Map<string, Books>();
  /**
   * The ids of settled holds with their workspaces. One map for all workspaces, so that the number of ids has a limit.
   */
  let settled = new Map<string, WorkspaceId>();
  let settledBefore = settled;
  const wasSettled = (id: string, workspaceId: WorkspaceId) =>
    (settled.get(id) ?? settledBefore.get(id)) === workspaceId;

  function open(workspaceId: WorkspaceId): Books {
    let books = workspaces.get(workspaceId);
    if (!books) {
      books = {
        sums: new Map(),
        holds: new Map(),
        expired: new Map(),
        seen: new Map(),
        nextExpiryMs: Number.POSITIVE_INFINITY,
        nextSweepMs: 0,
        changes: keepsChanges ? { sums: new Set(), holds: new Set() } : null,
      };
      workspaces.set(workspaceId, books);
    }
    return books;
  }

  /** @returns the number of holds that have expired */
  function expire(books: Books, nowMs: number): number {
    if (books.expired.size > 0) dropOld(books.expired, ({ atMs }) => atMs + keepEndedMs <= nowMs);
    if (nowMs < books.nextExpiryMs) return 0;
    let expired = 0;
    books.nextExpiryMs = Number.POSITIVE_INFINITY;
    for (const [id, { amountNanoUsd, sums, leaseUntilMs }] of books.holds) {
      if (leaseUntilMs > nowMs || expired === expireBatch) {
        books.nextExpiryMs = Math.min(books.nextExpiryMs, leaseUntilMs);
        continue;
      }
      const chargedNanoUsd = onLostHold === 'charge' ? amountNanoUsd : 0;
      book(books, sums, chargedNanoUsd, -amountNanoUsd);
      books.holds.delete(id);
      books.changes?.holds.add(id);
      books.expired.set(id, { chargedNanoUsd, sums, atMs: nowMs });
      expired++;
    }
    return expired;
  }

  function hold(books: Books, { id, workspaceId, amountNanoUsd, windows, leaseMs }: HoldRequest): boolean {
    const nowMs = now();
    expire(books, nowMs);
    if (books.holds.has(id)) return true;
    if (books.expired.has(id) || books.seen.has(id) || wasSettled(id, workspaceId)) return false;
    for (const window of windows) {
      const { spentNanoUsd, heldNanoUsd } = books.sums.get(keyOf(window)) ?? zero;
      // Subtracted one by one: their sum might exceed the largest safe integer.
      if (amountNanoUsd > window.limitNanoUsd - spentNanoUsd - heldNanoUsd) return false;
    }
    const sums = windows.map((window) => sumOf(books, window, nowMs));
    book(books, sums, 0, amountNanoUsd);
    const leaseUntilMs = nowMs + leaseMs;
    books.holds.set(id, { amountNanoUsd, sums, leaseUntilMs });
    books.changes?.holds.add(id);
    books.nextExpiryMs = Math.min(books.nextExpiryMs, leaseUntilMs);
    return true;
  }

  /** Ends a hold, or replaces the charge of an expired one. */
  function end(books: Books, workspaceId: WorkspaceId, id: string, actualNanoUsd: number): EndOutcome {
    const held = books.holds.get(id);
    if (held) {
      books.holds.delete(id);
      books.changes?.holds.add(id);
      book(books, held.sums, actualNanoUsd, -held.amountNanoUsd);
      return 'ended';
    }
    const expired = books.expired.get(id);
    if (!expired) return books.seen.has(id) || wasSettled(id, workspaceId) ? 'repeated' : 'unknown';
    books.expired.delete(id);
    book(books, expired.sums, actualNanoUsd - expired.chargedNanoUsd, 0);
    return 'late';
  }

  function draw(books: Books, workspaceId: WorkspaceId, { id, ...drawn }: Draw): DrawOutcome {
    const { fromNanoUsd, toNanoUsd, spentNanoUsd, isLate = false } = drawn;
    const held = books.holds.get(id);
    if (held) {
      const { amountNanoUsd } = held;
      if (amountNanoUsd < fromNanoUsd) return 'repeated';
      book(books, held.sums, spentNanoUsd + amountNanoUsd - fromNanoUsd, toNanoUsd - amountNanoUsd);
      held.amountNanoUsd = toNanoUsd;
      books.changes?.holds.add(id);
      return 'drawn';
    }
    const expired = books.expired.get(id);
    if (!expired) return books.seen.has(id) || wasSettled(id, workspaceId) ? 'repeated' : 'unknown';
    if (expired.chargedNanoUsd < fromNanoUsd) return 'repeated';
    if (!isLate) return 'late';
    book(books, expired.sums, spentNanoUsd + toNanoUsd - fromNanoUsd, 0);
    expired.chargedNanoUsd = toNanoUsd;
    return 'late';
  }

  function expiredBooks(workspaceId: WorkspaceId): Books {
    const books = open(workspaceId);
    expire(books, now());
    return books;
  }

  const steps: RequestSteps = {
    hold(request) {
      const books = open(request.workspaceId);
      return hold(books, request) ? isHeld : { isHeld: false, states: statesOf(books, request.windows) };
    },
    settle(workspaceId, id, actualNanoUsd) {
      const outcome = end(open(workspaceId), workspaceId, id, actualNanoUsd);
      if (outcome !== 'unknown' && outcome !== 'repeated') {
        // Dropping the first of a Map again and again is slow.
        if (settled.size >= maxSeen / 2) [settledBefore, settled] = [settled, new Map()];
        settled.set(id, workspaceId);
      }
      return outcome;
    },
  };

  const ledger: Ledger = {
    hold: async (request) => steps.hold(request),
    settle: async (...settlement) => steps.settle(...settlement),
    async release(workspaceId, id) {
      const books = open(workspaceId);
      const outcome = end(books, workspaceId, id, 0);
      see(books, id, now());
      return outcome;
    },
    async draw(workspaceId, drawn) {
      return draw(open(workspaceId), workspaceId, drawn);
    },
    async renew(workspaceId, ids, leaseMs) {
      const books = open(workspaceId);
      const leaseUntilMs = now() + leaseMs;
      for (const id of ids) {
        const held = books.holds.get(id);
        if (held) held.leaseUntilMs = Math.max(held.leaseUntilMs, leaseUntilMs);
      }
    },
    async expire(workspaceId) {
      return expire(open(workspaceId), now());
    },
    async lost(workspaceId, sinceMs) {
      const { expired } = expiredBooks(workspaceId);
      return [...expired]
        .filter(([, { atMs }]) => atMs >= sinceMs)
        .map(([id, { chargedNanoUsd, atMs }]) => ({ id, chargedNanoUsd, expiredAtMs: atMs }));
    },
    async add(workspaceId, id, additions) {
      const books = open(workspaceId);
      const key = `add:${id}`;
      if (books.seen.has(key)) return;
      const nowMs = now();
      see(books, key, nowMs);
      for (const { window, nanoUsd } of additions) book(books, [sumOf(books, window, nowMs)], nanoUsd, 0);
    },
    async read(workspaceId, windows) {
      return statesOf(expiredBooks(workspaceId), windows);
    },
    async forget(workspaceId) {
      workspaces.delete(workspaceId);
    },
  };
  return { ledger, steps, booksOf: open };
}

/** Not a property of the ledger: code that wraps a ledger must see all calls to it, so a wrapper has no entry. */
const local = new WeakMap<Ledger, RequestSteps>();

/** The steps that every request needs. They return no promises for a ledger that `memoryLedger` made. */
export function requestSteps(ledger: Ledger): RequestSteps {
  return local.get(ledger) ?? ledger;
}

const zero: WindowState = { spentNanoUsd: 0, heldNanoUsd: 0 };
const isHeld: HoldOutcome = { isHeld: true };

/** All requests with the same limit share its window objects, so the key of each is made once. */
const keys = new WeakMap<SpendingWindow, string>();

function keyOf(window: SpendingWindow): string {
  let key = keys.get(window);
  if (key === undefined) {
    key = `${window.interval} ${window.startMs} ${window.account}`;
    keys.set(window, key);
  }
  return key;
}

function sumOf(books: Books, window: SpendingWindow, nowMs: number): Sum {
  const key = keyOf(window);
  let sum = books.sums.get(key);
  if (!sum) {
    // The number of windows only grows when a window is new.
    if (nowMs >= books.nextSweepMs) sweep(books, nowMs);
    sum = { key, ...zero, endMs: window.endMs };
    books.sums.set(key, sum);
  }
  return sum;
}

function sweep(books: Books, nowMs: number): void {
  books.nextSweepMs = nowMs + sweepMs;
  for (const [key, { endMs, heldNanoUsd }] of books.sums) {
    if (endMs !== null && endMs + keepWindowsMs <= nowMs && heldNanoUsd === 0) books.sums.delete(key);
  }
}

function book({ changes }: Books, sums: readonly Sum[], spentNanoUsd: number, heldNanoUsd: number): void {
  for (const sum of sums) {
    sum.spentNanoUsd += spentNanoUsd;
    sum.heldNanoUsd += heldNanoUsd;
    changes?.sums.add(sum);
  }
}

function statesOf({ sums }: Books, windows: readonly SpendingWindow[]): WindowState[] {
  return windows.map((window) => {
    const { spentNanoUsd, heldNanoUsd } = sums.get(keyOf(window)) ?? zero;
    return { spentNanoUsd, heldNanoUsd };
  });
}

function see({ seen }: Books, id: string, nowMs: number): void {
  seen.delete(id);
  seen.set(id, nowMs);
  dropOld(seen, (atMs) => atMs + keepEndedMs <= nowMs || seen.size > maxSeen);
}

/** Drops old entries from the front, until one is not old. */
function dropOld<T>(inOrder: Map<string, T>, isOld: (value: T) => boolean): void {
  for (const [id, value] of inOrder) {
    if (!isOld(value)) return;
    inOrder.delete(id);
  }
}
