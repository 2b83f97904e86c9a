import type { WorkspaceId } from '../../call/workspace.ts';
import { type Bucket, emptyAtMs, fits, leaked, taken, withTokens } from './bucket.ts';
import {
  type AdmitOutcome,
  type AdmitRequest,
  type CallEnding,
  countsCalls,
  expireBatch,
  type LimitedAccount,
  type LocalRates,
  placeOf,
  type Rates,
} from './rates.ts';

interface Counted {
  bucket: Bucket;
  /** The time at which the bucket is empty, epoch ms. */
  emptyAtMs: number;
}

interface Workspace {
  accounts: Map<string, Counted>;
  /** By place: the account of the call, and the end of its lease. */
  calls: Map<string, { account: string; leaseUntilMs: number }>;
  /** The earliest time at which a lease may end. */
  nextExpiryMs: number;
}

/** The number of accounts that are checked for each new one, so that unused accounts do not pile up. */
const sweepBatch = 20;

/** Counts within one process. Every step is synchronous and therefore atomic. */
export function memoryRates(): Rates {
  const workspaces = new Map<WorkspaceId, Workspace>();

  function open(id: WorkspaceId): Workspace {
    let workspace = workspaces.get(id);
    if (!workspace) {
      workspace = { accounts: new Map(), calls: new Map(), nextExpiryMs: Number.POSITIVE_INFINITY };
      workspaces.set(id, workspace);
    }
    return workspace;
  }

  function expire(workspace: Workspace, nowMs: number): void {
    if (nowMs < workspace.nextExpiryMs) return;
    let expired = 0;
    workspace.nextExpiryMs = Number.POSITIVE_INFINITY;
    for (const [place, { account, leaseUntilMs }] of workspace.calls) {
      if (leaseUntilMs > nowMs || expired === expireBatch) {
        workspace.nextExpiryMs = Math.min(workspace.nextExpiryMs, leaseUntilMs);
        continue;
      }
      workspace.calls.delete(place);
      const counted = workspace.accounts.get(account);
      if (counted) counted.bucket.inFlight--;
      expired++;
    }
  }

  function bucketOf({ accounts }: Workspace, limited: LimitedAccount, nowMs: number): Bucket {
    const counted = accounts.get(limited.account);
    return leaked(counted?.bucket ?? { requests: 0, tokens: 0, inFlight: 0, atMs: Math.floor(nowMs) }, limited, nowMs);
  }

  function write(workspace: Workspace, limited: LimitedAccount, bucket: Bucket): void {
    const { accounts } = workspace;
    if (!accounts.has(limited.account)) sweep(accounts, bucket.atMs);
    accounts.set(limited.account, { bucket, emptyAtMs: emptyAtMs(bucket, limited) });
  }

  function admit({ id, workspaceId, accounts, nowMs, leaseMs, ...taking }: AdmitRequest): AdmitOutcome {
    const now = inProcess(nowMs);
    const workspace = open(workspaceId);
    expire(workspace, now);
    const buckets = accounts.map((limited) => bucketOf(workspace, limited, now));
    if (!buckets.every((bucket, at) => fits(bucket, accounts[at] as LimitedAccount, taking)))
      return { isAdmitted: false, states: buckets };
    const states = buckets.map((before, at) => {
      const limited = accounts[at] as LimitedAccount;
      const bucket = taken(before, limited, taking);
      if (!taking.isFurther && countsCalls(limited)) {
        bucket.inFlight++;
        const leaseUntilMs = now + leaseMs;
        workspace.calls.set(placeOf(limited, id), { account: limited.account, leaseUntilMs });
        workspace.nextExpiryMs = Math.min(workspace.nextExpiryMs, leaseUntilMs);
      }
      write(workspace, limited, bucket);
      return { ...bucket };
    });
    return { isAdmitted: true, states };
  }

  function end({ id, workspaceId, accounts, moreTokens, nowMs }: CallEnding): void {
    const now = inProcess(nowMs);
    const workspace = workspaces.get(workspaceId);
    if (!workspace) return;
    expire(workspace, now);
    for (const limited of accounts) {
      if (!workspace.calls.delete(placeOf(limited, id))) continue;
      const bucket = bucketOf(workspace, limited, now);
      bucket.inFlight--;
      if (limited.tokensPerMinute !== null) bucket.tokens = withTokens(bucket.tokens, moreTokens);
      write(workspace, limited, bucket);
    }
  }

  const rates: Rates = {
    hasClock: false,
    admit: async (request) => admit(request),
    end: async (ending) => end(ending),
    async renew(workspaceId, places, nowMs, leaseMs) {
      const workspace = open(workspaceId);
      const now = inProcess(nowMs);
      for (const place of places) {
        const call = workspace.calls.get(place);
        if (call && call.leaseUntilMs > now) call.leaseUntilMs = Math.max(call.leaseUntilMs, now + leaseMs);
      }
    },
    async read(workspaceId, accounts, nowMs) {
      const now = inProcess(nowMs);
      const workspace = open(workspaceId);
      const lost = [...workspace.calls.values()].filter(({ leaseUntilMs }) => leaseUntilMs <= now);
      return accounts.map((limited) => {
        const bucket = bucketOf(workspace, limited, now);
        return {
          ...bucket,
          inFlight: bucket.inFlight - lost.filter(({ account }) => account === limited.account).length,
        };
      });
    },
    async forget(workspaceId) {
      workspaces.delete(workspaceId);
    },
  };
  local.set(rates, { admit, end });
  return rates;
}

/** Not a property of the object: code that wraps it must see all calls, so a wrapper has no entry. */
const local = new WeakMap<Rates, LocalRates>();

/** The steps without promises, for an object that `memoryRates` made; null for all others. */
export function localRates(rates: Rates): LocalRates | null {
  return local.get(rates) ?? null;
}

/** Rounds the time down to whole ms. @throws TypeError for null: only a store with a clock could know the time */
export function inProcess(nowMs: number | null): number {
  if (nowMs === null) throw new TypeError('This store has no clock: the time must be given');
  return Math.floor(nowMs);
}

/** Drops the oldest accounts that are not in use. An account in use moves to the end. */
function sweep(accounts: Map<string, Counted>, nowMs: number): void {
  let looked = 0;
  for (const [account, counted] of accounts) {
    if (looked++ === sweepBatch) return;
    accounts.delete(account);
    if (counted.bucket.inFlight > 0 || counted.emptyAtMs > nowMs) accounts.set(account, counted);
  }
}
