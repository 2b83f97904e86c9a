import type { Ledger } from '../../src/stores/ledger/ledger.ts';

/** The ends of a call: what the ledger is asked, and when that is by the clock of its store. */
type At<Method extends (...args: never[]) => unknown> = (
  ...args: [...Parameters<Method>, nowMs: number]
) => ReturnType<Method>;

/** A ledger of which each call says at which instant it is made. */
export interface TimedLedger {
  hold(
    request: Omit<Parameters<Ledger['hold']>[0], 'leaseMs'> & { nowMs: number; leaseUntilMs: number },
  ): ReturnType<Ledger['hold']>;
  settle: At<Ledger['settle']>;
  release: At<Ledger['release']>;
  draw: At<NonNullable<Ledger['draw']>>;
  renew(workspaceId: Parameters<Ledger['renew']>[0], ids: readonly string[], leaseUntilMs: number): Promise<void>;
  expire: At<Ledger['expire']>;
  lost: At<NonNullable<Ledger['lost']>>;
  add: At<Ledger['add']>;
  read: At<Ledger['read']>;
  forget: Ledger['forget'];
}

/** The clock of a store, which stands still, and ledgers that set it with each call. */
export interface StoreClock {
  now(): number;
  timed(ledger: Ledger): TimedLedger;
}

export function storeClock(startMs: number): StoreClock {
  let now = startMs;
  const at = (nowMs: number) => {
    now = nowMs;
  };
  return {
    now: () => now,
    timed: (ledger) => ({
      hold({ nowMs, leaseUntilMs, ...request }) {
        at(nowMs);
        return ledger.hold({ ...request, leaseMs: leaseUntilMs - nowMs });
      },
      settle(workspaceId, id, actualNanoUsd, nowMs) {
        at(nowMs);
        return ledger.settle(workspaceId, id, actualNanoUsd);
      },
      release(workspaceId, id, nowMs) {
        at(nowMs);
        return ledger.release(workspaceId, id);
      },
      async draw(workspaceId, drawn, nowMs) {
        at(nowMs);
        return (await ledger.draw?.(workspaceId, drawn)) ?? 'unknown';
      },
      renew: (workspaceId, ids, leaseUntilMs) => ledger.renew(workspaceId, ids, leaseUntilMs - now),
      expire(workspaceId, nowMs) {
        at(nowMs);
        return ledger.expire(workspaceId);
      },
      async lost(workspaceId, sinceMs, nowMs) {
        at(nowMs);
        return (await ledger.lost?.(workspaceId, sinceMs)) ?? [];
      },
      add(workspaceId, id, additions, nowMs) {
        at(nowMs);
        return ledger.add(workspaceId, id, additions);
      },
      read(workspaceId, windows, nowMs) {
        at(nowMs);
        return ledger.read(workspaceId, windows);
      },
      forget: (workspaceId) => ledger.forget(workspaceId),
    }),
  };
}
