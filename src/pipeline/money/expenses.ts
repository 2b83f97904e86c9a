import type { Expense } from '../../call/hooks.ts';
import type { CallHold } from './hold.ts';

/** An amount that was spent, integer nano-USD: an amount that is held counts until it is settled. */
export interface Spent {
  nanoUsd: number;
}

/** The one that spends: a plugin, a guardrail, or a tool that a model has called. */
export type Spender = 'plugins' | 'guardrails' | 'tools';

/** The expenses of plugins, guardrails and tools of one call: each is held before it is spent, and settled once. */
export class Expenses {
  readonly #hold: CallHold;
  /** Each settles an expense as it was held. */
  readonly #open: (() => void)[] = [];
  readonly #settled: Record<Spender, number> = { plugins: 0, guardrails: 0, tools: 0 };

  constructor(hold: CallHold) {
    this.#hold = hold;
  }

  /** The sum of the settled expenses, integer nano-USD. */
  get settledNanoUsd(): number {
    const { plugins, guardrails, tools } = this.#settled;
    return plugins + guardrails + tools;
  }

  /** The same by spender. It grows until all is settled. */
  get settled(): Readonly<Record<Spender, number>> {
    return this.#settled;
  }

  /**
   * Holds an amount.
   * @param spent  the sum that the amount is added to
   * @throws GatewayError payment_required (402), unavailable (503)
   */
  async hold(nanoUsd: number, spent: Spent, spender: Spender): Promise<Expense> {
    const share = await this.#hold.holdExpense(nanoUsd);
    spent.nanoUsd += nanoUsd;
    let isSettled = false;
    const settle = (spentNanoUsd: number) => {
      if (isSettled) return;
      isSettled = true;
      // An amount that is none must not free what was held.
      const operatorNanoUsd = Number.isSafeInteger(spentNanoUsd) && spentNanoUsd >= 0 ? spentNanoUsd : nanoUsd;
      this.#settled[spender] += operatorNanoUsd;
      spent.nanoUsd += operatorNanoUsd - nanoUsd;
      share.settle({ operatorNanoUsd, byokNanoUsd: 0 });
    };
    this.#open.push(() => settle(nanoUsd));
    return { settle };
  }

  /** Settles what is still held: an expense that nobody has settled is booked as it was held. */
  settleAll(): void {
    for (const settle of this.#open) settle();
  }
}
