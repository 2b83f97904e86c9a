import { andThen } from '../../base/async/and-then.ts';
import { GatewayError } from '../../base/errors.ts';
import { emptyPlan, type Plan } from '../../call/plan.ts';
import { type BudgetLimit, isRefusal, type Refusal } from '../../stores/spending/spending.ts';
import type { MoneyDeps } from '../deps.ts';
import {
  afford,
  type BudgetScope,
  budgetScopesOf,
  type CostBounds,
  type HeldCall,
  type HeldOrNot,
  isLimited,
  type NotHeld,
  type ScopeAmount,
} from './afford.ts';
import { HoldShare, inScope, type ScopeHold, type ShareHold, type SharePart, type Spent } from './hold-share.ts';

/** A plan whose targets are all paid for, so that any of them may serve, and its share of the hold. */
export interface Admitted {
  plan: Plan;
  share: HoldShare;
}

/**
 * The money held for one client call. All of its generations share one hold, which grows only through the ledger and is
 * settled once, with the sum that all of them have spent.
 */
export class CallHold implements ShareHold {
  readonly #deps: MoneyDeps;
  readonly #call: HeldCall;
  /** true: more than one generation may come. The first plan must then not decide which budget scopes there are. */
  readonly #mayRepeat: boolean;
  /** The promise of the first hold, while the first generation asks for the money. */
  #opening: Promise<void> | null = null;
  #budgets: readonly BudgetLimit[] = [];
  #scopes: readonly BudgetScope[] = [];
  /** One hold in each budget scope; null before the first generation. */
  #held: readonly ScopeHold[] | null = null;
  #spent: Spent = { operatorNanoUsd: 0, byokNanoUsd: 0 };
  #isSettled = false;

  constructor(deps: MoneyDeps, call: HeldCall, mayRepeat: boolean) {
    this.#deps = deps;
    this.#call = call;
    this.#mayRepeat = mayRepeat;
  }

