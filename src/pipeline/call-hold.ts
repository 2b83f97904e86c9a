import { andThen } from '../base/and-then.ts';
import { GatewayError } from '../base/errors.ts';
import type { Call } from '../call/call.ts';
import { emptyPlan, type Plan, type Target } from '../call/plan.ts';
import type { ChatRequest } from '../schema/chat.ts';
import { type BudgetLimit, isRefusal, type Refusal, type Reservation } from '../stores/spending/spending.ts';
import { afford, type BudgetScope, budgetScopesOf, costIn, type HeldOrNot, isLimited, type NotHeld } from './afford.ts';
import type { MoneyDeps } from './deps.ts';
import { HoldShare, type ShareHold, type Spent } from './hold-share.ts';

/** A plan whose targets are all paid for, whichever serves, and its share of the hold. */
export interface Admitted {
  plan: Plan;
  share: HoldShare;
}

/**
 * The money held for one client call. All of its generations share one hold, which grows only through the ledger and is
 * settled once: with what all of them have spent together.
 */
export class CallHold implements ShareHold {
  readonly #deps: MoneyDeps;
  readonly #call: Call;
  /** More than one generation may come: which budget scopes there are must not depend on the first plan. */
  readonly #mayRepeat: boolean;
  /** The first generation is asking for the money. */
  #opening: Promise<void> | null = null;
  #budgets: readonly BudgetLimit[] = [];
  #scopes: readonly BudgetScope[] = [];
  /** One in each budget scope; null before the first generation. */
  #reservations: readonly Reservation[] | null = null;
  /** By budget scope: what is spent, and what open shares need. Only what is held beyond this is free. */
  #committed: number[] = [];
  #spent: Spent = { operatorNanoUsd: 0, byokNanoUsd: 0 };
  #isSettled = false;

  constructor(deps: MoneyDeps, call: Call, mayRepeat: boolean) {
    this.#deps = deps;
    this.#call = call;
    this.#mayRepeat = mayRepeat;
  }

