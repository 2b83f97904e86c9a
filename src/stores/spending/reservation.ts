import { type StoreLogger, writeLog } from '../storage/logger.ts';
import type { BookingLog } from './booking-log.ts';
import { type Hold, type HoldEnd, isHold } from './hold.ts';
import type { Holds } from './holds.ts';
import { refuse } from './refuse.ts';
import type { Actual, Extended, HoldScope, Reservation } from './spending.ts';
import type { UsageCounter } from './usage-counter.ts';
import { type Limited, nowhere } from './windows.ts';

/** The places where a reservation books its money. */
export interface Books {
  holds: Holds;
  usageCounter: UsageCounter;
  /** null: bookings that are not sent yet are lost with this process. */
  log: Pick<BookingLog, 'book'> | null;
  logger: StoreLogger | null;
}

/** A reservation that holds money in the windows of a scope. */
export class LimitedReservation implements Reservation {
  readonly isLimited = true;
  readonly #scope: HoldScope;
  readonly #limited: Limited;
  readonly #books: Books;
  readonly #first: Hold;
  /** The holds after the first one. */
  #further: Hold[] | null = null;
  #nanoUsd: number;
  #isSettled = false;

  /**
   * @param limited  the windows in which the money of the scope is held
   * @param first  the first hold in these windows
   */
  constructor(scope: HoldScope, limited: Limited, first: Hold, books: Books) {
    this.#scope = scope;
    this.#limited = limited;
    this.#books = books;
    this.#first = first;
    this.#nanoUsd = first.nanoUsd;
  }

  get nanoUsd(): number {
    return this.#nanoUsd;
  }

  async extend(moreNanoUsd: number): Promise<Extended> {
    if (this.#isSettled) return settled;
    if (moreNanoUsd <= 0) return { isHeld: true };
    const { holds } = this.#books;
    const more = await holds.take(this.#scope, this.#limited, moreNanoUsd);
    if (!isHold(more)) return { isHeld: false, refusal: refuse(this.#limited.windows, more, moreNanoUsd) };
    if (this.#isSettled) {
      holds.end(more, 0);
      return settled;
    }
    this.#further ??= [];
    this.#further.push(more);
    this.#nanoUsd += moreNanoUsd;
    return { isHeld: true };
  }

  settle(actual: Actual): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    const { holds, usageCounter, log, logger } = this.#books;
    const spent = checked(actual, this.#nanoUsd, logger);
    if (spent.nanoUsd > this.#nanoUsd) {
      const { workspaceId } = this.#scope;
      const fields = { workspaceId, heldNanoUsd: this.#nanoUsd, actualNanoUsd: spent.nanoUsd };
      writeLog(logger, 'warn', fields, 'a call cost more than was held for it');
    }
    const ends = this.#ends(spent.nanoUsd);
    // A call that has cost nothing changes no sum, so it needs no note.
    if (log && spent.nanoUsd + spent.byokNanoUsd > 0) log.book(this.#scope.workspaceId, this.#scope.callId, ends);
    else for (const { hold, nanoUsd } of ends) holds.end(hold, nanoUsd);
    usageCounter.count(this.#scope, this.#limited, spent);
  }

  /**
   * Each hold is settled with at most its own amount, so that spent and held money never exceeds the limit. The last
   * hold gets the surplus.
   */
  #ends(spentNanoUsd: number): HoldEnd[] {
    const ends: HoldEnd[] = [];
    let left = spentNanoUsd;
    let last = this.#first;
    for (const next of this.#further ?? none) {
      const part = Math.min(left, last.nanoUsd);
      left -= part;
      ends.push({ hold: last, nanoUsd: part });
      last = next;
    }
    ends.push({ hold: last, nanoUsd: left });
    return ends;
  }
}

const none: readonly never[] = [];
const settled: Extended = { isHeld: false, refusal: null };

/** A reservation without limits, which only counts. A request without limits makes one. */
export class FreeReservation implements Reservation {
  readonly nanoUsd = 0;
  readonly isLimited = false;
  readonly #scope: HoldScope;
  readonly #books: Books;
  #isSettled = false;

  constructor(scope: HoldScope, books: Books) {
    this.#scope = scope;
    this.#books = books;
  }

  async extend(): Promise<Extended> {
    return this.#isSettled ? settled : { isHeld: true };
  }

  settle(actual: Actual): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    const { usageCounter, log, logger } = this.#books;
    const spent = checked(actual, 0, logger);
    if (spent.nanoUsd + spent.byokNanoUsd > 0) log?.book(this.#scope.workspaceId, this.#scope.callId, none);
    usageCounter.count(this.#scope, nowhere, spent);
  }
}

/**
 * Checks the cost. An invalid cost must not free the held amount, nor spoil a sum: the held amount is booked instead.
 */
function checked(actual: Actual, heldNanoUsd: number, logger: StoreLogger | null): Actual {
  const { nanoUsd, byokNanoUsd } = actual;
  if (isAmount(nanoUsd) && isAmount(byokNanoUsd)) return actual;
  writeLog(
    logger,
    'warn',
    { nanoUsd, byokNanoUsd },
    'a cost is not an integer of nano-USD; the held amount is booked instead',
  );
  return {
    nanoUsd: isAmount(nanoUsd) ? nanoUsd : heldNanoUsd,
    byokNanoUsd: isAmount(byokNanoUsd) ? byokNanoUsd : 0,
  };
}

function isAmount(amount: number): boolean {
  return Number.isSafeInteger(amount) && amount >= 0;
}