  /** The amount that is held, in the budget scope where it is largest; 0 where nothing is limited. Integer nano-USD. */
  get heldNanoUsd(): number {
    let most = 0;
    for (const { reservation } of this.#held ?? []) most = Math.max(most, reservation.nanoUsd);
    return most;
  }

  /**
   * The amount that is booked beyond the held one, in the budget scope where it is largest; 0 where nothing is limited.
   * Integer nano-USD.
   */
  get overrunNanoUsd(): number {
    let most = 0;
    for (const { budgetScope, reservation } of this.#held ?? [])
      if (reservation.isLimited) most = Math.max(most, inScope(budgetScope, this.#spent) - reservation.nanoUsd);
    return most;
  }

  /** true: the call was settled. Money that is held from now on would never be booked. */
  get isOver(): boolean {
    return this.#isSettled;
  }

  /** The amount that is booked so far, integer nano-USD. */
  get spentNanoUsd(): number {
    return this.#spent.operatorNanoUsd + this.#spent.byokNanoUsd;
  }

  /** The part of it that was booked for workspaces' own credentials, integer nano-USD. */
  get byokNanoUsd(): number {
    return this.#spent.byokNanoUsd;
  }

  /**
   * Holds the worst case of one generation, that of its dearest target, against every budget of the workspace and the
   * limit of the api key: all or none. Targets that do not fit are left out of the plan.
   * @throws GatewayError payment_required (402) when no target fits; invalid_request (400) when a price that is needed
   *   is not known; unavailable (503) when the store cannot tell. Nothing is then held for this generation
   */
  admit(bounds: CostBounds, plan: Plan, budgets: readonly BudgetLimit[]): Admitted | Promise<Admitted> {
    // Several generations may start at once: the first opens the hold, and the others wait for it.
    if (this.#opening !== null) return this.#opening.then(() => this.admit(bounds, plan, budgets));
    this.#refuseWhenOver();
    if (this.#held !== null) return this.#admitFurther(bounds, plan);
    const opened = this.#open(bounds, plan, budgets);
    if (!(opened instanceof Promise)) return opened;
    const settled = () => {
      this.#opening = null;
    };
    this.#opening = opened.then(settled, settled);
    return opened;
  }

  #open(bounds: CostBounds, plan: Plan, budgets: readonly BudgetLimit[]): Admitted | Promise<Admitted> {
    this.#budgets = budgets;
    this.#scopes = budgetScopesOf(this.#deps, this.#call, plan.targets, budgets, this.#mayRepeat);
    if (isLimited(this.#call, budgets) && plan.targets.length > 0) {
      const afforded = afford(bounds, plan, this.#scopes, (wanted) => this.#holdFirst(wanted));
      return andThen(afforded, (one) => this.#opened(one.plan, one.held));
    }
    // Nothing is limited, or nothing is planned, so the spent money is only counted.
    const none = this.#scopes.map((budgetScope) => ({ budgetScope, nanoUsd: 0 }));
    return andThen(this.#holdFirst(none), (held) => {
      if ('held' in held) return this.#opened(plan, held.held);
      throw held.refusal.error;
    });
  }

  /**
   * Holds money for something else than a generation, such as a search.
   * @throws GatewayError payment_required (402), unavailable (503)
   */
  async holdExpense(nanoUsd: number): Promise<HoldShare> {
    if (this.#held === null) {
      const budgets = await this.#deps.budgetsOf(this.#call.caller);
      const { share } = await this.admit(noTargets, emptyPlan, budgets);
      share.settle({ operatorNanoUsd: 0, byokNanoUsd: 0 });
    }
    const share = this.#emptyShare();
    const notHeld = await this.grow(share, () => nanoUsd);
    if (notHeld) throw notHeld.refusal.errorFor(nanoUsd);
    this.#refuseWhenOver();
    return share;
  }

  /** Books the money that all generations have spent, and frees the rest. Only the first call counts; never throws. */
  settle(): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    this.#settleAll();
  }

  #settleAll(): void {
    const { byokNanoUsd } = this.#spent;
    for (const { budgetScope, reservation } of this.#held ?? [])
      reservation.settle({ nanoUsd: inScope(budgetScope, this.#spent), byokNanoUsd });
  }

  /** Refuses to hold money after the call was settled: it would never be booked. */
  #refuseWhenOver(): void {
    if (this.#isSettled) throw new GatewayError('internal', 'The call is over');
  }

  /**
   * Makes a share cover its needs in each budget scope: from the free money, then through the ledger.
   * @param needIn  integer nano-USD
   * @returns the budget scope that does not have the money; null: the needs are covered
   * @throws GatewayError unavailable (503) when the store cannot tell; the share is then as it was
   */
  async grow(share: HoldShare, needIn: (budgetScope: BudgetScope) => number): Promise<NotHeld | null> {
    this.#refuseWhenOver();
    const taken = share.parts.map((part) => {
      const { budgetScope, reservation, committedNanoUsd } = part.held;
      const more = Math.max(needIn(budgetScope) - part.needNanoUsd, 0);
      return { part, more, free: Math.max(reservation.nanoUsd - committedNanoUsd, 0) };
    });
    // The money is taken before the store is asked, so that two generations at once do not take the same money.
    for (const { part, more } of taken) take(part, more);
    let isCovered = false;
    try {
      for (const { part, more, free } of taken) {
        const { budgetScope, reservation } = part.held;
        if (!reservation.isLimited || more <= free) continue;
        const extended = await reservation.extend(more - free);
        if (extended.isHeld) continue;
        if (extended.refusal === null) throw new GatewayError('internal', 'The call is over');
        return { budgetScope, refusal: beyond(free, extended.refusal) };
      }
      isCovered = true;
      return null;
    } finally {
      // Money that one budget scope has given in vain stays held, and is freed when the call is settled. A share that
      // was settled meanwhile has given all of its needs back.
      if (!isCovered && !share.isSettled) for (const { part, more } of taken) take(part, -more);
    }
  }

  /** Books the money that a share has spent; its needs are free again. */
  book(share: HoldShare, spent: Spent): void {
    // The money came too late: the call was settled, and its spent money is booked.
    if (this.#isSettled) return;
    this.#spent.operatorNanoUsd += spent.operatorNanoUsd;
    this.#spent.byokNanoUsd += spent.byokNanoUsd;
    for (const { held, needNanoUsd } of share.parts)
      held.committedNanoUsd += inScope(held.budgetScope, spent) - needNanoUsd;
  }

  #emptyShare(): HoldShare {
    return new HoldShare(
      this,
      (this.#held ?? []).map((held) => ({ held, needNanoUsd: 0 })),
    );
  }

  #opened(plan: Plan, opened: readonly ScopeHold[]): Admitted {
    this.#held = opened;
    // The call has ended while the store was asked: nobody else gives the money back.
    if (this.#isSettled) this.#settleAll();
    this.#refuseWhenOver();
    return {
      plan,
      share: new HoldShare(
        this,
        opened.map((held) => ({ held, needNanoUsd: held.committedNanoUsd })),
      ),
    };
  }

  /** Holds more for a further generation, beside the money that is held already. */
  async #admitFurther(bounds: CostBounds, plan: Plan): Promise<Admitted> {
    const share = this.#emptyShare();
    // Nothing is limited, or nothing is planned.
    if (!isLimited(this.#call, this.#budgets) || plan.targets.length === 0) return { plan, share };
    const afforded = await afford(bounds, plan, this.#scopes, async (amounts) => {
      const notHeld = await this.grow(share, (budgetScope) => amountIn(amounts, budgetScope));
      return notHeld ?? { held: share };
    });
    return { plan: afforded.plan, share };
  }

  /** Holds the first money, in all budget scopes or in none. */
  #holdFirst(amounts: readonly ScopeAmount[]): HeldOrNot<ScopeHold[]> | Promise<HeldOrNot<ScopeHold[]>> {
    const [only, ...further] = amounts;
    if (only === undefined || further.length > 0) return this.#holdEach(amounts);
    return andThen(this.#holdOne(only), (one) => ('held' in one ? { held: [one.held] } : one));
  }

  #holdOne({ budgetScope, nanoUsd }: ScopeAmount): HeldOrNot<ScopeHold> | Promise<HeldOrNot<ScopeHold>> {
    return andThen(this.#deps.spending.hold(budgetScope.scope, nanoUsd), (outcome) =>
      isRefusal(outcome)
        ? { budgetScope, refusal: outcome }
        : { held: { budgetScope, reservation: outcome, committedNanoUsd: nanoUsd } },
    );
  }

  async #holdEach(amounts: readonly ScopeAmount[]): Promise<HeldOrNot<ScopeHold[]>> {
    const held: ScopeHold[] = [];
    const giveBack = () => {
      for (const { reservation } of held) reservation.settle({ nanoUsd: 0, byokNanoUsd: 0 });
    };
    try {
      for (const amount of amounts) {
        const one = await this.#holdOne(amount);
        if (!('held' in one)) {
          giveBack();
          return one;
        }
        held.push(one.held);
      }
    } catch (error) {
      giveBack();
      throw error;
    }
    return { held };
  }
}

/** The bounds of an empty plan, for which nobody asks. */
const noTargets: CostBounds = {
  priced: () => [],
  fitting: () => [],
  cheapest: () => ({ nanoUsd: 0, maxTokens: 0 }),
};

/** Takes money for a share, or gives it back. */
function take(part: SharePart, nanoUsd: number): void {
  part.needNanoUsd += nanoUsd;
  part.held.committedNanoUsd += nanoUsd;
}

function amountIn(amounts: readonly ScopeAmount[], budgetScope: BudgetScope): number {
  return amounts.find((amount) => amount.budgetScope === budgetScope)?.nanoUsd ?? 0;
}

/** Returns the refusal for the amount that the store was asked for, beyond the money that is free already. */
function beyond(freeNanoUsd: number, refusal: Refusal): Refusal {
  return {
    error: refusal.error,
    errorFor: (nanoUsd, fittingMaxTokens) => refusal.errorFor(nanoUsd - freeNanoUsd, fittingMaxTokens),
    availableNanoUsd: refusal.availableNanoUsd + freeNanoUsd,
  };
}