  /** What is held in all, in the budget scope where that is most; 0 where nothing is limited. Integer nano-USD. */
  get heldNanoUsd(): number {
    let most = 0;
    for (const { nanoUsd } of this.#reservations ?? []) most = Math.max(most, nanoUsd);
    return most;
  }

  /**
   * What is booked beyond what was held, in the budget scope where that is most; 0 where nothing is limited. Integer
   * nano-USD.
   */
  get overrunNanoUsd(): number {
    let most = 0;
    for (const [at, { isLimited, nanoUsd }] of (this.#reservations ?? []).entries())
      if (isLimited) most = Math.max(most, inScope(this.#scopes[at] as BudgetScope, this.#spent) - nanoUsd);
    return most;
  }

  /** The call was settled: what is held now would never be booked. */
  get isOver(): boolean {
    return this.#isSettled;
  }

  /** What is booked so far, integer nano-USD. */
  get spentNanoUsd(): number {
    return this.#spent.operatorNanoUsd + this.#spent.byokNanoUsd;
  }

  /**
   * Holds the worst case of one generation, that of its dearest target, against every budget of the workspace and the
   * limit of the api key: all or none. Targets that do not fit are left out of the plan.
   * @throws GatewayError payment_required (402) when no target fits; invalid_request (400) when a price that is needed
   *   is not known; unavailable (503) when the store cannot tell. Nothing is then held for this generation
   */
  admit(request: ChatRequest, plan: Plan, budgets: readonly BudgetLimit[]): Admitted | Promise<Admitted> {
    // Of several generations that start at once, the first opens the hold, and the others wait for it.
    if (this.#opening !== null) return this.#opening.then(() => this.admit(request, plan, budgets));
    this.#refuseWhenOver();
    if (this.#reservations !== null) return this.#admitFurther(request, plan);
    const opened = this.#open(request, plan, budgets);
    if (!(opened instanceof Promise)) return opened;
    const settled = () => {
      this.#opening = null;
    };
    this.#opening = opened.then(settled, settled);
    return opened;
  }

  #open(request: ChatRequest, plan: Plan, budgets: readonly BudgetLimit[]): Admitted | Promise<Admitted> {
    this.#budgets = budgets;
    this.#scopes = budgetScopesOf(this.#deps, this.#call, plan.targets, budgets, this.#mayRepeat);
    if (isLimited(this.#call, budgets) && plan.targets.length > 0) {
      const afforded = afford(this.#deps, request, plan, this.#scopes, (wanted) => this.#holdFirst(wanted));
      return andThen(afforded, (one) => this.#opened(one.plan, one.held, one.amounts));
    }
    // Nothing is limited, or nothing is planned: what is spent is only counted.
    const none = this.#scopes.map(() => 0);
    return andThen(this.#holdFirst(none), (held) => {
      if ('held' in held) return this.#opened(plan, held.held, none);
      throw held.refusal.error;
    });
  }

  /**
   * Holds money for something else than a generation, such as a search.
   * @throws GatewayError payment_required (402), unavailable (503)
   */
  async holdExpense(nanoUsd: number): Promise<HoldShare> {
    if (this.#reservations === null) {
      const budgets = await this.#deps.budgetsOf(this.#call.caller);
      const { share } = await this.admit(this.#call.request, emptyPlan, budgets);
      share.settle({ operatorNanoUsd: 0, byokNanoUsd: 0 });
    }
    const amounts = this.#scopes.map(() => nanoUsd);
    const share = new HoldShare(
      this,
      this.#scopes.map(() => 0),
    );
    const notHeld = await this.grow(share, amounts);
    if (notHeld) throw notHeld.refusal.errorFor(nanoUsd);
    this.#refuseWhenOver();
    return share;
  }

  /** Books what all generations have spent and frees the rest. Only the first call counts; never throws. */
  settle(): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    this.#settleAll();
  }

  #settleAll(): void {
    const { byokNanoUsd } = this.#spent;
    for (const [at, reservation] of (this.#reservations ?? []).entries())
      reservation.settle({ nanoUsd: inScope(this.#scopes[at] as BudgetScope, this.#spent), byokNanoUsd });
  }

  /** What is held after the call was settled would never be booked. */
  #refuseWhenOver(): void {
    if (this.#isSettled) throw new GatewayError('internal', 'The call is over');
  }

  /**
   * Makes a share cover these needs, one in each budget scope: from what is free, then through the ledger.
   * @returns the budget scope that does not have the money; null: the needs are covered
   * @throws GatewayError unavailable (503) when the store cannot tell; the share is then as it was
   */
  async grow(share: HoldShare, needs: readonly number[]): Promise<NotHeld | null> {
    this.#refuseWhenOver();
    const reservations = this.#reservations as readonly Reservation[];
    const more = needs.map((need, at) => Math.max(need - (share.needs[at] as number), 0));
    const free = reservations.map(({ nanoUsd }, at) => Math.max(nanoUsd - (this.#committed[at] as number), 0));
    // Taken before the store is asked, so that two generations at once do not take the same money.
    this.#take(share, more, 1);
    let isCovered = false;
    try {
      for (const [at, reservation] of reservations.entries()) {
        const missing = (more[at] as number) - (free[at] as number);
        if (!reservation.isLimited || missing <= 0) continue;
        const extended = await reservation.extend(missing);
        if (extended.isHeld) continue;
        if (extended.refusal === null) throw new GatewayError('internal', 'The call is over');
        return { budgetScope: this.#scopes[at] as BudgetScope, refusal: beyond(free[at] as number, extended.refusal) };
      }
      isCovered = true;
      return null;
    } finally {
      // What one budget scope has given for nothing stays held, and is freed when the call is settled.
      // A share that was settled meanwhile has given all of its needs back.
      if (!isCovered && !share.isSettled) this.#take(share, more, -1);
    }
  }

  /** What of a share was spent; its needs are free again. */
  book(share: HoldShare, spent: Spent): void {
    // Too late: what the call has spent is booked.
    if (this.#isSettled) return;
    this.#spent.operatorNanoUsd += spent.operatorNanoUsd;
    this.#spent.byokNanoUsd += spent.byokNanoUsd;
    for (let at = 0; at < this.#scopes.length; at++) {
      const booked = inScope(this.#scopes[at] as BudgetScope, spent);
      this.#committed[at] = (this.#committed[at] as number) + booked - (share.needs[at] as number);
    }
  }

  needsOf(target: Target, beside: Target | null, spent: Spent): number[] {
    return this.#scopes.map(
      (scope) => inScope(scope, spent) + costIn(scope, target) + (beside === null ? 0 : costIn(scope, beside)),
    );
  }

  /** Whether needs are covered without asking anybody. */
  coversNow(share: HoldShare, needs: readonly number[]): boolean {
    const reservations = this.#reservations as readonly Reservation[];
    return needs.every((need, at) => !reservations[at]?.isLimited || need <= (share.needs[at] as number));
  }

  #take(share: HoldShare, more: readonly number[], sign: 1 | -1): void {
    for (const [at, nanoUsd] of more.entries()) {
      share.needs[at] = (share.needs[at] as number) + sign * nanoUsd;
      this.#committed[at] = (this.#committed[at] as number) + sign * nanoUsd;
    }
  }

  #opened(plan: Plan, reservations: readonly Reservation[], amounts: readonly number[]): Admitted {
    this.#reservations = reservations;
    this.#committed = [...amounts];
    // The call has ended while the store was asked: nobody else gives the money back.
    if (this.#isSettled) this.#settleAll();
    this.#refuseWhenOver();
    return { plan, share: new HoldShare(this, [...amounts]) };
  }

  /** Something is held already: a further generation asks for what is missing. */
  async #admitFurther(request: ChatRequest, plan: Plan): Promise<Admitted> {
    const share = new HoldShare(
      this,
      this.#scopes.map(() => 0),
    );
    // Nothing is limited, or nothing is planned.
    if (!isLimited(this.#call, this.#budgets) || plan.targets.length === 0) return { plan, share };
    const afforded = await afford(this.#deps, request, plan, this.#scopes, async (amounts) => {
      const notHeld = await this.grow(share, amounts);
      return notHeld ?? { held: share };
    });
    return { plan: afforded.plan, share };
  }

  /** All budget scopes, or none. */
  #holdFirst(amounts: readonly number[]): HeldOrNot<Reservation[]> | Promise<HeldOrNot<Reservation[]>> {
    if (this.#scopes.length > 1) return this.#holdEach(amounts);
    const budgetScope = this.#scopes[0] as BudgetScope;
    return andThen(this.#deps.spending.hold(budgetScope.scope, amounts[0] as number), (held) =>
      isRefusal(held) ? { budgetScope, refusal: held } : { held: [held] },
    );
  }

  async #holdEach(amounts: readonly number[]): Promise<HeldOrNot<Reservation[]>> {
    const reservations: Reservation[] = [];
    const giveBack = () => {
      for (const reservation of reservations) reservation.settle({ nanoUsd: 0, byokNanoUsd: 0 });
    };
    try {
      for (const [at, budgetScope] of this.#scopes.entries()) {
        const held = await this.#deps.spending.hold(budgetScope.scope, amounts[at] as number);
        if (isRefusal(held)) {
          giveBack();
          return { budgetScope, refusal: held };
        }
        reservations.push(held);
      }
    } catch (error) {
      giveBack();
      throw error;
    }
    return { held: reservations };
  }
}

/** What is asked of the store beyond what is free already. */
function beyond(freeNanoUsd: number, refusal: Refusal): Refusal {
  return {
    error: refusal.error,
    errorFor: (nanoUsd, fittingMaxTokens) => refusal.errorFor(nanoUsd - freeNanoUsd, fittingMaxTokens),
    availableNanoUsd: refusal.availableNanoUsd + freeNanoUsd,
  };
}

function inScope({ countsByok }: BudgetScope, { operatorNanoUsd, byokNanoUsd }: Spent): number {
  return operatorNanoUsd + (countsByok ? byokNanoUsd : 0);
}
