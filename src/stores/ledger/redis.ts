import { LRUCache } from 'lru-cache';
import type { WorkspaceId } from '../../call/workspace.ts';
import { batched } from '../batch.ts';
import { createScript, type RedisConnection } from '../storage/redis/connection.ts';
import {
  type DrawOutcome,
  type EndOutcome,
  type HoldRequest,
  keepWindowsMs,
  type Ledger,
  type LedgerOptions,
  type LimitedWindow,
  type LostHold,
  type SpendingWindow,
  type WindowState,
} from './ledger.ts';
import { ledgerKeys, ledgerScripts } from './redis-scripts.ts';

/** The most workspaces whose keys are remembered. */
const maxRemembered = 1_000;

/**
 * A ledger in Redis. Every step is one script on the server that has all data of the workspace. Holds that come while
 * others of the workspace are in flight share a script, and so do settlements. When a server fails over to a replica,
 * holds and amounts that were not copied yet are lost: Redis promises no more.
 */
export function redisLedger(redis: RedisConnection, { onLostHold, now }: LedgerOptions): Ledger {
  const scripts = mapValues(ledgerScripts, createScript);
  const isCharged = onLostHold === 'charge' ? '1' : '0';
  const time = now ? () => integer(Math.floor(now())) : () => '';

  const keys = new LRUCache<WorkspaceId, string[]>({
    max: maxRemembered,
    memoMethod: (workspaceId) => ledgerKeys.map((key) => redis.key(workspaceId, `ledger:${key}`)),
  });

  const run = (script: keyof typeof scripts, workspaceId: string, args: readonly string[]) =>
    redis.run(scripts[script], keys.memo(workspaceId as WorkspaceId), [JSON.stringify(args)]);

  // Holds have a line of their own, because a server with full memory refuses holds, but not settlements.
  const holds = batched<HoldRequest, unknown>({
    send: async (workspaceId, requests) =>
      (await run('hold', workspaceId, [time(), isCharged, ...holdArguments(requests)])) as unknown[],
    ...batches,
  });
  const settlements = batched<Settlement, unknown>({
    send: async (workspaceId, steps) => {
      const args = steps.flatMap(({ id, actualNanoUsd }) => [id, money(actualNanoUsd)]);
      return (await run('settle', workspaceId, [time(), ...args])) as unknown[];
    },
    ...batches,
  });

  return {
    async hold(request) {
      money(request.amountNanoUsd);
      const reply = await holds(request.workspaceId, request);
      return Array.isArray(reply) ? { isHeld: false, states: statesOf(reply) } : { isHeld: true };
    },
    async settle(workspaceId, id, actualNanoUsd) {
      money(actualNanoUsd);
      return String(await settlements(workspaceId, { id, actualNanoUsd })) as EndOutcome;
    },
    release: async (workspaceId, id) => String(await run('release', workspaceId, [time(), id])) as EndOutcome,
    async draw(workspaceId, { id, fromNanoUsd, toNanoUsd, spentNanoUsd, isLate }) {
      const amounts = [fromNanoUsd, toNanoUsd, spentNanoUsd].map(money);
      return String(await run('draw', workspaceId, [time(), id, ...amounts, isLate ? '1' : '0'])) as DrawOutcome;
    },
    async renew(workspaceId, ids, leaseMs) {
      if (ids.length > 0) await run('renew', workspaceId, [time(), duration(leaseMs), ...ids]);
    },
    expire: async (workspaceId) => Number(await run('expire', workspaceId, [time(), isCharged])),
    async lost(workspaceId, sinceMs) {
      const reply = await run('lost', workspaceId, [time(), isCharged, integer(Math.floor(sinceMs))]);
      return lostOf((reply as unknown[]).map(String));
    },
    async add(workspaceId, id, additions) {
      const sums = additions.flatMap(({ window, nanoUsd }) => [nameOf(window), integer(nanoUsd), dropAt(window)]);
      await run('add', workspaceId, [time(), id, ...sums]);
    },
    read: async (workspaceId, windows) =>
      statesOf(await run('read', workspaceId, [time(), isCharged, ...windows.map(nameOf)])),
    async forget(workspaceId) {
      await run('forget', workspaceId, []);
    },
  };
}

