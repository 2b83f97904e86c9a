import { andThen } from '../../base/async/and-then.ts';
import { GatewayError } from '../../base/errors.ts';
import type { Ask } from '../../call/ask.ts';
import type { Call } from '../../call/call.ts';
import type { Plan, Target } from '../../call/plan.ts';
import { affordableTokens, type Ceiling, type CeilingOptions, ceilingOf, unknownPart } from '../../pricing/ceiling.ts';
import { boundPrompt, type PromptBound } from '../../pricing/prompt-bound.ts';
import type { ChatRequest } from '../../schema/chat/chat.ts';
import type { BudgetLimit, HoldScope, Refusal } from '../../stores/spending/spending.ts';
import type { MoneyDeps } from '../deps.ts';
import { sentTo } from '../plan/shortening.ts';
import { holdOf, withExpectedCost } from './expected-cost.ts';

/**
 * The cost of a request, as holding its money asks for it, whatever the request is for.
 */
export interface CostBounds {
  /**
   * Returns the targets of a plan whose worst case is known, with it.
   * @throws GatewayError invalid_request (400) when none is left, as a price that is needed is not known
   */
  priced(plan: Plan, budgetScopes: readonly BudgetScope[]): readonly Target[];
  /** Returns the targets that an amount pays for, possibly with less output. */
  fitting(targets: readonly Target[], budgetScope: BudgetScope, availableNanoUsd: number): readonly Target[];
  /** Returns the cost of the cheapest target, and the largest output that the amount pays for; 0: none. */
  cheapest(
    targets: readonly Target[],
    budgetScope: BudgetScope,
    availableNanoUsd: number,
  ): { nanoUsd: number; maxTokens: number };
}

/** The part of a call that money is held for. */
export type HeldCall = Pick<Call, 'id' | 'caller' | 'receivedAtMs'>;

/** Limits that count the same targets. Those of the workspace and of the api key may differ on BYOK credentials. */
export interface BudgetScope {
  scope: HoldScope;
  countsByok: boolean;
}

/** Money in one budget scope, integer nano-USD. */
export interface ScopeAmount {
  budgetScope: BudgetScope;
  nanoUsd: number;
}

/** The budget scope that does not have the money. */
export interface NotHeld {
  budgetScope: BudgetScope;
  refusal: Refusal;
}

/** The result of asking for money: the hold of it, or the reason why it is not held. */
export type HeldOrNot<T> = { held: T } | NotHeld;

/** The most rounds. Other calls may take of a budget between our look at it and our hold, and then we look again. */
const maxRounds = 6;

/** The targets of a plan that can be paid for, and the hold of their money. */
export interface Afforded<T> {
  plan: Plan;
  held: T;
}

/**
 * Finds the targets of a plan that can be paid for, and asks for the money of the dearest. Returns no promise where
 * `hold` returns none: docs/performance.md, "Values instead of promises".
 * @param hold  asks for an amount in each budget scope: all or none
 * @throws GatewayError payment_required (402) when no target fits; invalid_request (400) when a price that is needed is
 * not known; the error of `hold`
 */
export function afford<T>(
  bounds: CostBounds,
  plan: Plan,
  budgetScopes: readonly BudgetScope[],
  hold: (amounts: readonly ScopeAmount[]) => HeldOrNot<T> | Promise<HeldOrNot<T>>,
): Afforded<T> | Promise<Afforded<T>> {
  return tryToHold(1, bounds.priced(plan, budgetScopes));

  function tryToHold(round: number, targets: readonly Target[]): Afforded<T> | Promise<Afforded<T>> {
    return andThen(hold(amountsFor(budgetScopes, targets)), (asked) => {
      if ('held' in asked) return { plan: withTargets(plan, targets), held: asked.held };
      const { budgetScope, refusal } = asked;
      const { availableNanoUsd } = refusal;
      const fitting = bounds.fitting(targets, budgetScope, availableNanoUsd);
      if (fitting.length === 0) {
        // The error names the amount that the cheapest target lacks, and not the one that the dearest would have
        // needed.
        const { nanoUsd, maxTokens } = bounds.cheapest(targets, budgetScope, availableNanoUsd);
        throw refusal.errorFor(nanoUsd, maxTokens);
      }
      if (round === maxRounds) throw refusal.error;
      return tryToHold(round + 1, fitting);
    });
  }
}

/** Returns the bounds of a chat request. Its prompt is counted at the first question, and once. */
export function chatBounds(deps: MoneyDeps, ask: Ask): CostBounds {
  return new ChatBounds(deps, ask);
}

class ChatBounds implements CostBounds {
  readonly #deps: MoneyDeps;
  readonly #ask: Ask;
  #prompt: PromptBound | null = null;

  constructor(deps: MoneyDeps, ask: Ask) {
    this.#deps = deps;
    this.#ask = ask;
  }

