import { GatewayError } from '../base/errors.ts';
import type { Call } from '../call/call.ts';
import type { Plan, Try } from '../call/plan.ts';
import type { Trace } from '../call/trace.ts';
import { affordableTokens, boundPrompt, type Ceiling, ceilingOf, type PromptBound } from '../catalog/ceiling.ts';
import type { ChatRequest } from '../schema/chat.ts';
import {
  type BudgetLimit,
  type HoldScope,
  isRefusal,
  type Refusal,
  type Reservation,
} from '../stores/spending/spending.ts';
import type { PipelineDeps } from './deps.ts';

/** What a call spent, by whose account at the provider it was. Integer nano-USD. */
export interface Spent {
  operatorNanoUsd: number;
  byokNanoUsd: number;
}

/** The money held for a call. */
export interface Reserved {
  /** Whether what is held still pays for a further try after what failed attempts cost; holds more where it does not. */
  covers(step: Try, trace: Trace): boolean | Promise<boolean>;
  /** Books what was spent, once. Never throws: what the store does not take is booked later. */
  settle(spent: Spent): void;
}

/** A plan whose tries are all paid for, whichever serves. */
export interface Admitted {
  plan: Plan;
  reserved: Reserved;
}

/** Limits that count the same tries: those of the workspace and of the api key may differ on its own credentials. */
interface Purse {
  scope: HoldScope;
  countsByok: boolean;
}

/** Between our look at a budget and our hold others may take of it; after so many times we give up. */
const maxRounds = 6;

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
  const isLimited = budgets.length > 0 || call.caller.keyLimit !== null;
  if (!isLimited) return { plan, reserved: reservedIn(purses, [await holdFree(deps, purses)]) };

  const prompt = boundPrompt(call.request);
  let tries = priced(deps, call, plan, purses, prompt);
  for (let round = 1; ; round++) {
    const amounts = purses.map((purse) => Math.max(...tries.map((step) => costIn(purse, step))));
    const held = await holdAll(deps, purses, amounts);
    if ('reservations' in held) {
      return { plan: withTries(plan, tries), reserved: reservedIn(purses, held.reservations) };
    }
    const { purse, refusal } = held;
    const { availableNanoUsd } = refusal;
    const fitting = deps.budgets.shrinkToFit
      ? shrunk(deps, call.request, tries, purse, prompt, availableNanoUsd)
      : tries.filter((step) => costIn(purse, step) <= availableNanoUsd);
    // What stands in the way of the cheapest, rather than of the dearest that it could have been.
    if (fitting.length === 0) throw refusal.errorFor(Math.min(...tries.map((step) => costIn(purse, step))));
    if (round === maxRounds) throw refusal.error;
    tries = fitting;
  }
}

function pursesOf(
  deps: PipelineDeps,
  { caller, receivedAtMs }: Call,
  plan: Plan,
  budgets: readonly BudgetLimit[],
): Purse[] {
  const { workspaceId, apiKeyHash, keyLimit } = caller;
  const scope: HoldScope = { workspaceId, apiKeyHash, keyLimit, budgets, atMs: receivedAtMs };
  const { includeByok } = deps.budgets;
  if (keyLimit === null || keyLimit.includesByok === includeByok || !plan.tries.some(({ isByok }) => isByok))
    return [{ scope, countsByok: keyLimit !== null && budgets.length === 0 ? keyLimit.includesByok : includeByok }];
  return [
    { scope: { ...scope, apiKeyHash: null, keyLimit: null }, countsByok: includeByok },
    { scope: { ...scope, budgets: [], isFurther: true }, countsByok: keyLimit.includesByok },
  ];
}

/** Nothing is limited: what is spent is only counted. */
async function holdFree(deps: PipelineDeps, [purse]: readonly Purse[]): Promise<Reservation> {
  return (await deps.spending.hold((purse as Purse).scope, 0)) as Reservation;
}

