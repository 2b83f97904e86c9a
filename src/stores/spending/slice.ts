import type { Clock } from '../../base/clock.ts';
import type { WorkspaceId } from '../../call/workspace.ts';
import type { LimitedWindow } from '../ledger/ledger.ts';
import { NotSentError } from '../storage/circuit.ts';

/**
 * A slice of what the budgets of a request have left: one hold in the ledger, out of which this process makes the holds
 * of many requests. At any time, the ledger holds at least the live, the unreported and the free part. The ledger charges
 * a slice whose process died: so an expired slice covers them as well.
 */
export interface Slice {
  readonly id: string;
  readonly workspaceId: WorkspaceId;
  readonly windows: readonly LimitedWindow[];
  /** The time at which the slice was taken, by the monotonic clock. */
  readonly sinceMs: number;
  /** The amount that the ledger holds once all reports that were made have arrived. */
  nanoUsd: number;
  /** The holds of requests that have not ended. */
  liveNanoUsd: number;
  /** The cost of ended requests that is in no report yet. */
  unreportedNanoUsd: number;
  /** A moment before the ledger began the present lease. */
  leaseFrom: Instant;
  /** true: no more holds are made in it, and it ends with its last request. */
  isEnding: boolean;
  /** true: the report that ends it was made. */
  isEnded: boolean;
  /** The reports that the ledger has not confirmed, in order. */
  readonly onTheirWay: SliceReport[];
}

/** A message to the ledger about a slice: what was spent of it, and what stays held. */
export interface SliceReport {
  readonly slice: Slice;
  /** The held amount before the report. */
  readonly fromNanoUsd: number;
  /** The amount that stays held; null: the slice ends. */
  readonly toNanoUsd: number | null;
  readonly spentNanoUsd: number;
  /** Resolves after the first attempt to send it, with success or not. */
  readonly attempted: Promise<void>;
  /** To be called after each attempt, and where it is given up. */
  onAttempt(): void;
}

/** The amounts of a report: held before, held afterwards, spent. */
export type Reported = readonly [fromNanoUsd: number, toNanoUsd: number, spentNanoUsd: number];

/** The reports before this one that the ledger has not confirmed. They have to arrive first, whoever sends them. */
export function unconfirmedBefore({ slice: { onTheirWay }, ...report }: SliceReport): Reported[] {
  const before: Reported[] = [];
  for (const { fromNanoUsd, toNanoUsd, spentNanoUsd } of onTheirWay) {
    // The amounts only fall. The report that ends a slice is the last one.
    if (fromNanoUsd <= report.fromNanoUsd || toNanoUsd === null) break;
    before.push([fromNanoUsd, toNanoUsd, spentNanoUsd]);
  }
  return before;
}

/** A moment by both clocks of a process. */
export interface Instant {
  monotonicMs: number;
  wallMs: number;
}

export function instantOf(clock: Clock): Instant {
  return { monotonicMs: clock.monotonic(), wallMs: clock.now() };
}

/**
 * The time since a moment, by the clock that has counted more: the monotonic one stands still while the machine sleeps,
 * and the other one may be set back.
 */
export function elapsedSince(clock: Clock, { monotonicMs, wallMs }: Instant): number {
  return Math.max(clock.monotonic() - monotonicMs, clock.now() - wallMs);
}

/** The part of a slice that a new hold may take. */
export function freeOf({ nanoUsd, liveNanoUsd, unreportedNanoUsd }: Slice): number {
  return Math.max(0, nanoUsd - liveNanoUsd - unreportedNanoUsd);
}

/**
 * Makes a report of costs that were counted as unreported, and gives back a part of what is free.
 * @param spentNanoUsd  the costs, 0 or more
 * @param backNanoUsd  the most that is given back
 * @returns null: there is nothing to report
 */
export function reportOf(slice: Slice, spentNanoUsd: number, backNanoUsd: number): SliceReport | null {
  if (slice.isEnded) return null;
  slice.unreportedNanoUsd -= spentNanoUsd;
  const { nanoUsd: fromNanoUsd, liveNanoUsd, unreportedNanoUsd } = slice;
  const neededNanoUsd = liveNanoUsd + unreportedNanoUsd;
  const isLast = slice.isEnding && neededNanoUsd === 0;
  if (isLast) {
    slice.isEnded = true;
    slice.nanoUsd = 0;
    return added({ slice, fromNanoUsd, toNanoUsd: null, spentNanoUsd });
  }
  const keptNanoUsd = Math.max(neededNanoUsd, fromNanoUsd - spentNanoUsd - backNanoUsd);
  // Calls that cost more than was held for them may need more than is there. The ledger tells a repeated report by the
  // amount, so the amount falls with each.
  const toNanoUsd = spentNanoUsd > 0 ? Math.min(keptNanoUsd, fromNanoUsd - 1) : keptNanoUsd;
  if (toNanoUsd >= fromNanoUsd) return null;
  slice.nanoUsd = toNanoUsd;
  return added({ slice, fromNanoUsd, toNanoUsd, spentNanoUsd });
}

function added(fields: Omit<SliceReport, 'attempted' | 'onAttempt'>): SliceReport {
  let onAttempt = () => {};
  const attempted = new Promise<void>((resolve) => {
    onAttempt = resolve;
  });
  const report = { ...fields, attempted, onAttempt };
  report.slice.onTheirWay.push(report);
  return report;
}

/**
 * Sends a report after all earlier ones of its slice: the ledger tells a repeated report by the amounts.
 * @throws NotSentError where an earlier one has not arrived, or the error of `step`
 */
export async function sendInOrder(report: SliceReport, step: () => void | Promise<void>): Promise<void> {
  const { onTheirWay } = report.slice;
  const before = onTheirWay[onTheirWay.indexOf(report) - 1];
  try {
    if (before) {
      await before.attempted;
      if (onTheirWay.includes(before)) throw new NotSentError('An earlier report of a slice has not arrived');
    }
    await step();
    arrived(report);
  } finally {
    report.onAttempt();
  }
}

/** Removes a report that the ledger has confirmed, or that was given up. */
export function arrived(report: SliceReport): void {
  const { onTheirWay } = report.slice;
  const at = onTheirWay.indexOf(report);
  if (at >= 0) onTheirWay.splice(at, 1);
  report.onAttempt();
}
