import { GatewayError, isGatewayError } from '../../../src/base/errors.ts';
import { askOf } from '../../../src/call/ask.ts';
import type { Call, KeyLimit } from '../../../src/call/call.ts';
import type { Endpoint } from '../../../src/call/model.ts';
import type { Plan, Target } from '../../../src/call/plan.ts';
import type { AttemptTrace } from '../../../src/call/trace.ts';
import { defaultWorkspaceId } from '../../../src/call/workspace.ts';
import type { MoneyDeps } from '../../../src/pipeline/deps.ts';
import { chatBounds } from '../../../src/pipeline/money/afford.ts';
import { CallHold } from '../../../src/pipeline/money/hold.ts';
import type { HoldShare, Spent } from '../../../src/pipeline/money/hold-share.ts';
import type {
  Actual,
  BudgetLimit,
  HoldScope,
  Reservation,
  ReservationOutcome,
  Spending,
} from '../../../src/stores/spending/spending.ts';
import { isRefusal } from '../../../src/stores/spending/spending.ts';
import { noonMs, workspaceId } from '../stores/spending/bench.ts';

// A call with its hold, and beside it the reference: what is held, needed and spent by plain sums.

const ask = askOf({ messages: [] });

export interface Limits {
  budgets: readonly BudgetLimit[];
  keyLimit: KeyLimit | null;
  /** Whether budgets count BYOK credentials. */
  includeByok: boolean;
}

export interface PlannedCost {
  nanoUsd: number;
  isByok: boolean;
}

/** What limits leave, integer nano-USD. */
export interface Room {
  budgets: number;
  key: number;
}

/** A share, and what it was promised. */
interface Promised {
  share: HoldShare;
  targets: readonly Target[];
  attempts: AttemptTrace[];
  /** What it may spend: any one of these. */
  granted: Spent[];
  /** Questions that are not answered. */
  asking: number;
  isSettled: boolean;
}

interface Reserved {
  scope: HoldScope;
  reservation: Reservation;
  booked: Actual[];
}

export const keyHash = 'a-key';
const nothing: Spent = { operatorNanoUsd: 0, byokNanoUsd: 0 };

export class HeldCall {
  readonly shares: Promised[] = [];
  readonly reserved: Reserved[] = [];
  /** What should not have happened. */
  readonly wrong: string[] = [];
  spent: Spent = { ...nothing };
  /** Questions that are not answered. */
  asking = 0;
  /** Of these, the generations. */
  admitting = 0;
  isOver = false;
  readonly #hold: CallHold;
  readonly #deps: MoneyDeps;
  readonly #limits: Limits;
  /** true: the store may be away. */
  readonly #mayFail: boolean;

  constructor(spending: Pick<Spending, 'hold'>, limits: Limits, mayFail: boolean) {
    this.#limits = limits;
    this.#mayFail = mayFail;
    const { budgets, keyLimit, includeByok } = limits;
    const noted = (scope: HoldScope, held: ReservationOutcome): ReservationOutcome =>
      isRefusal(held) ? held : this.#note(scope, held);
    const hold: Spending['hold'] = (scope, nanoUsd) => {
      const held = spending.hold(scope, nanoUsd);
      return held instanceof Promise ? held.then((one) => noted(scope, one)) : noted(scope, held);
    };
    const deps = {
      provider: () => null,
      spending: { hold },
      budgets: { includeByok, shrinkToFit: false, unknownPrice: 'refuse', defaultMaxTokens: 100 },
      outputEstimates: null,
      budgetsOf: () => budgets,
    } as unknown as MoneyDeps;
    const caller = { workspaceId, apiKeyHash: keyHash, keyLimit };
    const call = { caller, receivedAtMs: noonMs, ask } as unknown as Call;
    this.#deps = deps;
    this.#hold = new CallHold(deps, call, true);
  }