  get #bound(): PromptBound {
    this.#prompt ??= boundPrompt(this.#ask);
    return this.#prompt;
  }

  priced(plan: Plan, budgetScopes: readonly BudgetScope[]): readonly Target[] {
    return priced(this.#deps, this.#ask, plan, budgetScopes, this.#bound);
  }

  fitting(targets: readonly Target[], budgetScope: BudgetScope, availableNanoUsd: number): readonly Target[] {
    return fittingTargets(this.#deps, this.#ask, targets, budgetScope, this.#bound, availableNanoUsd);
  }

  cheapest(targets: readonly Target[], budgetScope: BudgetScope, availableNanoUsd: number) {
    const costs = targets.map((target) => costIn(budgetScope, withCap(this.#deps, this.#ask, target, this.#bound)));
    const maxTokens = targets.map((target) => {
      const sent = sentTo(this.#deps, this.#ask, this.#bound, target);
      const bounds = boundsOf(this.#deps, this.#ask, target);
      return affordableTokens(sent.own, sent.prompt, target.endpoint, availableNanoUsd, bounds);
    });
    return { nanoUsd: Math.min(...costs), maxTokens: Math.max(...maxTokens) };
  }
}

function fittingTargets(
  deps: MoneyDeps,
  ask: Ask,
  targets: readonly Target[],
  budgetScope: BudgetScope,
  prompt: PromptBound,
  availableNanoUsd: number,
): readonly Target[] {
  if (deps.budgets.shrinkToFit) return shrunk(deps, ask, targets, budgetScope, prompt, availableNanoUsd);
  const fits = (target: Target) => costIn(budgetScope, target) <= availableNanoUsd;
  return targets.map((target) => (fits(target) ? target : withCap(deps, ask, target, prompt))).filter(fits);
}

/**
 * Returns the target with its largest output sent, if that costs less than all output that the context admits. The
 * provider may then refuse a long prompt, which is better than a refusal here.
 */
function withCap(deps: MoneyDeps, ask: Ask, target: Target, prompt: PromptBound): Target {
  if (target.maxTokens !== undefined || !target.ceilingNanoUsd) return target;
  const sent = sentTo(deps, ask, prompt, target);
  const ceiling = ceilingOf(sent.own, sent.prompt, target.endpoint, {
    ...boundsOf(deps, ask, target),
    alwaysSend: true,
  });
  return ceiling?.mustSend && ceiling.nanoUsd < target.ceilingNanoUsd ? atMost(target, ceiling, true) : target;
}

/** Returns the most that the dearest target may cost in each budget scope. */
export function amountsFor(budgetScopes: readonly BudgetScope[], targets: readonly Target[]): ScopeAmount[] {
  return budgetScopes.map((budgetScope) => {
    let nanoUsd = 0;
    for (const target of targets) nanoUsd = Math.max(nanoUsd, costIn(budgetScope, target));
    return { budgetScope, nanoUsd };
  });
}

/** true: a budget or the limit of the api key limits the call. */
export function isLimited({ caller }: Pick<Call, 'caller'>, budgets: readonly BudgetLimit[]): boolean {
  return budgets.length > 0 || caller.keyLimit !== null;
}

/**
 * Returns one budget scope, where all limits count the same; two where the workspace's budgets and the api key's limit
 * differ on BYOK credentials.
 * @param mayRepeat  more plans may follow, which may use BYOK credentials
 */
export function budgetScopesOf(
  deps: MoneyDeps,
  { id: callId, caller, receivedAtMs }: HeldCall,
  targets: readonly Target[],
  budgets: readonly BudgetLimit[],
  mayRepeat = false,
): BudgetScope[] {
  const { workspaceId, apiKeyHash, keyLimit } = caller;
  const scope: HoldScope = { workspaceId, apiKeyHash, keyLimit, budgets, atMs: receivedAtMs, callId };
  const { includeByok } = deps.budgets;
  const isOne = keyLimit === null || keyLimit.includesByok === includeByok;
  if (isOne || !(mayRepeat || targets.some(({ isByok }) => isByok)))
    return [{ scope, countsByok: keyLimit !== null && budgets.length === 0 ? keyLimit.includesByok : includeByok }];
  const ofWorkspace = budgets.filter(({ guardrail }) => guardrail === undefined);
  return [
    { scope: { ...scope, budgets: ofWorkspace, apiKeyHash: null, keyLimit: null }, countsByok: includeByok },
    { scope: { ...scope, isFurther: true }, countsByok: keyLimit.includesByok },
  ];
}

/** Returns the targets whose worst case is known, with it. */
function priced(
  deps: MoneyDeps,
  ask: Ask,
  plan: Plan,
  budgetScopes: readonly BudgetScope[],
  prompt: PromptBound,
): readonly Target[] {
  const unpriced: string[] = [];
  const targets: Target[] = [];
  const refusesFields = prompt.unknownFields.size > 0 && deps.budgets.unknownFields === 'refuse';
  for (const target of plan.targets) {
    if (target.isByok && !budgetScopes.some(({ countsByok }) => countsByok)) {
      targets.push({ ...target, ceilingNanoUsd: 0 });
      continue;
    }
    if (refusesFields) continue;
    const ceiling = ceilingFor(deps, ask, prompt, target);
    if (ceiling) targets.push(expected(deps, ask.request, atMost(target, ceiling, ceiling.mustSend)));
    else if (deps.budgets.unknownPrice === 'allow') targets.push({ ...target, ceilingNanoUsd: 0 });
    else unpriced.push(unpricedOf(deps, ask, prompt, target));
  }
  if (targets.length > 0) return targets;
  if (refusesFields) throw unknownFieldsError(prompt);
  const names = [...new Set(unpriced)];
  throw new GatewayError(
    'invalid_request',
    `The price of ${names.join(', ')} is not known, so its cost cannot be held against the budget; choose another model, or have a price configured`,
    { metadata: { unpriced: names } },
  );
}

function expected({ outputEstimates }: MoneyDeps, request: ChatRequest, target: Target): Target {
  return outputEstimates === null ? target : withExpectedCost(outputEstimates, request, target);
}

function unknownFieldsError({ unknownFields }: PromptBound): GatewayError {
  const names = [...unknownFields];
  return new GatewayError(
    'invalid_request',
    `What the provider charges for ${names.join(', ')} is not known, so the cost cannot be held against the budget; leave out what is named`,
    { metadata: { unknown_fields: names } },
  );
}

/** Returns the most a target can cost; null: its price, or that of the tier it is asked in, is not known. */
export function ceilingFor(deps: MoneyDeps, ask: Ask, prompt: PromptBound, target: Target): Ceiling | null {
  if (isDearTier(ask.request, target)) return null;
  const sent = sentTo(deps, ask, prompt, target);
  return ceilingOf(sent.own, sent.prompt, target.endpoint, boundsOf(deps, ask, target));
}

/**
 * true: the tier costs more than the list price. Only the provider knows how much more; an endpoint of a tier has a
 * price of its own.
 */
function isDearTier({ service_tier: tier }: ChatRequest, { endpoint }: Target): boolean {
  return endpoint.serviceTier === undefined && (tier === 'priority' || tier === 'scale');
}

/** Returns the words that complete "the price of … is not known". */
function unpricedOf(deps: MoneyDeps, ask: Ask, prompt: PromptBound, target: Target): string {
  const { endpoint } = target;
  const name = `${endpoint.modelSlug} at ${endpoint.tag}`;
  if (isDearTier(ask.request, target)) return `${name} in service tier ${ask.request.service_tier}`;
  const part = unknownPart(prompt, endpoint, boundsOf(deps, ask, target));
  return part ? `${name} for ${part}` : name;
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

function boundsOf(
  { budgets: { defaultMaxTokens }, provider }: MoneyDeps,
  { native }: Ask,
  { endpoint }: Target,
): CeilingOptions {
  const serving = provider(endpoint.providerSlug);
  if (serving === null) return { defaultMaxTokens };
  const { dialect, quirks } = serving;
  const isOwnFormat = native !== null && dialect.format === native.format;
  return { defaultMaxTokens, minMaxTokens: dialect.minMaxTokens(quirks), isOwnFormat, ...dialect.counting?.(quirks) };
}

export function costIn({ countsByok }: BudgetScope, target: Target): number {
  return target.isByok && !countsByok ? 0 : holdOf(target);
}

/** Returns the targets with the largest output that the amount pays for, without those whose prompt alone is dearer. */
function shrunk(
  deps: MoneyDeps,
  ask: Ask,
  targets: readonly Target[],
  budgetScope: BudgetScope,
  prompt: PromptBound,
  amountNanoUsd: number,
): Target[] {
  return targets.flatMap((target) => {
    if (costIn(budgetScope, target) <= amountNanoUsd) return [target];
    const bounds = boundsOf(deps, ask, target);
    const { own, prompt: bound } = sentTo(deps, ask, prompt, target);
    const maxTokens = affordableTokens(own, bound, target.endpoint, amountNanoUsd, bounds);
    if (maxTokens < 1) return [];
    const ceiling = ceilingOf(
      { ...own, max_tokens: null, max_completion_tokens: maxTokens },
      bound,
      target.endpoint,
      bounds,
    );
    return ceiling && ceiling.nanoUsd <= amountNanoUsd ? [atMost(target, ceiling, true)] : [];
  });
}

/** Returns the plan with the targets that are left; the budget excludes the others. */
export function withTargets(plan: Plan, targets: readonly Target[]): Plan {
  if (targets.length === plan.targets.length) return { ...plan, targets };
  const left = new Set(targets.map(({ endpoint }) => endpoint));
  const dropped = new Set(plan.targets.map(({ endpoint }) => endpoint).filter((endpoint) => !left.has(endpoint)));
  const excluded = [...dropped].map(({ modelSlug, tag }) => ({ model: modelSlug, provider: tag, filter: 'budget' }));
  return { ...plan, targets, excluded: excluded.length === 0 ? plan.excluded : [...plan.excluded, ...excluded] };
}
