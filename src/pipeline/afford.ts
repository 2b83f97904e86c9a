import { andThen } from '../base/and-then.ts';
import { GatewayError } from '../base/errors.ts';
import type { Call } from '../call/call.ts';
import type { Plan, Target } from '../call/plan.ts';
import { affordableTokens, boundPrompt, type Ceiling, ceilingOf, type PromptBound } from '../pricing/ceiling.ts';
import type { ChatRequest } from '../schema/chat.ts';
import type { BudgetLimit, HoldScope, Refusal } from '../stores/spending/spending.ts';
import type { MoneyDeps } from './deps.ts';

/** Limits that count the same targets. Those of the workspace and of the api key may differ on BYOK credentials. */
export interface BudgetScope {
  scope: HoldScope;
  countsByok: boolean;
}

/** The budget scope that does not have the money. */
export interface NotHeld {
  budgetScope: BudgetScope;
  refusal: Refusal;
}

/** The result of asking for money: what stands for it, or why it is not held. */
export type HeldOrNot<T> = { held: T } | NotHeld;

/** Between our look at a budget and our hold, other calls may take of it. After so many rounds we give up. */
const maxRounds = 6;

/** What is left of a plan, and what stands for its money. */
export interface Afforded<T> {
  plan: Plan;
  held: T;
  /** What was asked for, by budget scope. */
  amounts: readonly number[];
}

/**
 * Finds the targets of a plan that can be paid for, and asks for the money of the dearest. Without a promise where `hold`
 * answers without: docs/performance.md, "Values instead of promises".
 * @param hold  asks for an amount in each budget scope: all or none
 * @throws GatewayError payment_required (402) when no target fits; invalid_request (400) when a price that is needed is
 *         not known; whatever `hold` throws
 */
export function afford<T>(
  deps: MoneyDeps,
  request: ChatRequest,
  plan: Plan,
  budgetScopes: readonly BudgetScope[],
  hold: (amounts: readonly number[]) => HeldOrNot<T> | Promise<HeldOrNot<T>>,
): Afforded<T> | Promise<Afforded<T>> {
  const prompt = boundPrompt(request);
  return ask(1, priced(deps, request, plan, budgetScopes, prompt));

  function ask(round: number, targets: readonly Target[]): Afforded<T> | Promise<Afforded<T>> {
    const amounts = amountsFor(budgetScopes, targets);
    return andThen(hold(amounts), (asked) => {
      if ('held' in asked) return { plan: withTargets(plan, targets), held: asked.held, amounts };
      const { budgetScope, refusal } = asked;
      const fitting = fittingTargets(deps, request, targets, budgetScope, prompt, refusal.availableNanoUsd);
      // The error names what the cheapest target lacks, not what the dearest would have needed.
      if (fitting.length === 0)
        throw refusal.errorFor(Math.min(...targets.map((target) => costIn(budgetScope, target))));
      if (round === maxRounds) throw refusal.error;
      return ask(round + 1, fitting);
    });
  }
}

function fittingTargets(
  deps: MoneyDeps,
  request: ChatRequest,
  targets: readonly Target[],
  budgetScope: BudgetScope,
  prompt: PromptBound,
  availableNanoUsd: number,
): readonly Target[] {
  return deps.budgets.shrinkToFit
    ? shrunk(deps, request, targets, budgetScope, prompt, availableNanoUsd)
    : targets.filter((target) => costIn(budgetScope, target) <= availableNanoUsd);
}

/** What the dearest target may cost in each budget scope, integer nano-USD. */
export function amountsFor(budgetScopes: readonly BudgetScope[], targets: readonly Target[]): number[] {
  const amounts: number[] = [];
  for (const budgetScope of budgetScopes) {
    let dearest = 0;
    for (const target of targets) dearest = Math.max(dearest, costIn(budgetScope, target));
    amounts.push(dearest);
  }
  return amounts;
}

/** Whether anything limits what a call may spend. */
export function isLimited({ caller }: Call, budgets: readonly BudgetLimit[]): boolean {
  return budgets.length > 0 || caller.keyLimit !== null;
}

/**
 * One budget scope, where all limits count the same; two where the workspace's budgets and the api key's limit differ on
 * BYOK credentials.
 * @param mayRepeat  more plans may follow, of which nobody knows yet whether they use BYOK credentials
 */
export function budgetScopesOf(
  deps: MoneyDeps,
  { caller, receivedAtMs }: Call,
  targets: readonly Target[],
  budgets: readonly BudgetLimit[],
  mayRepeat = false,
): BudgetScope[] {
  const { workspaceId, apiKeyHash, keyLimit } = caller;
  const scope: HoldScope = { workspaceId, apiKeyHash, keyLimit, budgets, atMs: receivedAtMs };
  const { includeByok } = deps.budgets;
  const isOne = keyLimit === null || keyLimit.includesByok === includeByok;
  if (isOne || !(mayRepeat || targets.some(({ isByok }) => isByok)))
    return [{ scope, countsByok: keyLimit !== null && budgets.length === 0 ? keyLimit.includesByok : includeByok }];
  return [
    { scope: { ...scope, apiKeyHash: null, keyLimit: null }, countsByok: includeByok },
    { scope: { ...scope, budgets: [], isFurther: true }, countsByok: keyLimit.includesByok },
  ];
}

