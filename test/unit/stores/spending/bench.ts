import { GatewayError } from '../../../../src/base/errors.ts';
import type { Ids } from '../../../../src/base/ids.ts';
import { type Interval, intervals, windowOf } from '../../../../src/base/windows.ts';
import type { WorkspaceId } from '../../../../src/call/workspace.ts';
import type { Ledger } from '../../../../src/stores/ledger/ledger.ts';
import { memoryLedger } from '../../../../src/stores/ledger/memory.ts';
import { createSpending, type SpendingDeps } from '../../../../src/stores/spending/create-spending.ts';
import {
  type HoldScope,
  isRefusal,
  type Refusal,
  type Reservation,
  type ReservationOutcome,
  type Spending,
} from '../../../../src/stores/spending/spending.ts';
import { NotSentError } from '../../../../src/stores/storage/circuit.ts';
import { type ManualClock, manualClock, settle } from '../../../support/manual-clock.ts';

export const workspaceId = 'acme' as WorkspaceId;
/** A Wednesday noon. */
export const noonMs = Date.UTC(2026, 5, 17, 12);

type Method = keyof Ledger;
/** What becomes of a call: `run` makes it on the real ledger. */
export type Fault = (run: () => Promise<unknown>) => Promise<unknown>;

export const away: Fault = async () => {
  throw new GatewayError('unavailable', 'The store does not respond');
};
/** Nobody asked it: it has not answered for a while. */
export const notSent: Fault = async () => {
  throw new GatewayError('unavailable', 'The store does not respond', { cause: new NotSentError() });
};
/** It was done, but nobody learns of it. */
export const replyLost: Fault = async (run) => {
  await run();
  throw new GatewayError('unavailable', 'The store took too long');
};
/** It takes so long that it was given up, and is done all the same, later. */
export function late(clock: ManualClock, giveUpMs: number, doneMs: number): Fault {
  return (run) =>
    new Promise((_, reject) => {
      clock.after(giveUpMs, () => reject(new GatewayError('unavailable', 'The store took too long')));
      clock.after(doneMs, () => void run());
    });
}
export function slow(clock: ManualClock, ms: number): Fault {
  return async (run) => {
    await new Promise<void>((resolve) => clock.after(ms, resolve));
    return run();
  };
}

export interface Bench {
  /** As it is, but that a hold is always a promise. */
  spending: Omit<Spending, 'hold'> & { hold(...asked: Parameters<Spending['hold']>): Promise<ReservationOutcome> };
  clock: ManualClock;
  /** The real one, behind the faults. */
  ledger: Ledger;
  /** Each call that was made, with its arguments. */
  calls: { method: Method; args: readonly unknown[] }[];
  /** What becomes of calls, by method, until it is taken out. */
  faults: Partial<Record<Method, Fault>>;
  warnings: string[];
  countOf(method: Method): number;
  /** Holds, and sees that it is held. */
  held(amountNanoUsd: number, scope?: Partial<HoldScope>): Promise<Reservation>;
  refused(amountNanoUsd: number, scope?: Partial<HoldScope>): Promise<Refusal>;
  /** `[spent, held]` of a window at noon, as the ledger has it; nothing is expired for it. */
  state(account: string, interval: Interval, atMs?: number): Promise<[number, number]>;
  /** Another process on the same ledger, with other options where there are some. */
  another(options?: Partial<SpendingDeps>): Bench;
}

export function createBench(options: Partial<SpendingDeps> = {}): Bench {
  const { ledger, clock, peek } = memoryAtNoon();
  return onLedger(ledger, clock, peek, options);
}

/**
 * On a ledger in memory as a gateway has it: nothing stands between, so that no call is noted and there are no faults.
 */
export function createLocalBench(): Bench {
  const { ledger, clock, peek } = memoryAtNoon();
  return onLedger(ledger, clock, peek, { ledger });
}

function memoryAtNoon() {
  const clock = manualClock(noonMs);
  let isPeeking = false;
  // At the beginning of time no lease has run out.
  const ledger = memoryLedger({ onLostHold: 'charge', now: () => (isPeeking ? 0 : clock.now()) });
  const peek = async <T>(look: () => Promise<T>) => {
    isPeeking = true;
    const seen = look();
    isPeeking = false;
    return seen;
  };
  return { ledger, clock, peek };
}

type Peek = ReturnType<typeof memoryAtNoon>['peek'];

export function scopeOf(scope: Partial<HoldScope> = {}): HoldScope {
  return { workspaceId, apiKeyHash: null, keyLimit: null, budgets: [], atMs: noonMs, ...scope };
}

export const daily = (limitNanoUsd: number): Pick<HoldScope, 'budgets'> => ({
  budgets: [{ interval: 'daily', limitNanoUsd }],
});

function onLedger(ledger: Ledger, clock: ManualClock, peek: Peek, options: Partial<SpendingDeps>): Bench {
  const calls: Bench['calls'] = [];
  const faults: Bench['faults'] = {};
  const warnings: string[] = [];
  const methods = Object.keys(ledger) as Method[];
  const faulty = Object.fromEntries(
    methods.map((method) => [
      method,
      (...args: never[]) => {
        calls.push({ method, args });
        const run = () => (ledger[method] as (...args: never[]) => Promise<unknown>)(...args);
        return faults[method]?.(run) ?? run();
      },
    ]),
  ) as unknown as Ledger;
  const logger = { info() {}, warn: (_: object, message: string) => void warnings.push(message) };
  let count = 0;
  const ids: Ids = { uuid: () => `id-${++count}-${Math.random()}` };
  const spending = createSpending({ ledger: faulty, clock, ids, random: () => 0.5, logger, ...options });
  return {
    spending: { ...spending, hold: async (...asked) => spending.hold(...asked) },
    clock,
    ledger,
    calls,
    faults,
    warnings,
    countOf: (method) => calls.filter((call) => call.method === method).length,
    async held(amountNanoUsd, scope) {
      const held = await spending.hold(scopeOf(scope), amountNanoUsd);
      if (isRefusal(held)) throw new Error(`refused: ${held.error.message}`);
      return held;
    },
    async refused(amountNanoUsd, scope) {
      const held = await spending.hold(scopeOf(scope), amountNanoUsd);
      if (!isRefusal(held)) throw new Error('held, though it should have been refused');
      return held;
    },
    async state(account, interval, atMs = noonMs) {
      await settle();
      const windows = [{ account, interval, ...windowOf(interval, atMs) }];
      const [state] = await peek(() => ledger.read(workspaceId, windows));
      return [state!.spentNanoUsd, state!.heldNanoUsd];
    },
    another: (others = {}) => onLedger(ledger, clock, peek, { ...options, ...others }),
  };
}

/** Spent in all four windows of an account. */
export async function spentIn(bench: Bench, account: string, atMs?: number): Promise<Record<Interval, number>> {
  const spent = {} as Record<Interval, number>;
  for (const interval of intervals) spent[interval] = (await bench.state(account, interval, atMs))[0];
  return spent;
}

export const everywhere = (nanoUsd: number): Record<Interval, number> => ({
  daily: nanoUsd,
  weekly: nanoUsd,
  monthly: nanoUsd,
  lifetime: nanoUsd,
});
