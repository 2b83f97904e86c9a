import { type Interval, intervals, windowOf } from '../../base/windows.ts';
import type { LimitedWindow } from '../ledger/ledger.ts';
import type { HoldScope } from './spending.ts';

/** The account of a workspace; with `:byok` behind it, what went through its own credentials. */
export const workspaceAccount = 'workspace';

/** As `workspaceAccount`, of one api key. */
export function keyAccount(hash: string): string {
  return `key:${hash}`;
}

export type Windows = Record<Interval, { startMs: number; endMs: number | null }>;

export const dayMs = 86_400_000;

/** The windows of all intervals at an instant. */
export function windowsAt(atMs: number): Windows {
  return Object.fromEntries(intervals.map((interval) => [interval, windowOf(interval, atMs)])) as Windows;
}

/** As `windowsAt`, which it asks once a day: they change at midnight, none of them in between. */
export function rememberWindows(): (atMs: number) => Windows {
  let [day, windows] = [0, windowsAt(0)];
  return (atMs) => {
    const now = Math.floor(atMs / dayMs);
    if (now !== day) [day, windows] = [now, windowsAt(atMs)];
    return windows;
  };
}

/** A set of intervals, a bit each. */
export type IntervalSet = number;

export function bitOf(interval: Interval): IntervalSet {
  return 1 << intervals.indexOf(interval);
}

/** Where the money of a scope is held, and the intervals of its two accounts that this leaves nothing to count for. */
export interface Limited {
  windows: LimitedWindow[];
  ofWorkspace: IntervalSet;
  ofKey: IntervalSet;
}

/** @throws Error for a limit of no key: it must not pass for none */
export function limitedIn({ budgets, keyLimit, apiKeyHash, isFurther }: HoldScope, at: Windows): Limited {
  const limited: Limited = { windows: [], ofWorkspace: 0, ofKey: 0 };
  if (!isFurther) {
    for (const { interval, limitNanoUsd } of budgets) {
      limited.windows.push({ account: workspaceAccount, interval, ...at[interval], limitNanoUsd });
      limited.ofWorkspace |= bitOf(interval);
    }
  }
  if (keyLimit) {
    if (apiKeyHash === null) throw new Error('A limit of an api key needs the hash of the key');
    const { interval, limitNanoUsd } = keyLimit;
    limited.windows.push({ account: keyAccount(apiKeyHash), interval, ...at[interval], limitNanoUsd });
    limited.ofKey = bitOf(interval);
  }
  return limited;
}
