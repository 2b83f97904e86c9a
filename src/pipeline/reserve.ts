import type { Call } from '../call/call.ts';
import type { Plan, Try } from '../call/plan.ts';
import type { Trace } from '../call/trace.ts';
import { type BudgetLimit, isRefusal, type Reservation } from '../stores/spending/spending.ts';
import { afford, costIn, type Held, isLimited, type Purse, pursesOf } from './afford.ts';
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
  covers(step: Try, trace: Trace, beside?: Try): boolean | Promise<boolean>;
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
 * the api key: all or none. What does not fit is not tried.
 * @throws GatewayError payment_required (402) when no try fits; invalid_request (400) when a price that is needed is not
 *         known; unavailable (503) when the store cannot tell. Nothing is then held
 */
export async function reserve(
  deps: PipelineDeps,
  call: Call,
  plan: Plan,
  budgets: readonly BudgetLimit[],
): Promise<Admitted> {
  const purses = pursesOf(deps, call, plan, budgets);
  if (!isLimited(call, budgets)) return { plan, reserved: reservedIn(purses, [await holdFree(deps, purses)]) };

  const { plan: paid, held } = await afford(deps, call, plan, purses, (amounts) => holdAll(deps, purses, amounts));
  return { plan: paid, reserved: reservedIn(purses, held) };
}

/** Nothing is limited: what is spent is only counted. */
async function holdFree(deps: PipelineDeps, [purse]: readonly Purse[]): Promise<Reservation> {
  return (await deps.spending.hold((purse as Purse).scope, 0)) as Reservation;
}

/** All purses, or none. */
async function holdAll(
  deps: PipelineDeps,
  purses: readonly Purse[],
  amounts: readonly number[],
): Promise<Held<Reservation[]>> {
  const reservations: Reservation[] = [];
  const giveBack = () => {
    for (const reservation of reservations) reservation.settle({ nanoUsd: 0, byokNanoUsd: 0 });
  };
  try {
    for (const [at, purse] of purses.entries()) {
      const held = await deps.spending.hold(purse.scope, amounts[at] as number);
      if (isRefusal(held)) {
        giveBack();
        return { purse, refusal: held };
      }
      reservations.push(held);
    }
  } catch (error) {
    giveBack();
    throw error;
  }
  return { held: reservations };
}

function reservedIn(purses: readonly Purse[], reservations: readonly Reservation[]): Reserved {
  const inPurse = ({ countsByok }: Purse, { operatorNanoUsd, byokNanoUsd }: Spent) =>
    operatorNanoUsd + (countsByok ? byokNanoUsd : 0);

  return {
    covers(step, trace, beside) {
      const spent = spentOnFailures(trace);
      const missing = purses.map(
        (purse, at) =>
          inPurse(purse, spent) +
          costIn(purse, step) +
          (beside ? costIn(purse, beside) : 0) -
          (reservations[at] as Reservation).nanoUsd,
      );
      const short = missing.findIndex((nanoUsd, at) => nanoUsd > 0 && (reservations[at] as Reservation).isLimited);
      if (short < 0) return true;
      // What is held of one purse for a try that another does not pay for is given back when the call is settled.
      return extendAll(reservations, missing);
    },
    settle(spent) {
      for (const [at, purse] of purses.entries())
        (reservations[at] as Reservation).settle({
          nanoUsd: inPurse(purse, spent),
          byokNanoUsd: spent.byokNanoUsd,
        });
    },
  };
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
