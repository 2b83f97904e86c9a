import type { Target } from '../../call/plan.ts';
import type { AttemptTrace } from '../../call/trace.ts';
import type { Reservation } from '../../stores/spending/spending.ts';
import { type BudgetScope, costIn, type NotHeld } from './afford.ts';

/** The money that was spent, by the account at the provider that pays. Integer nano-USD. */
export interface Spent {
  operatorNanoUsd: number;
  byokNanoUsd: number;
}

/** The money that is held for a call in one budget scope. */
export interface ScopeHold {
  readonly budgetScope: BudgetScope;
  readonly reservation: Reservation;
  /** The money that is spent, and that open shares need, integer nano-USD. The rest of the held money is free. */
  committedNanoUsd: number;
}

/** The part of a share in one budget scope. */
export interface SharePart {
  readonly held: ScopeHold;
  /** The most it can still cost, integer nano-USD. */
  needNanoUsd: number;
}

/** The hold that a share is part of, as its share sees it. */
export interface ShareHold {
  /** true: the call was settled. */
  readonly isOver: boolean;
  /**
   * @param needIn  returns the amount that the share needs in a budget scope, integer nano-USD
   * @returns the budget scope that does not have the money; null: the needs are covered.
   * @throws GatewayError unavailable (503)
   */
  grow(share: HoldShare, needIn: (budgetScope: BudgetScope) => number): Promise<NotHeld | null>;
  /** Books the money that a share has spent; its needs are free again. */
  book(share: HoldShare, spent: Spent): void;
}

/** The part of the hold of a call that one generation, or one expense, may take. */
export class HoldShare {
  /** One part in each budget scope. `CallHold` alone changes them. */
  readonly parts: readonly SharePart[];
  readonly #hold: ShareHold;
  /** The promise of more money, while the ledger is asked for it. */
  #growing: Promise<void> | null = null;
  #isSettled = false;

  constructor(hold: ShareHold, parts: readonly SharePart[]) {
    this.#hold = hold;
    this.parts = parts;
  }

  get isSettled(): boolean {
    return this.#isSettled;
  }

  /** The worst case that is held for it, in the budget scope where that is most. */
  get heldNanoUsd(): number {
    return this.parts.reduce((most, { needNanoUsd }) => Math.max(most, needNanoUsd), 0);
  }

  /**
   * true: the share still pays for a further target after the cost of failed attempts. Holds more money where it does
   * not.
   * @param beside  another target, whose attempt goes on
   * @throws GatewayError unavailable (503)
   */
  covers(target: Target, attempts: readonly AttemptTrace[], beside: Target | null = null): boolean | Promise<boolean> {
    if (this.#isSettled || this.#hold.isOver) return false;
    // The money that is being asked for another target counts in `parts` already, and may still be refused.
    if (this.#growing !== null) return this.#growing.then(() => this.covers(target, attempts, beside));
    const spent = spentOnFailures(attempts);
    const needIn = (scope: BudgetScope) =>
      inScope(scope, spent) + costIn(scope, target) + (beside === null ? 0 : costIn(scope, beside));
    const isCovered = ({ held, needNanoUsd }: SharePart) =>
      !held.reservation.isLimited || needIn(held.budgetScope) <= needNanoUsd;
    if (this.parts.every(isCovered)) return true;
    const grown = this.#hold.grow(this, needIn).then((notHeld) => notHeld === null && !this.#isSettled);
    const grew = () => {
      this.#growing = null;
    };
    this.#growing = grown.then(grew, grew);
    return grown;
  }

  /** Books the money that was spent. The first call counts. */
  settle(spent: Spent): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    this.#hold.book(this, spent);
  }
}

/** Returns the part of the money that counts against the limits of a budget scope. */
export function inScope({ countsByok }: BudgetScope, { operatorNanoUsd, byokNanoUsd }: Spent): number {
  return operatorNanoUsd + (countsByok ? byokNanoUsd : 0);
}

/** Returns the money that failed attempts have spent: it is on the bill. */
export function spentOnFailures(attempts: readonly AttemptTrace[]): Spent {
  const spent: Spent = { operatorNanoUsd: 0, byokNanoUsd: 0 };
  for (const { costNanoUsd, isByok } of attempts) {
    if (isByok) spent.byokNanoUsd += costNanoUsd;
    else spent.operatorNanoUsd += costNanoUsd;
  }
  return spent;
}

/** Adds to the money of failed attempts what the target that served has cost. */
export function spentWith(failures: Spent, { isByok }: Target, servedNanoUsd: number): Spent {
  return isByok
    ? { ...failures, byokNanoUsd: failures.byokNanoUsd + servedNanoUsd }
    : { ...failures, operatorNanoUsd: failures.operatorNanoUsd + servedNanoUsd };
}
