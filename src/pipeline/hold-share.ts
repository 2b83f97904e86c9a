import type { Target } from '../call/plan.ts';
import type { AttemptTrace } from '../call/trace.ts';
import type { NotHeld } from './afford.ts';

/** What was spent, by whose account at the provider. Integer nano-USD. */
export interface Spent {
  operatorNanoUsd: number;
  byokNanoUsd: number;
}

/** The hold that a share is part of, as its share sees it. */
export interface ShareHold {
  /** The call was settled. */
  readonly isOver: boolean;
  /** What a target may cost, one amount in each budget scope, beside another and after what was spent. */
  needsOf(target: Target, beside: Target | null, spent: Spent): number[];
  /** Whether needs are covered without asking anybody. */
  coversNow(share: HoldShare, needs: readonly number[]): boolean;
  /**
   * @returns the budget scope that does not have the money; null: the needs are covered.
   * @throws GatewayError unavailable (503)
   */
  grow(share: HoldShare, needs: readonly number[]): Promise<NotHeld | null>;
  /** What of a share was spent; its needs are free again. */
  book(share: HoldShare, spent: Spent): void;
}

/** What one generation, or one expense, may take of the hold of its call. */
export class HoldShare {
  /** By budget scope: the most it can still cost, integer nano-USD. Changed by `CallHold` alone. */
  readonly needs: number[];
  readonly #hold: ShareHold;
  /** The ledger is asked for more. */
  #growing: Promise<void> | null = null;
  #isSettled = false;

  constructor(hold: ShareHold, needs: number[]) {
    this.#hold = hold;
    this.needs = needs;
  }

  get isSettled(): boolean {
    return this.#isSettled;
  }

  /** The worst case that is held for it, in the budget scope where that is most. */
  get heldNanoUsd(): number {
    return this.needs.reduce((most, nanoUsd) => Math.max(most, nanoUsd), 0);
  }

  /**
   * Whether the share still pays for a further target after what failed attempts cost. Holds more where it does not.
   * @param beside  another target, whose attempt goes on
   * @throws GatewayError unavailable (503)
   */
  covers(target: Target, attempts: readonly AttemptTrace[], beside: Target | null = null): boolean | Promise<boolean> {
    if (this.#isSettled || this.#hold.isOver) return false;
    // What was asked for another target counts in `needs` already, and may still be refused.
    if (this.#growing !== null) return this.#growing.then(() => this.covers(target, attempts, beside));
    const needs = this.#hold.needsOf(target, beside, spentOnFailures(attempts));
    if (this.#hold.coversNow(this, needs)) return true;
    const grown = this.#hold.grow(this, needs).then((notHeld) => notHeld === null && !this.#isSettled);
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

/** What failed attempts used is on the bill. */
export function spentOnFailures(attempts: readonly AttemptTrace[]): Spent {
  const spent: Spent = { operatorNanoUsd: 0, byokNanoUsd: 0 };
  for (const { costNanoUsd, isByok } of attempts) {
    if (isByok) spent.byokNanoUsd += costNanoUsd;
    else spent.operatorNanoUsd += costNanoUsd;
  }
  return spent;
}
