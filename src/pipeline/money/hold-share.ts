import type { Target } from '../../call/plan.ts';
import type { AttemptTrace } from '../../call/trace.ts';
import type { Reservation } from '../../stores/spending/spending.ts';
import { type BudgetScope, costIn, type NotHeld } from './afford.ts';

/** What was spent, by whose account at the provider. Integer nano-USD. */
export interface Spent {
  operatorNanoUsd: number;
  byokNanoUsd: number;
}

/** What is held for a call in one budget scope. */
export interface ScopeHold {
  readonly budgetScope: BudgetScope;
  readonly reservation: Reservation;
  /** What is spent, and what open shares need, integer nano-USD. Only what is held beyond this is free. */
  committedNanoUsd: number;
}

/** What a share may take in one budget scope. */
export interface SharePart {
  readonly held: ScopeHold;
  /** The most it can still cost, integer nano-USD. */
  needNanoUsd: number;
}

/** The hold that a share is part of, as its share sees it. */
export interface ShareHold {
  /** The call was settled. */
  readonly isOver: boolean;
  /**
   * @param needIn  what the share needs in a budget scope, integer nano-USD
   * @returns the budget scope that does not have the money; null: the needs are covered.
   * @throws GatewayError unavailable (503)
   */
  grow(share: HoldShare, needIn: (budgetScope: BudgetScope) => number): Promise<NotHeld | null>;
  /** What of a share was spent; its needs are free again. */
  book(share: HoldShare, spent: Spent): void;
}

/** What one generation, or one expense, may take of the hold of its call. */
export class HoldShare {
  /** One in each budget scope. Changed by `CallHold` alone. */
  readonly parts: readonly SharePart[];
  readonly #hold: ShareHold;
  /** The ledger is asked for more. */
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
   * Whether the share still pays for a further target after what failed attempts cost. Holds more where it does not.
   * @param beside  another target, whose attempt goes on
   * @throws GatewayError unavailable (503)
   */
  covers(target: Target, attempts: readonly AttemptTrace[], beside: Target | null = null): boolean | Promise<boolean> {
    if (this.#isSettled || this.#hold.isOver) return false;
    // What was asked for another target counts in `parts` already, and may still be refused.
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

  /** Books what was spent. The first call counts. */
  settle(spent: Spent): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    this.#hold.book(this, spent);
  }
}

/** What of it counts against the limits of a budget scope. */
export function inScope({ countsByok }: BudgetScope, { operatorNanoUsd, byokNanoUsd }: Spent): number {
  return operatorNanoUsd + (countsByok ? byokNanoUsd : 0);
}

/** What failed attempts used is on the bill. */
export function spentOnFailures(attempts: readonly AttemptTrace[]): Spent {
  const spent: Spent = { operatorNanoUsd: 0, byokNanoUsd: 0 };
  for (const { costNanoUsd, isByok } of attempts) {
    if (isByok) spent.byokNanoUsd += costNanoUsd;
    else spent.operatorNanoUsd += costNanoUsd;
  }
  return spent;
}
