import { type GatewayError, isGatewayError } from '../base/errors.ts';
import type { Call } from '../call/call.ts';
import type { Exclusion, Plan, Try } from '../call/plan.ts';
import { boundPrompt, type Ceiling } from '../catalog/ceiling.ts';
import { standingOfTry } from '../routing/plan.ts';
import type { Standing } from '../routing/rank.ts';
import type { Preview } from '../stores/spending/spending.ts';
import { afford, amountsFor, ceilingFor, type Held, isLimited, type Purse, pursesOf, withTries } from './afford.ts';
import type { PipelineDeps } from './deps.ts';
import { type Gathered, gather } from './gather.ts';
import { screen } from './screen.ts';
import { planOf } from './serve.ts';

/** How a call would be routed and paid for at this moment. */
export interface Explained {
  /** null: the call would be refused before a try. */
  plan: Plan | null;
  /** For a request that names no model; null: there is none. */
  defaultModel: string | null;
  /** What would be tried, in order. */
  tries: readonly ExplainedTry[];
  excluded: readonly Exclusion[];
  /** What the call would be refused with, before a provider is asked; null: it would not be. */
  refusal: Pick<GatewayError, 'status' | 'message' | 'metadata' | 'retryAfterMs'> | null;
  /** What would be held, integer nano-USD; null: nothing is limited. */
  holdNanoUsd: number | null;
  /** Where it would be held. */
  windows: readonly (Preview['windows'][number] & { holdNanoUsd: number })[];
}

export interface ExplainedTry {
  step: Try;
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
  screen(call.request);
  const gathered = await gather(deps, call);
  let plan: Plan;
  try {
    plan = planOf(deps, call, gathered);
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
  return { ...nothing, defaultModel, plan, tries: explainTries(deps, call, plan, gathered), excluded: plan.excluded };
}

const nothing = { plan: null, tries: [], excluded: [], refusal: null, holdNanoUsd: null, windows: [] };

async function within(deps: PipelineDeps, call: Call, plan: Plan, gathered: Gathered): Promise<Explained> {
  const purses = pursesOf(deps, call, plan, gathered.budgets);
  const { defaultModel } = gathered;
  const previews = await Promise.all(purses.map(({ scope }) => deps.spending.preview(scope)));
  const look = async (amounts: readonly number[]): Promise<Held<readonly number[]>> => {
    for (const [at, purse] of purses.entries()) {
      const refusal = (previews[at] as Preview).refusalOf(amounts[at] as number);
      if (refusal) return { purse, refusal };
    }
    return { held: amounts };
  };
  try {
    const afforded = await afford(deps, call, plan, purses, look);
    const { tries, excluded } = afforded.plan;
    return {
      plan: afforded.plan,
      defaultModel,
      tries: explainTries(deps, call, afforded.plan, gathered),
      excluded,
      refusal: null,
      holdNanoUsd: Math.max(...afforded.held),
      windows: standing(purses, previews, amountsFor(purses, tries)),
    };
  } catch (error) {
    if (!isGatewayError(error) || (error.kind !== 'payment_required' && error.metadata?.unpriced === undefined))
      throw error;
    const { status, message, metadata, retryAfterMs } = error;
    const none = purses.map(() => 0);
    return {
      ...nothing,
      defaultModel,
      excluded: withTries(plan, []).excluded,
      refusal: { status, message, metadata, retryAfterMs },
      windows: standing(purses, previews, none),
    };
  }
}

/** The worst case as it was bounded to be held; of what does not count against a limit, as it is. */
function explainTries(deps: PipelineDeps, { request }: Call, { tries }: Plan, gathered: Gathered): ExplainedTry[] {
  const prompt = boundPrompt(request);
  return tries.map((step) => {
    const { ceilingNanoUsd: nanoUsd, mostTokens } = step;
    return {
      step,
      standing: standingOfTry({ request, ...gathered }, step),
      ceiling:
        nanoUsd !== undefined && mostTokens ? { nanoUsd, ...mostTokens } : ceilingFor(deps, request, prompt, step),
    };
  });
}

function standing(purses: readonly Purse[], previews: readonly Preview[], amounts: readonly number[]) {
  return purses.flatMap((_, at) =>
    (previews[at] as Preview).windows.map((window) => ({ ...window, holdNanoUsd: amounts[at] as number })),
  );
}