/** The targets whose worst case is known, with it. */
function priced(
  deps: MoneyDeps,
  request: ChatRequest,
  plan: Plan,
  budgetScopes: readonly BudgetScope[],
  prompt: PromptBound,
): readonly Target[] {
  const unpriced: string[] = [];
  const targets: Target[] = [];
  for (const target of plan.targets) {
    if (target.isByok && !budgetScopes.some(({ countsByok }) => countsByok)) {
      targets.push({ ...target, ceilingNanoUsd: 0 });
      continue;
    }
    const ceiling = ceilingFor(deps, request, prompt, target);
    if (ceiling) targets.push(atMost(target, ceiling, ceiling.mustSend));
    else if (deps.budgets.unknownPrice === 'allow') targets.push({ ...target, ceilingNanoUsd: 0 });
    else unpriced.push(`${target.endpoint.modelSlug} at ${target.endpoint.tag}${tierOf(request, target)}`);
  }
  if (targets.length > 0) return targets;
  const names = [...new Set(unpriced)];
  throw new GatewayError(
    'invalid_request',
    `The price of ${names.join(', ')} is not known, so its cost cannot be held against the budget; choose another model, or have a price configured`,
    { metadata: { unpriced: names } },
  );
}

/** The most a target can cost; null: its price, or that of the tier it is asked in, is not known. */
export function ceilingFor(deps: MoneyDeps, request: ChatRequest, prompt: PromptBound, target: Target): Ceiling | null {
  return isDearTier(request, target) ? null : ceilingOf(request, prompt, target.endpoint, boundsOf(deps, target));
}

/**
 * Tiers that cost more than the list price, by how much is the provider's to know; an endpoint of a tier has a price of
 * its own.
 */
function isDearTier({ service_tier: tier }: ChatRequest, { endpoint }: Target): boolean {
  return endpoint.serviceTier === undefined && (tier === 'priority' || tier === 'scale');
}

function tierOf(request: ChatRequest, target: Target): string {
  return isDearTier(request, target) ? ` in service tier ${request.service_tier}` : '';
}

function atMost(
  target: Target,
  { nanoUsd, promptTokens, completionTokens, maxTokens }: Ceiling,
  mustSend: boolean,
): Target {
  const mostTokens = { promptTokens, completionTokens };
  return mustSend
    ? { ...target, ceilingNanoUsd: nanoUsd, mostTokens, maxTokens }
    : { ...target, ceilingNanoUsd: nanoUsd, mostTokens };
}

function boundsOf({ budgets, provider }: MoneyDeps, { endpoint }: Target) {
  const serving = provider(endpoint.providerSlug);
  const minMaxTokens = serving?.dialect.minMaxTokens(serving.quirks) ?? 0;
  return { defaultMaxTokens: budgets.defaultMaxTokens, minMaxTokens };
}

export function costIn({ countsByok }: BudgetScope, target: Target): number {
  return target.isByok && !countsByok ? 0 : (target.ceilingNanoUsd ?? 0);
}

/** The targets with the largest output that the amount pays for, without those whose prompt alone is dearer. */
function shrunk(
  deps: MoneyDeps,
  request: ChatRequest,
  targets: readonly Target[],
  budgetScope: BudgetScope,
  prompt: PromptBound,
  amountNanoUsd: number,
): Target[] {
  return targets.flatMap((target) => {
    if (costIn(budgetScope, target) <= amountNanoUsd) return [target];
    const bounds = boundsOf(deps, target);
    const maxTokens = affordableTokens(request, prompt, target.endpoint, amountNanoUsd, bounds);
    if (maxTokens < 1) return [];
    const ceiling = ceilingOf(
      { ...request, max_tokens: null, max_completion_tokens: maxTokens },
      prompt,
      target.endpoint,
      bounds,
    );
    return ceiling && ceiling.nanoUsd <= amountNanoUsd ? [atMost(target, ceiling, true)] : [];
  });
}

/** The plan with the targets that are left; the budget excludes the others. */
export function withTargets(plan: Plan, targets: readonly Target[]): Plan {
  if (targets.length === plan.targets.length) return { ...plan, targets };
  const left = new Set(targets.map(({ endpoint }) => endpoint));
  const dropped = new Set(plan.targets.map(({ endpoint }) => endpoint).filter((endpoint) => !left.has(endpoint)));
  const excluded = [...dropped].map(({ modelSlug, tag }) => ({ model: modelSlug, provider: tag, filter: 'budget' }));
  return { ...plan, targets, excluded: excluded.length === 0 ? plan.excluded : [...plan.excluded, ...excluded] };
}
