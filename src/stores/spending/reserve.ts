import { type StoreLogger, tell } from '../storage/logger.ts';
import { type Hold, type Holds, isHold } from './holds.ts';
import type { Actual, HoldScope, Reservation } from './spending.ts';
import type { Tally } from './tally.ts';
import { keyAccount, type Limited, workspaceAccount } from './windows.ts';

/** Where a reservation's money goes. */
export interface Books {
  holds: Holds;
  tally: Tally;
  logger: StoreLogger | null;
}

/**
 * @param limited  where the money of the scope is held
 * @param first  what is held there
 */
export function reservationOf(scope: HoldScope, limited: Limited, first: Hold, books: Books): Reservation {
  const { holds, logger } = books;
  const { workspaceId } = scope;
  const taken: Hold[] = [first];
  let nanoUsd = first.nanoUsd;
  let isSettled = false;

  return {
    get nanoUsd() {
      return nanoUsd;
    },
    isLimited: true,
    async extend(moreNanoUsd) {
      if (isSettled) return false;
      if (moreNanoUsd <= 0) return true;
      const more = await holds.take(workspaceId, limited.windows, moreNanoUsd);
      if (!isHold(more)) return false;
      if (isSettled) {
        holds.end(more, 0);
        return false;
      }
      taken.push(more);
      nanoUsd += moreNanoUsd;
      return true;
    },
    settle(actual) {
      if (isSettled) return;
      isSettled = true;
      const spent = checked(actual, nanoUsd, logger);
      if (spent.nanoUsd > nanoUsd) {
        const fields = { workspaceId, heldNanoUsd: nanoUsd, actualNanoUsd: spent.nanoUsd };
        tell(logger, 'warn', fields, 'a call cost more than was held for it');
      }
      let left = spent.nanoUsd;
      for (const [at, hold] of taken.entries()) {
        // To each hold no more than it held, so that at no time more is spent and held than the limit; the last takes
        // what is beyond.
        const part = at === taken.length - 1 ? left : Math.min(left, hold.nanoUsd);
        left -= part;
        holds.end(hold, part);
      }
      countIn(books.tally, scope, limited, spent);
    },
  };
}

/** Where nothing is limited: only counts, and is made for every request. */
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

  async extend(): Promise<boolean> {
    return !this.#isSettled;
  }

  settle(actual: Actual): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    countIn(this.#books.tally, this.#scope, nowhereLimited, checked(actual, 0, this.#books.logger));
  }
}

const nowhereLimited: Limited = { windows: [], ofWorkspace: 0, ofKey: 0 };

function countIn(tally: Tally, scope: HoldScope, limited: Limited, { nanoUsd, byokNanoUsd }: Actual): void {
  const { workspaceId, apiKeyHash, atMs, isFurther } = scope;
  const count = (account: string, without: number) => {
    tally.count(workspaceId, account, atMs, nanoUsd, without);
    if (byokNanoUsd > 0) tally.count(workspaceId, `${account}:byok`, atMs, byokNanoUsd, 0);
  };
  if (!isFurther) count(workspaceAccount, limited.ofWorkspace);
  if (apiKeyHash !== null) count(keyAccount(apiKeyHash), limited.ofKey);
}

/** An amount that is none must not free what was held, nor spoil a sum: what was held is booked then. */
function checked({ nanoUsd, byokNanoUsd }: Actual, heldNanoUsd: number, logger: StoreLogger | null): Actual {
  const isAmount = (amount: number) => Number.isSafeInteger(amount) && amount >= 0;
  if (isAmount(nanoUsd) && isAmount(byokNanoUsd)) return { nanoUsd, byokNanoUsd };
  tell(
    logger,
    'warn',
    { nanoUsd, byokNanoUsd },
    'a cost is not a whole number of nano-USD; what was held is booked instead',
  );
  return {
    nanoUsd: isAmount(nanoUsd) ? nanoUsd : heldNanoUsd,
    byokNanoUsd: isAmount(byokNanoUsd) ? byokNanoUsd : 0,
  };
}
