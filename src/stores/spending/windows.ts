import { type Interval, intervals, windowOf } from '../../base/windows.ts';
import type { BudgetLimit, KeyLimit } from '../../call/call.ts';
import type { LimitedWindow } from '../ledger/ledger.ts';
import type { HoldScope } from './spending.ts';

/** The account of a workspace. With the suffix `:byok`, the account for its BYOK credentials. */
export const workspaceAccount = 'workspace';

/** Like `workspaceAccount`, for one api key. */
export function keyAccount(hash: string): string {
  return `key:${hash}`;
}

/** The value in place of the hash: calls without an api key share the amount that guardrails give to each key. */
export const noKey = 'none';

/** The party that a limit is for. */
export type LimitScope = 'workspace' | 'key' | 'guardrail';

export function scopeOf({ account, guardrail }: LimitedWindow): LimitScope {
  if (guardrail !== undefined) return 'guardrail';
  return account === workspaceAccount ? 'workspace' : 'key';
}

export type Windows = Record<Interval, { startMs: number; endMs: number | null }>;

export const dayMs = 86_400_000;

/** The windows of all intervals at an instant. */
export function windowsAt(atMs: number): Windows {
  return Object.fromEntries(intervals.map((interval) => [interval, windowOf(interval, atMs)])) as Windows;
}

/** Like `windowsAt`, but computed once a day: windows change only at midnight. */
function rememberWindows(): (atMs: number) => Windows {
  let [day, windows] = [0, windowsAt(0)];
  return (atMs) => {
    const now = Math.floor(atMs / dayMs);
    if (now !== day) [day, windows] = [now, windowsAt(atMs)];
    return windows;
  };
}

/** A set of intervals, with one bit for each. */
export type IntervalSet = number;

export function bitOf(interval: Interval): IntervalSet {
  return 1 << intervals.indexOf(interval);
}

/** The limited windows of a scope. For its two accounts, the intervals that holds cover and the usage counter skips. */
export interface Limited {
  windows: readonly LimitedWindow[];
  ofWorkspace: IntervalSet;
  ofKey: IntervalSet;
}

/** The windows where nothing is limited. */
export const nowhere: Limited = { windows: [], ofWorkspace: 0, ofKey: 0 };

/**
 * Makes the limited windows of a scope at an instant. Returns the same object until the day or the limits change, so
 * that a request need not make a new one.
 * @returns a function that throws Error for a key limit without a key: a missing key must not mean "no limit"
 */
export function rememberLimits(): (scope: HoldScope) => Limited {
  const windowsOf = rememberWindows();
  const ofBudgets = new WeakMap<readonly BudgetLimit[], Made & { hash: string | null }>();
  const ofKeys = new WeakMap<KeyLimit, Made & { hash: string }>();
  const ofBoth = new WeakMap<Limited, Made & { key: Limited }>();

  function limitedByBudgets(budgets: readonly BudgetLimit[], hash: string | null, at: Windows): Limited {
    const known = ofBudgets.get(budgets);
    if (known?.at === at && known.hash === hash) return known.limited;
    const limited = budgetsIn(budgets, hash, at);
    ofBudgets.set(budgets, { at, hash, limited });
    return limited;
  }

  function limitedByKey(keyLimit: KeyLimit, hash: string | null, at: Windows): Limited {
    if (hash === null) throw new Error('A limit of an api key needs the hash of the key');
    const known = ofKeys.get(keyLimit);
    if (known?.at === at && known.hash === hash) return known.limited;
    const limited = keyLimitIn(keyLimit, hash, at);
    ofKeys.set(keyLimit, { at, hash, limited });
    return limited;
  }

  function limitedByBoth(workspace: Limited, key: Limited, at: Windows): Limited {
    const known = ofBoth.get(workspace);
    if (known?.at === at && known.key === key) return known.limited;
    const windows = lowestOfEach([...workspace.windows, ...key.windows]);
    const limited = { windows, ofWorkspace: workspace.ofWorkspace, ofKey: workspace.ofKey | key.ofKey };
    ofBoth.set(workspace, { at, key, limited });
    return limited;
  }

  return ({ budgets: given, keyLimit, apiKeyHash, isFurther, atMs }) => {
    const at = windowsOf(atMs);
    const budgets = isFurther ? given.filter(({ guardrail }) => guardrail !== undefined) : given;
    const workspace = budgets.length === 0 ? nowhere : limitedByBudgets(budgets, apiKeyHash, at);
    if (!keyLimit) return workspace;
    const key = limitedByKey(keyLimit, apiKeyHash, at);
    return workspace === nowhere ? key : limitedByBoth(workspace, key, at);
  };
}

interface Made {
  at: Windows;
  limited: Limited;
}

function budgetsIn(budgets: readonly BudgetLimit[], hash: string | null, at: Windows): Limited {
  let [ofWorkspace, ofKey] = [0, 0];
  const windows = budgets.map(({ interval, limitNanoUsd, guardrail }) => {
    if (guardrail === undefined) {
      ofWorkspace |= bitOf(interval);
      return { account: workspaceAccount, interval, ...at[interval], limitNanoUsd };
    }
    ofKey |= bitOf(interval);
    return { account: keyAccount(hash ?? noKey), interval, ...at[interval], limitNanoUsd, guardrail };
  });
  return { windows: lowestOfEach(windows), ofWorkspace, ofKey };
}

/** Keeps the lowest limit of each window: a ledger takes each window once. */
function lowestOfEach(windows: readonly LimitedWindow[]): LimitedWindow[] {
  const lowest = new Map<string, LimitedWindow>();
  for (const window of windows) {
    const key = `${window.interval} ${window.account}`;
    const known = lowest.get(key);
    if (known === undefined || window.limitNanoUsd < known.limitNanoUsd) lowest.set(key, window);
  }
  return [...lowest.values()];
}

function keyLimitIn({ interval, limitNanoUsd }: KeyLimit, hash: string, at: Windows): Limited {
  const window = { account: keyAccount(hash), interval, ...at[interval], limitNanoUsd };
  return { windows: [window], ofWorkspace: 0, ofKey: bitOf(interval) };
}
