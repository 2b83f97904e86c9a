import { intervals } from '../../base/windows.ts';
import type { SpendingWindow } from '../ledger/ledger.ts';
import type { HoldScope } from './spending.ts';
import { bitOf, type IntervalSet, keyAccount, type Limited, windowsAt, workspaceAccount } from './windows.ts';

/** The call of a hold, and the limits under which the hold was made. */
export interface HoldOwner extends Pick<Limited, 'ofWorkspace' | 'ofKey'> {
  callId: string;
  apiKeyHash: string | null;
  /** The instant at which the call was admitted, epoch ms. */
  atMs: number;
  isFurther: boolean;
}

/**
 * An id that a store accepts as the id of a record, and short, since it becomes part of hold ids. A call with another
 * id gets no record.
 */
const shortId = /^[\w.-]{1,60}$/;
const shortHash = /^[\w-]{0,64}$/;
const ownedId = /^[^/]+\/(\d+)\/(\d+)\/(\d+)\/([01])\/([\w-]{0,64})\/([\w.-]{1,60})$/;

/**
 * Writes the call into the id of its hold. Every store keeps the id of a hold for a day after its expiry. So the id
 * tells another process, without a further write for each request, whose money was lost with the process that held it.
 */
export function ownedHoldId(id: string, scope: HoldScope, { ofWorkspace, ofKey }: Limited): string {
  const { callId = '', apiKeyHash, atMs, isFurther } = scope;
  const hash = apiKeyHash ?? '';
  if (!shortId.test(callId) || !shortHash.test(hash)) return id;
  return `${id}/${atMs}/${ofWorkspace}/${ofKey}/${isFurther ? 1 : 0}/${hash}/${callId}`;
}

/** @returns null: the id names no call */
export function ownerOfHold(id: string): HoldOwner | null {
  const found = ownedId.exec(id);
  if (found === null) return null;
  const [, atMs, ofWorkspace, ofKey, isFurther, hash, callId] = found as unknown as [string, ...string[]];
  return {
    callId: callId as string,
    apiKeyHash: hash || null,
    atMs: Number(atMs),
    ofWorkspace: Number(ofWorkspace),
    ofKey: Number(ofKey),
    isFurther: isFurther === '1',
  };
}

/** The windows of the call's accounts that have no limit: the ledger charges an expired hold in the limited ones only. */
export function unlimitedWindows({ apiKeyHash, atMs, ofWorkspace, ofKey, isFurther }: HoldOwner): SpendingWindow[] {
  const at = windowsAt(atMs);
  const without = (account: string, limited: IntervalSet): SpendingWindow[] =>
    intervals
      .filter((interval) => (limited & bitOf(interval)) === 0)
      .map((interval) => ({ account, interval, ...at[interval] }));
  return [
    ...(isFurther ? [] : without(workspaceAccount, ofWorkspace)),
    ...(apiKeyHash === null ? [] : without(keyAccount(apiKeyHash), ofKey)),
  ];
}
