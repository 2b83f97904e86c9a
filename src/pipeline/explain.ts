import { type GatewayError, isGatewayError } from '../base/errors.ts';
import type { Call } from '../call/call.ts';
import type { Exclusion, Plan, Target } from '../call/plan.ts';
import type { Ceiling } from '../pricing/ceiling.ts';
import { boundPrompt } from '../pricing/prompt-bound.ts';
import { standingOfTarget } from '../routing/plan.ts';
import type { Standing } from '../routing/rank.ts';
import type { Preview } from '../stores/spending/spending.ts';
import {
  afford,
  amountsFor,
  type BudgetScope,
  budgetScopesOf,
  ceilingFor,
  type HeldOrNot,
  isLimited,
  withTargets,
} from './afford.ts';
import type { GenerateDeps, PipelineDeps } from './deps.ts';
import { type Gathered, gather } from './gather.ts';
import { planOf } from './generate.ts';
import { checkAvailable } from './screen.ts';

/** How a call would be routed and paid for at this moment. */
export interface Explained {
  /** null: the call would be refused before a try. */
  plan: Plan | null;
  /** For a request that names no model; null: there is none. */
  defaultModel: string | null;
  /** What would be tried, in order. */
  targets: readonly ExplainedTarget[];
  excluded: readonly Exclusion[];
  /** What the call would be refused with, before a provider is asked; null: it would not be. */
  refusal: Pick<GatewayError, 'status' | 'message' | 'metadata' | 'retryAfterMs'> | null;
  /** What would be held, integer nano-USD; null: nothing is limited. */
  holdNanoUsd: number | null;
  /** Where it would be held. */
  windows: readonly (Preview['windows'][number] & { holdNanoUsd: number })[];
}

export interface ExplainedTarget {
  target: Target;
  standing: Standing;
  /** The most it can cost, and by which tokens; null: its price is not known. */
  ceiling: Pick<Ceiling, 'nanoUsd' | 'promptTokens' | 'completionTokens'> | null;
}

/**
 * Goes the way of a call up to the point where money is held, without holding any: the same reads, the same plan, the
 * same choice of what can be paid for. No provider is asked.
 * @throws GatewayError invalid_request (400) for what no routing could cure, such as a model that does not exist;
 *         unavailable (503) when the store cannot tell
 */
export async function explain(deps: PipelineDeps, call: Call): Promise<Explained> {
  checkAvailable(deps, call.request);
  const gathered = await gather(deps, call, call.request);
  let plan: Plan;
  try {
    plan = planOf(deps, call.request, gathered);
  } catch (error) {
    if (!isGatewayError(error) || error.metadata?.excluded === undefined) throw error;
    const { status, message, metadata, retryAfterMs } = error;
    const { excluded, ...rest } = metadata ?? {};
    return {
      ...nothing,
      defaultModel: gathered.defaultModel,
      excluded: excluded as readonly Exclusion[],
      refusal: { status, message, retryAfterMs, metadata: Object.keys(rest).length > 0 ? rest : undefined },
    };
  }
  if (isLimited(call, gathered.budgets)) return within(deps, call, plan, gathered);
  const { defaultModel } = gathered;
  return {
    ...nothing,
    defaultModel,
    plan,
    targets: explainTargets(deps, call, plan, gathered),
    excluded: plan.excluded,
  };
}

const nothing = { plan: null, targets: [], excluded: [], refusal: null, holdNanoUsd: null, windows: [] };

async function within(deps: GenerateDeps, call: Call, plan: Plan, gathered: Gathered): Promise<Explained> {
  const budgetScopes = budgetScopesOf(deps, call, plan.targets, gathered.budgets);
  const { defaultModel } = gathered;
  const previews = await Promise.all(budgetScopes.map(({ scope }) => deps.spending.preview(scope)));
  const look = async (amounts: readonly number[]): Promise<HeldOrNot<readonly number[]>> => {
    for (const [at, budgetScope] of budgetScopes.entries()) {
      const refusal = (previews[at] as Preview).refusalOf(amounts[at] as number);
      if (refusal) return { budgetScope, refusal };
    }
    return { held: amounts };
  };
  try {
    const afforded = await afford(deps, call.request, plan, budgetScopes, look);
    const { targets, excluded } = afforded.plan;
    return {
      plan: afforded.plan,
      defaultModel,
      targets: explainTargets(deps, call, afforded.plan, gathered),
      excluded,
      refusal: null,
      holdNanoUsd: Math.max(...afforded.held),
      windows: standing(budgetScopes, previews, amountsFor(budgetScopes, targets)),
    };
  } catch (error) {
    if (!isGatewayError(error) || (error.kind !== 'payment_required' && !isUnaffordable(error.metadata))) throw error;
    const { status, message, metadata, retryAfterMs } = error;
    const none = budgetScopes.map(() => 0);
    return {
      ...nothing,
      defaultModel,
      excluded: withTargets(plan, []).excluded,
      refusal: { status, message, metadata, retryAfterMs },
      windows: standing(budgetScopes, previews, none),
    };
  }
}

/** Whether a limit is what stands in the way of a request: what it may cost is not known. */
function isUnaffordable(metadata: GatewayError['metadata']): boolean {
  return metadata?.unpriced !== undefined || metadata?.unknown_fields !== undefined;
}

/** The worst case as it was bounded to be held; of what does not count against a limit, as it is. */
function explainTargets(
  deps: GenerateDeps,
  { request }: Call,
  { targets }: Plan,
  gathered: Gathered,
): ExplainedTarget[] {
  const prompt = boundPrompt(request);
  return targets.map((target) => {
    const { ceilingNanoUsd: nanoUsd, mostTokens } = target;
    return {
      target,
      standing: standingOfTarget({ request, ...gathered }, target),
      ceiling:
        nanoUsd !== undefined && mostTokens ? { nanoUsd, ...mostTokens } : ceilingFor(deps, request, prompt, target),
    };
  });
}

function standing(budgetScopes: readonly BudgetScope[], previews: readonly Preview[], amounts: readonly number[]) {
  return budgetScopes.flatMap((_, at) =>
    (previews[at] as Preview).windows.map((window) => ({ ...window, holdNanoUsd: amounts[at] as number })),
  );
}
