import { andThen } from '../base/and-then.ts';
import type { Call } from '../call/call.ts';
import type { Plan, Target } from '../call/plan.ts';
import type { Trace } from '../call/trace.ts';
import { type BudgetLimit, isRefusal, type Reservation } from '../stores/spending/spending.ts';
import { afford, type BudgetScope, budgetScopesOf, costIn, type Held, isLimited } from './afford.ts';
import type { PipelineDeps } from './deps.ts';

/** What a call spent, by whose account at the provider it was. Integer nano-USD. */
export interface Spent {
  operatorNanoUsd: number;
  byokNanoUsd: number;
}

/** The money held for a call. */
export interface Reserved {
  /**
   * Whether what is held still pays for a further try after what failed attempts cost; holds more where it does not.
   * @param beside  another try, which goes on
   */
  covers(target: Target, trace: Trace, beside?: Target): boolean | Promise<boolean>;
  /** Books what was spent, once. Never throws: what the store does not take is booked later. */
  settle(spent: Spent): void;
}

/** A plan whose tries are all paid for, whichever serves. */
export interface Admitted {
  plan: Plan;
  reserved: Reserved;
}

/**
 * Holds the worst-case cost of a plan, that of its dearest try, against every budget of the workspace and the limit of
 * the api key: all or none. What does not fit is not tried. Without a promise where no store has to be waited for.
 * @throws GatewayError payment_required (402) when no try fits; invalid_request (400) when a price that is needed is not
 *         known; unavailable (503) when the store cannot tell. Nothing is then held
 */
export function reserve(
  deps: PipelineDeps,
  call: Call,
  plan: Plan,
  budgets: readonly BudgetLimit[],
): Admitted | Promise<Admitted> {
  const budgetScopes = budgetScopesOf(deps, call, plan, budgets);
  if (!isLimited(call, budgets)) return holdFree(deps, plan, budgetScopes);

  const afforded = afford(deps, call, plan, budgetScopes, (amounts) => holdAll(deps, budgetScopes, amounts));
  return andThen(afforded, ({ plan: paid, held }) => ({ plan: paid, reserved: new ReservedIn(budgetScopes, held) }));
}

/** Nothing is limited: what is spent is only counted. */
function holdFree(deps: PipelineDeps, plan: Plan, budgetScopes: readonly BudgetScope[]): Admitted | Promise<Admitted> {
  const [budgetScope] = budgetScopes;
  return andThen(deps.spending.hold((budgetScope as BudgetScope).scope, 0), (held) => ({
    plan,
    reserved: new ReservedIn(budgetScopes, [held as Reservation]),
  }));
}

/** All purses, or none. Without a promise where there is one purse, and it is answered without. */
function holdAll(
  deps: PipelineDeps,
  budgetScopes: readonly BudgetScope[],
  amounts: readonly number[],
): Held<Reservation[]> | Promise<Held<Reservation[]>> {
  if (budgetScopes.length > 1) return holdEach(deps, budgetScopes, amounts);
  const budgetScope = budgetScopes[0] as BudgetScope;
  return andThen(deps.spending.hold(budgetScope.scope, amounts[0] as number), (held) =>
    isRefusal(held) ? { budgetScope, refusal: held } : { held: [held] },
  );
}

async function holdEach(
  deps: PipelineDeps,
  budgetScopes: readonly BudgetScope[],
  amounts: readonly number[],
): Promise<Held<Reservation[]>> {
  const reservations: Reservation[] = [];
  const giveBack = () => {
    for (const reservation of reservations) reservation.settle({ nanoUsd: 0, byokNanoUsd: 0 });
  };
  try {
    for (const [at, budgetScope] of budgetScopes.entries()) {
      const held = await deps.spending.hold(budgetScope.scope, amounts[at] as number);
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

/** The reservations of a call, one in each of its purses. */
class ReservedIn implements Reserved {
  readonly #budgetScopes: readonly BudgetScope[];
  readonly #reservations: readonly Reservation[];

  constructor(budgetScopes: readonly BudgetScope[], reservations: readonly Reservation[]) {
    this.#budgetScopes = budgetScopes;
    this.#reservations = reservations;
  }

  covers(target: Target, trace: Trace, beside?: Target): boolean | Promise<boolean> {
    const reservations = this.#reservations;
    const spent = spentOnFailures(trace);
    const missing = this.#budgetScopes.map(
      (budgetScope, at) =>
        inBudgetScope(budgetScope, spent) +
        costIn(budgetScope, target) +
        (beside ? costIn(budgetScope, beside) : 0) -
        (reservations[at] as Reservation).nanoUsd,
    );
    const short = missing.findIndex((nanoUsd, at) => nanoUsd > 0 && (reservations[at] as Reservation).isLimited);
    if (short < 0) return true;
    // What is held of one purse for a try that another does not pay for is given back when the call is settled.
    return extendAll(reservations, missing);
  }

  settle(spent: Spent): void {
    const { byokNanoUsd } = spent;
    for (let at = 0; at < this.#budgetScopes.length; at++)
      (this.#reservations[at] as Reservation).settle({
        nanoUsd: inBudgetScope(this.#budgetScopes[at] as BudgetScope, spent),
        byokNanoUsd,
      });
  }
}

function inBudgetScope({ countsByok }: BudgetScope, { operatorNanoUsd, byokNanoUsd }: Spent): number {
  return operatorNanoUsd + (countsByok ? byokNanoUsd : 0);
}

async function extendAll(reservations: readonly Reservation[], missing: readonly number[]): Promise<boolean> {
  for (const [at, reservation] of reservations.entries()) {
    const nanoUsd = missing[at] as number;
    if (nanoUsd > 0 && reservation.isLimited && !(await reservation.extend(nanoUsd))) return false;
  }
  return true;
}

/** What failed attempts used is on the bill. */
export function spentOnFailures(trace: Trace): Spent {
  const spent: Spent = { operatorNanoUsd: 0, byokNanoUsd: 0 };
  for (const { costNanoUsd, isByok } of trace.attempts) {
    if (isByok) spent.byokNanoUsd += costNanoUsd;
    else spent.operatorNanoUsd += costNanoUsd;
  }
  return spent;
}
