import { andThen } from '../base/and-then.ts';
import { GatewayError } from '../base/errors.ts';
import type { Call } from '../call/call.ts';
import type { Plan, Try } from '../call/plan.ts';
import { affordableTokens, boundPrompt, type Ceiling, ceilingOf, type PromptBound } from '../catalog/ceiling.ts';
import type { ChatRequest } from '../schema/chat.ts';
import type { BudgetLimit, HoldScope, Refusal } from '../stores/spending/spending.ts';
import type { PipelineDeps } from './deps.ts';

/** Limits that count the same tries: those of the workspace and of the api key may differ on its own credentials. */
export interface Purse {
  scope: HoldScope;
  countsByok: boolean;
}

/** Between our look at a budget and our hold others may take of it; after so many times we give up. */
const maxRounds = 6;

/** What came of asking for the money: something that stands for it, or the purse that does not have it. */
export type Held<T> = { held: T } | { purse: Purse; refusal: Refusal };

/** What is left of a plan, and what stands for its money. */
export interface Afforded<T> {
  plan: Plan;
  held: T;
}

/**
 * Finds the tries of a plan that can be paid for, and asks for the money of the dearest. Without a promise where `hold`
 * answers without.
 * @param hold  asks for an amount in each purse: all or none
 * @throws GatewayError payment_required (402) when no try fits; invalid_request (400) when a price that is needed is not
 *         known; what `hold` throws
 */
export function afford<T>(
  deps: PipelineDeps,
  call: Call,
  plan: Plan,
  purses: readonly Purse[],
  hold: (amounts: readonly number[]) => Held<T> | Promise<Held<T>>,
): Afforded<T> | Promise<Afforded<T>> {
  const prompt = boundPrompt(call.request);
  return ask(1, priced(deps, call, plan, purses, prompt));

  function ask(round: number, tries: readonly Try[]): Afforded<T> | Promise<Afforded<T>> {
    return andThen(hold(amountsFor(purses, tries)), (asked) => answered(round, tries, asked));
  }

  function answered(round: number, tries: readonly Try[], asked: Held<T>): Afforded<T> | Promise<Afforded<T>> {
    if ('held' in asked) return { plan: withTries(plan, tries), held: asked.held };
    const { purse, refusal } = asked;
    const { availableNanoUsd } = refusal;
    const fitting = deps.budgets.shrinkToFit
      ? shrunk(deps, call.request, tries, purse, prompt, availableNanoUsd)
      : tries.filter((step) => costIn(purse, step) <= availableNanoUsd);
    // What stands in the way of the cheapest, rather than of the dearest that it could have been.
    if (fitting.length === 0) throw refusal.errorFor(Math.min(...tries.map((step) => costIn(purse, step))));
    if (round === maxRounds) throw refusal.error;
    return ask(round + 1, fitting);
  }
}

/** What the dearest of the tries may cost in each purse. */
export function amountsFor(purses: readonly Purse[], tries: readonly Try[]): number[] {
  const amounts: number[] = [];
  for (const purse of purses) {
    let dearest = 0;
    for (const step of tries) dearest = Math.max(dearest, costIn(purse, step));
    amounts.push(dearest);
  }
  return amounts;
}

/** Whether anything limits what a call may spend. */
export function isLimited({ caller }: Call, budgets: readonly BudgetLimit[]): boolean {
  return budgets.length > 0 || caller.keyLimit !== null;
}

export function pursesOf(
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

/** The tries whose worst case is known, with it. */
function priced(
  deps: PipelineDeps,
  { request }: Call,
  plan: Plan,
  purses: readonly Purse[],
  prompt: PromptBound,
): readonly Try[] {
  const unpriced: string[] = [];
  const tries: Try[] = [];
  for (const step of plan.tries) {
    if (step.isByok && !purses.some(({ countsByok }) => countsByok)) {
      tries.push({ ...step, ceilingNanoUsd: 0 });
      continue;
    }
    const ceiling = ceilingFor(deps, request, prompt, step);
    if (ceiling) tries.push(atMost(step, ceiling, ceiling.mustSend));
    else if (deps.budgets.unknownPrice === 'allow') tries.push({ ...step, ceilingNanoUsd: 0 });
    else unpriced.push(`${step.endpoint.modelSlug} at ${step.endpoint.tag}${tierOf(request, step)}`);
  }
  if (tries.length > 0) return tries;
  const names = [...new Set(unpriced)];
  throw new GatewayError(
    'invalid_request',
    `The price of ${names.join(', ')} is not known, so its cost cannot be held against the budget; choose another model, or have a price configured`,
    { metadata: { unpriced: names } },
  );
}

/** The most a try can cost; null: its price, or that of the tier it is asked in, is not known. */
export function ceilingFor(deps: PipelineDeps, request: ChatRequest, prompt: PromptBound, step: Try): Ceiling | null {
  return isDearTier(request, step) ? null : ceilingOf(request, prompt, step.endpoint, boundsOf(deps, step));
}

/**
 * Tiers that cost more than the list price, by how much is the provider's to know; an endpoint of a tier has a price of
 * its own.
 */
function isDearTier({ service_tier: tier }: ChatRequest, { endpoint }: Try): boolean {
  return endpoint.serviceTier === undefined && (tier === 'priority' || tier === 'scale');
}

function tierOf(request: ChatRequest, step: Try): string {
  return isDearTier(request, step) ? ` in service tier ${request.service_tier}` : '';
}

function atMost(step: Try, { nanoUsd, promptTokens, completionTokens, maxTokens }: Ceiling, mustSend: boolean): Try {
  const mostTokens = { promptTokens, completionTokens };
  return mustSend
    ? { ...step, ceilingNanoUsd: nanoUsd, mostTokens, maxTokens }
    : { ...step, ceilingNanoUsd: nanoUsd, mostTokens };
}

function boundsOf({ budgets, provider }: PipelineDeps, { endpoint }: Try) {
  const minMaxTokens = provider(endpoint.providerSlug)?.quirks.minMaxTokens ?? 0;
  return { defaultMaxTokens: budgets.defaultMaxTokens, minMaxTokens };
}

export function costIn({ countsByok }: Purse, step: Try): number {
  return step.isByok && !countsByok ? 0 : (step.ceilingNanoUsd ?? 0);
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
export function withTries(plan: Plan, tries: readonly Try[]): Plan {
  if (tries.length === plan.tries.length) return { ...plan, tries };
  const left = new Set(tries.map(({ endpoint }) => endpoint));
  const dropped = new Set(plan.tries.map(({ endpoint }) => endpoint).filter((endpoint) => !left.has(endpoint)));
  const excluded = [...dropped].map(({ modelSlug, tag }) => ({ model: modelSlug, provider: tag, filter: 'budget' }));
  return { ...plan, tries, excluded: excluded.length === 0 ? plan.excluded : [...plan.excluded, ...excluded] };
}