  /** @param room  what the limits leave, where nobody else takes of it meanwhile */
  async admit(costs: readonly PlannedCost[], room: Room | null): Promise<void> {
    const plan: Plan = { requested: 'm', strategy: 'direct', targets: costs.map(targetOf), excluded: [], router: null };
    const isFitting = room !== null && !this.isOver && this.#fits(costs, room);
    this.admitting++;
    await this.#ask(
      async () => {
        const { plan: paid, share } = await this.#hold.admit(chatBounds(this.#deps, ask), plan, this.#limits.budgets);
        const granted = paid.targets.map((target) => spentAt(target));
        this.#add({ share, targets: paid.targets, attempts: [], granted, asking: 0, isSettled: false });
      },
      () => {
        if (isFitting) this.wrong.push(`refused ${JSON.stringify(costs)}, which fits`);
      },
    );
    this.admitting--;
  }

  async holdExpense(nanoUsd: number): Promise<void> {
    await this.#ask(async () => {
      const share = await this.#hold.holdExpense(nanoUsd);
      const granted = [{ operatorNanoUsd: nanoUsd, byokNanoUsd: 0 }];
      this.#add({ share, targets: [], attempts: [], granted, asking: 0, isSettled: false });
    });
  }

  /** An attempt fails and costs a part; then another target is asked for, or one beside another. */
  async cover(pick: number, at: number, part: number, isBeside: boolean): Promise<void> {
    const one = this.#open(pick);
    if (one === undefined || one.targets.length === 0) return;
    const target = one.targets[at % one.targets.length] as Target;
    const beside = isBeside ? (one.targets[(at + 1) % one.targets.length] as Target) : null;
    const failures = one.attempts.reduce((sum, { costNanoUsd }) => sum + costNanoUsd, 0);
    const costNanoUsd = Math.floor(part * (target.ceilingNanoUsd ?? 0));
    // What failed has to be within what was granted: the first attempt of each, here.
    if (failures === 0 && costNanoUsd > 0) one.attempts.push(attemptAt(target, costNanoUsd));
    const attempts = [...one.attempts];
    const isTooLate = this.isOver;
    one.asking++;
    await this.#ask(async () => {
      const covers = one.share.covers(target, attempts, beside);
      if (!(await covers)) return;
      if ((one.isSettled || isTooLate) && covers !== true)
        this.wrong.push('covers a further target after it, or its call, was settled');
      const granted = sumOf([...attempts.map(spentBy), spentAt(target), ...(beside ? [spentAt(beside)] : [])]);
      one.granted.push(granted);
    });
    one.asking--;
    this.check();
  }

  settle(pick: number, grantedAt: number, part: number): void {
    const one = this.#open(pick);
    if (one === undefined) return;
    const most = one.granted[grantedAt % Math.max(one.granted.length, 1)] ?? nothing;
    this.#settle(one, {
      operatorNanoUsd: Math.floor(most.operatorNanoUsd * part),
      byokNanoUsd: Math.floor(most.byokNanoUsd * part),
    });
  }

  /**
   * Not while a generation begins: a call waits for its generations. It does not wait for expenses.
   * @param leavesOpen  shares stay open, and are settled too late
   */
  end(leavesOpen: boolean): void {
    if (this.admitting > 0) return;
    if (!leavesOpen) while (this.#open(0)) this.settle(0, 0, 1);
    this.#hold.settle();
    this.isOver = true;
    this.#hold.settle();
  }

  /** At no time more is needed and spent than what is held. */
  check(): void {
    for (const { scope, reservation, booked } of this.reserved) {
      if (!reservation.isLimited || booked.length > 0 || this.isOver) continue;
      const needed = this.needed(this.countsByok(scope));
      if (needed > reservation.nanoUsd) this.wrong.push(`${needed} needed and spent, ${reservation.nanoUsd} held`);
    }
    if (this.isOver) return;
    for (const { share, granted, asking, isSettled } of this.shares) {
      // What is asked for and not refused yet is taken already.
      if (isSettled || asking > 0) continue;
      for (const [at, { scope, reservation }] of this.#current().entries()) {
        const needs = mostOf(granted, this.countsByok(scope));
        if (reservation.isLimited && share.parts[at]?.needNanoUsd !== needs)
          this.wrong.push(`a share says it needs ${share.parts[at]?.needNanoUsd}, and was granted ${needs}`);
      }
    }
  }

  /** Once no question is open and the call is over. */
  checkBooked(): void {
    const scopes = new Set(this.reserved.map(({ scope }) => scope.isFurther === true));
    for (const { booked } of this.reserved)
      if (booked.length !== 1) this.wrong.push(`a reservation was settled ${booked.length} times`);
    for (const isFurther of scopes) {
      const own = this.reserved.filter(({ scope }) => (scope.isFurther === true) === isFurther);
      const booked = own.flatMap((one) => one.booked);
      const sums = [sum(booked.map(({ nanoUsd }) => nanoUsd)), sum(booked.map(({ byokNanoUsd }) => byokNanoUsd))];
      const wanted = [inSum(this.spent, this.countsByok(own[0]?.scope as HoldScope)), this.spent.byokNanoUsd];
      if (`${sums}` !== `${wanted}`) this.wrong.push(`booked ${sums}, and spent ${wanted}`);
    }
    const said = this.#hold.spentNanoUsd;
    if (said !== inSum(this.spent, true)) this.wrong.push(`says ${said} were spent, not ${inSum(this.spent, true)}`);
  }

  /** What open shares need, and what is spent. */
  needed(countsByok: boolean): number {
    const open = this.shares.filter(({ isSettled }) => !isSettled);
    return sum(open.map(({ granted }) => mostOf(granted, countsByok))) + inSum(this.spent, countsByok);
  }

  countsByok({ keyLimit, budgets, isFurther }: HoldScope): boolean {
    const { includeByok } = this.#limits;
    return keyLimit !== null && (isFurther || budgets.length === 0) ? keyLimit.includesByok : includeByok;
  }

  #open(pick: number): Promised | undefined {
    const open = this.shares.filter(({ isSettled }) => !isSettled);
    return open[pick % Math.max(open.length, 1)];
  }

  #add(promised: Promised): void {
    if (this.isOver) this.wrong.push('a share was given out after the call was over');
    this.shares.push(promised);
    this.check();
  }

  #settle(one: Promised, spent: Spent): void {
    one.share.settle(spent);
    one.share.settle({ operatorNanoUsd: 1_000, byokNanoUsd: 1_000 });
    one.isSettled = true;
    if (!this.isOver) this.spent = sumOf([this.spent, spent]);
    this.check();
  }

  async #ask(question: () => Promise<void>, onRefused: () => void = () => undefined): Promise<void> {
    this.asking++;
    try {
      await question();
    } catch (error) {
      const status = isGatewayError(error) ? error.status : String(error);
      if (status === 402) onRefused();
      else if (!(status === 503 && this.#mayFail) && !(error instanceof GatewayError && this.isOver))
        this.wrong.push(`failed with ${status}: ${error}`);
    } finally {
      this.asking--;
    }
    this.check();
  }

  /** The reservations that were not given back, in the order of their budget scopes. */
  #current(): Reserved[] {
    return this.reserved.filter(({ booked }) => booked.length === 0);
  }

  /** Whether there is money for one of these, with what the call holds and does not need. */
  #fits(costs: readonly PlannedCost[], room: Room): boolean {
    const { budgets, keyLimit, includeByok } = this.#limits;
    const isPaid = (cost: PlannedCost, isKey: boolean, countsByok: boolean) => {
      if (cost.isByok && !countsByok) return true;
      const own = this.#current().find(({ scope }) => (isKey ? scope.keyLimit !== null : scope.budgets.length > 0));
      const free = own === undefined ? 0 : own.reservation.nanoUsd - this.needed(countsByok);
      return cost.nanoUsd <= (isKey ? room.key : room.budgets) + free;
    };
    return costs.some(
      (cost) =>
        (budgets.length === 0 || isPaid(cost, false, includeByok)) &&
        (keyLimit === null || isPaid(cost, true, keyLimit.includesByok)),
    );
  }

  #note(scope: HoldScope, reservation: Reservation): Reservation {
    const booked: Actual[] = [];
    this.reserved.push({ scope, reservation, booked });
    return {
      get nanoUsd() {
        return reservation.nanoUsd;
      },
      isLimited: reservation.isLimited,
      extend: (moreNanoUsd) => reservation.extend(moreNanoUsd),
      settle(actual) {
        booked.push(actual);
        reservation.settle(actual);
      },
    };
  }
}