/** The tries whose worst case is known, with it. */
function priced(
  deps: PipelineDeps,
  { request }: Call,
  plan: Plan,
  purses: readonly Purse[],
  prompt: PromptBound,
): readonly Try[] {
  const unpriced = new Set<string>();
  const tries: Try[] = [];
  for (const step of plan.tries) {
    if (step.isByok && !purses.some(({ countsByok }) => countsByok)) {
      tries.push({ ...step, ceilingNanoUsd: 0 });
      continue;
    }
    const ceiling = isDearTier(request) ? null : ceilingOf(request, prompt, step.endpoint, boundsOf(deps, step));
    if (ceiling) tries.push(atMost(step, ceiling, ceiling.mustSend));
    else if (deps.budgets.unknownPrice === 'allow') tries.push({ ...step, ceilingNanoUsd: 0 });
    else unpriced.add(`${step.endpoint.modelSlug} at ${step.endpoint.tag}${tierOf(request)}`);
  }
  if (tries.length > 0) return tries;
  const names = [...unpriced];
  throw new GatewayError(
    'invalid_request',
    `The price of ${names.join(', ')} is not known, so its cost cannot be held against the budget; choose another model, or have a price configured`,
    { metadata: { unpriced: names } },
  );
}

/** Tiers that cost more than the list price, by how much is the provider's to know. */
function isDearTier({ service_tier }: ChatRequest): boolean {
  return service_tier === 'priority' || service_tier === 'scale';
}

function tierOf(request: ChatRequest): string {
  return isDearTier(request) ? ` in service tier ${request.service_tier}` : '';
}

function atMost(step: Try, { nanoUsd, promptTokens, completionTokens, maxTokens }: Ceiling, mustSend: boolean): Try {
  const bounded = { ...step, ceilingNanoUsd: nanoUsd, mostTokens: { promptTokens, completionTokens } };
  return mustSend ? { ...bounded, maxTokens } : bounded;
}

function boundsOf({ budgets, provider }: PipelineDeps, { endpoint }: Try) {
  const minMaxTokens = provider(endpoint.providerSlug)?.quirks.minMaxTokens ?? 0;
  return { defaultMaxTokens: budgets.defaultMaxTokens, minMaxTokens };
}

function costIn({ countsByok }: Purse, step: Try): number {
  return step.isByok && !countsByok ? 0 : (step.ceilingNanoUsd ?? 0);
}

type Held = { reservations: Reservation[] } | { purse: Purse; refusal: Refusal };

/** All purses, or none. */
async function holdAll(deps: PipelineDeps, purses: readonly Purse[], amounts: readonly number[]): Promise<Held> {
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
  return { reservations };
}

/** The tries with the largest output that the amount pays for; without those whose prompt alone is dearer. */
function shrunk(
  deps: PipelineDeps,
  request: ChatRequest,
  tries: readonly Try[],
  purse: Purse,
  prompt: PromptBound,
  amountNanoUsd: number,
): Try[] {
  return tries.flatMap((step) => {
    if (costIn(purse, step) <= amountNanoUsd) return [step];
    const bounds = boundsOf(deps, step);
    const maxTokens = affordableTokens(request, prompt, step.endpoint, amountNanoUsd, bounds);
    if (maxTokens < 1) return [];
    const ceiling = ceilingOf(
      { ...request, max_tokens: null, max_completion_tokens: maxTokens },
      prompt,
      step.endpoint,
      bounds,
    );
    return ceiling && ceiling.nanoUsd <= amountNanoUsd ? [atMost(step, ceiling, true)] : [];
  });
}

/** The plan with what is left of its tries; the others are excluded, by the budget. */
function withTries(plan: Plan, tries: readonly Try[]): Plan {
  if (tries.length === plan.tries.length) return { ...plan, tries };
  const left = new Set(tries.map(({ endpoint }) => endpoint));
  const dropped = new Set(plan.tries.map(({ endpoint }) => endpoint).filter((endpoint) => !left.has(endpoint)));
  const excluded = [...dropped].map(({ modelSlug, tag }) => ({ model: modelSlug, provider: tag, filter: 'budget' }));
  return { ...plan, tries, excluded: excluded.length === 0 ? plan.excluded : [...plan.excluded, ...excluded] };
}

function reservedIn(purses: readonly Purse[], reservations: readonly Reservation[]): Reserved {
  const inPurse = ({ countsByok }: Purse, { operatorNanoUsd, byokNanoUsd }: Spent) =>
    operatorNanoUsd + (countsByok ? byokNanoUsd : 0);

  return {
    covers(step, trace) {
      const spent = spentOnFailures(trace);
      const missing = purses.map(
        (purse, at) => inPurse(purse, spent) + costIn(purse, step) - (reservations[at] as Reservation).nanoUsd,
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