interface Settlement {
  id: string;
  actualNanoUsd: number;
}

const batches = {
  /** The server needs less than a millisecond for them. */
  maxSteps: 128,
  idOf: ({ id }: { id: string }) => id,
  /** true: the script has failed on the data that it read, and has written nothing. */
  isOfOneStep: (error: unknown) => error instanceof Error && /^(?:ERR|WRONGTYPE)\b/.test(error.message),
};

/**
 * The arguments of the script. Requests with the same limits share their list of windows, so most holds are in one
 * group.
 */
function holdArguments(requests: readonly HoldRequest[]): string[] {
  const groups = new Map<readonly LimitedWindow[], number>();
  const args: string[] = [];
  for (const { windows } of requests) {
    if (groups.has(windows)) continue;
    groups.set(windows, groups.size + 1);
    args.push(String(windows.length), ...windows.flatMap(limitOf));
  }
  for (const { id, amountNanoUsd, windows, leaseMs } of requests) {
    args.push(id, money(amountNanoUsd), duration(leaseMs), String(groups.get(windows)));
  }
  return [String(groups.size), ...args];
}

/** The name of a window. Names are listed one per line. */
function nameOf({ account, interval, startMs }: SpendingWindow): string {
  if (account.includes('\n')) throw new TypeError('The name of an account is one line');
  return `${interval}:${integer(startMs)}:${account}`;
}

/** All requests with the same limit share its window objects, so the arguments of each are made once. */
const limits = new WeakMap<LimitedWindow, readonly string[]>();

/** The name of a window, its limit, and the time to drop it. */
function limitOf(window: LimitedWindow): readonly string[] {
  let args = limits.get(window);
  if (args === undefined) {
    args = [nameOf(window), money(window.limitNanoUsd), dropAt(window)];
    limits.set(window, args);
  }
  return args;
}

function dropAt({ endMs }: SpendingWindow): string {
  return endMs === null ? '' : integer(endMs + keepWindowsMs);
}

/** A duration in whole ms, rounded down. */
function duration(ms: number): string {
  return integer(Math.floor(ms));
}

/**
 * Checks that a value is an integer. A script would fail on another value only after its first writes, and Redis does
 * not undo those.
 */
function integer(value: number): string {
  if (!Number.isSafeInteger(value)) throw new RangeError('Not an integer that is exact');
  return String(value);
}

function money(nanoUsd: number): string {
  if (nanoUsd < 0) throw new RangeError('Sums are not negative');
  return integer(nanoUsd);
}

/**
 * Reads window states. Each is the text `<spent> <held>`: some clients would round the largest integers of the
 * protocol.
 */
function statesOf(reply: unknown): WindowState[] {
  return (reply as unknown[]).map((text) => {
    const [spent, held] = String(text).split(' ');
    return { spentNanoUsd: Number(spent), heldNanoUsd: Number(held) };
  });
}

/** Reads lost holds: id, charged amount and time of each. */
function lostOf(reply: readonly string[]): LostHold[] {
  const lost: LostHold[] = [];
  for (let at = 0; at < reply.length; at += 3) {
    const [id, charged, expiredAt] = reply.slice(at, at + 3) as [string, string, string];
    lost.push({ id, chargedNanoUsd: Number(charged), expiredAtMs: Number(expiredAt) });
  }
  return lost;
}

function mapValues<K extends string, A, B>(values: Record<K, A>, change: (value: A) => B): Record<K, B> {
  return Object.fromEntries(Object.entries<A>(values).map(([key, value]) => [key, change(value)])) as Record<K, B>;
}