function targetOf({ nanoUsd, isByok }: PlannedCost, modelIndex: number): Target {
  const pricing = { promptPicoUsd: 0, completionPicoUsd: 0, requestPicoUsd: nanoUsd * 1_000 };
  const endpoint = { modelSlug: 'm', providerSlug: 'p', tag: 'p', pricing, maxCompletionTokens: null } as Endpoint;
  return {
    endpoint,
    providerName: 'P',
    credential: { kind: 'operator', provider: 'p' },
    isByok,
    modelIndex,
    workspaceId: defaultWorkspaceId,
  };
}

function spentAt({ endpoint, isByok }: Target): Spent {
  const nanoUsd = (endpoint.pricing?.requestPicoUsd ?? 0) / 1_000;
  return isByok ? { operatorNanoUsd: 0, byokNanoUsd: nanoUsd } : { operatorNanoUsd: nanoUsd, byokNanoUsd: 0 };
}

function attemptAt({ isByok }: Target, costNanoUsd: number): AttemptTrace {
  return { isByok, costNanoUsd } as AttemptTrace;
}

function spentBy({ isByok, costNanoUsd }: AttemptTrace): Spent {
  return isByok ? { operatorNanoUsd: 0, byokNanoUsd: costNanoUsd } : { operatorNanoUsd: costNanoUsd, byokNanoUsd: 0 };
}

function sumOf(parts: readonly Spent[]): Spent {
  return {
    operatorNanoUsd: sum(parts.map(({ operatorNanoUsd }) => operatorNanoUsd)),
    byokNanoUsd: sum(parts.map(({ byokNanoUsd }) => byokNanoUsd)),
  };
}

function inSum({ operatorNanoUsd, byokNanoUsd }: Spent, countsByok: boolean): number {
  return operatorNanoUsd + (countsByok ? byokNanoUsd : 0);
}

function mostOf(granted: readonly Spent[], countsByok: boolean): number {
  return Math.max(0, ...granted.map((spent) => inSum(spent, countsByok)));
}

function sum(amounts: readonly number[]): number {
  return amounts.reduce((total, amount) => total + amount, 0);
}
