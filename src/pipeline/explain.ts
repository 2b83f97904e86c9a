import { type GatewayError, isGatewayError } from '../base/errors.ts';
import type { Call } from '../call/call.ts';
import type { ForeseenGeneration } from '../call/hooks.ts';
import type { Exclusion, Plan, Target } from '../call/plan.ts';
import type { SearchRequest } from '../call/search.ts';
import type { Guardrail, GuardrailPreview } from '../guardrails/guardrail.ts';
import { nothingImposed } from '../guardrails/stored.ts';
import type { Ceiling } from '../pricing/ceiling.ts';
import { boundPrompt } from '../pricing/prompt-bound.ts';
import { standingOfTarget } from '../routing/plan.ts';
import type { Standing } from '../routing/rank.ts';
import type { ChatRequest } from '../schema/chat.ts';
import type { PipelineStage } from '../schema/envelope.ts';
import type { Preview } from '../stores/spending/spending.ts';
import { type ActiveHook, activeHooks, withOnlineServed } from './active-hooks.ts';
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
import { AskedHook } from './asked-hook.ts';
import type { GenerateDeps, PipelineDeps } from './deps.ts';
import { type Gathered, gather } from './gather.ts';
import { planNow, planOf } from './plan-of.ts';
import { checkAvailable } from './screen.ts';
import { priceOfSearch } from './search.ts';
import { offerServerTools, offersServerTools } from './server-tools/offer.ts';
import { shortenedFor } from './shortening.ts';

/** How a call would be routed and paid for at this moment. */
export interface Explained {
  /** What would be generated: the request of the call, or the last that a plugin would make of it. */
  request: ChatRequest;
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
  /** All generations, in order, where a plugin says what it would generate; null: there is one. */
  generations: readonly ExplainedGeneration[] | null;
  /** What guardrails and plugins would do. */
  stages: readonly PipelineStage[];
}

/** One of several generations of a call, by itself: whether there is money for all of them is another question. */
export interface ExplainedGeneration {
  purpose: string;
  explained: Explained;
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
  const imposed = await (deps.imposedOn?.(call.caller) ?? nothingImposed);
  const active = activeHooks(deps, call, imposed.guardrails);
  const { request, stages, refusal } = await previewGuardrails(active, call.request);
  if (refusal !== null) return { ...nothing, request: call.request, defaultModel: null, refusal, stages };
  let asked = request === call.request ? call : { ...call, request };
  try {
    for (const hook of active) {
      const foreseen = await foreseenBy(hook, deps, asked, stages);
      if (foreseen.length > 1) return withStages(stages, await explainSeveral(deps, asked, foreseen));
      const [only] = foreseen;
      if (only !== undefined) asked = { ...asked, request: only.request };
    }
  } catch (error) {
    return refusedBy(error, call.request, null);
  }
  return withStages(stages, await explainOne(deps, asked));
}

function withStages(stages: readonly PipelineStage[], explained: Explained): Explained {
  return { ...explained, stages: [...stages, ...explained.stages] };
}

/** What guardrails would do with a request, one after the other, up to the first that refuses it. */
async function previewGuardrails(
  active: readonly ActiveHook[],
  asked: ChatRequest,
): Promise<Omit<GuardrailPreview, 'stages'> & { stages: PipelineStage[] }> {
  let request = asked;
  const stages: PipelineStage[] = [];
  for (const { hooks, isGuardrail } of active) {
    const preview = isGuardrail ? await (hooks as Guardrail).preview?.(request) : undefined;
    if (preview === undefined) continue;
    stages.push(...preview.stages);
    if (preview.refusal !== null) return { request, stages, refusal: preview.refusal };
    request = preview.request;
  }
  return { request, stages, refusal: null };
}

/** @throws what the plugin refuses the request with */
async function foreseenBy(
  hook: ActiveHook,
  deps: PipelineDeps,
  call: Call,
  stages: PipelineStage[],
): Promise<readonly ForeseenGeneration[]> {
  const { hooks, options } = hook;
  if (hooks.foresee === undefined) return [];
  const asked = new AskedHook(deps, call, hook, 'foresee');
  const context = {
    options,
    call,
    plan: (request: ChatRequest) => planNow(deps, call, request),
    priceOfSearch: (request: SearchRequest) => priceOfSearch(request, deps.searchEngines),
    addStage: (stage: PipelineStage) => void stages.push(stage),
    signal: asked.signal,
  };
  try {
    return (await asked.inTime(() => hooks.foresee?.(call.request, context))) ?? [];
  } catch (error) {
    stages.push(asked.skipAfter(error));
    return [];
  }
}

async function explainSeveral(
  deps: PipelineDeps,
  call: Call,
  foreseen: readonly ForeseenGeneration[],
): Promise<Explained> {
  const generations: ExplainedGeneration[] = [];
  for (const { purpose, request } of foreseen)
    generations.push({ purpose, explained: await explainOne(deps, { ...call, request }) });
  return together(generations) ?? explainOne(deps, call);
}

/** The last generation, with the money of all. It is refused where it is, or where all the others are. */
function together(generations: readonly ExplainedGeneration[]): Explained | null {
  const all = generations.map(({ explained }) => explained);
  const last = all.at(-1);
  if (last === undefined) return null;
  const others = all.slice(0, -1);
  const othersRefusal = others.every(({ refusal }) => refusal !== null) ? (others[0]?.refusal ?? null) : null;
  const isLimited = all.some(({ holdNanoUsd }) => holdNanoUsd !== null);
  const windows = new Map<string, Explained['windows'][number]>();
  for (const window of all.flatMap((one) => one.windows)) {
    const key = `${window.account} ${window.interval}`;
    windows.set(key, { ...window, holdNanoUsd: window.holdNanoUsd + (windows.get(key)?.holdNanoUsd ?? 0) });
  }
  return {
    ...last,
    refusal: last.refusal ?? othersRefusal,
    holdNanoUsd: isLimited ? all.reduce((sum, { holdNanoUsd }) => sum + (holdNanoUsd ?? 0), 0) : null,
    windows: [...windows.values()],
    generations,
  };
}

async function explainOne(deps: PipelineDeps, asked: Call): Promise<Explained> {
  const request = withOnlineServed(asked.request);
  const call = {
    ...asked,
    request: offersServerTools(request) ? offerServerTools(request, deps.serverTools).request : request,
  };
  const gathered = await gather(deps, call, call.request);
  const { defaultModel } = gathered;
  let plan: Plan;
  try {
    plan = planOf(deps, call.request, gathered);
  } catch (error) {
    return refusedBy(error, call.request, defaultModel);
  }
  if (isLimited(call, gathered.budgets)) return within(deps, call, plan, gathered);
  return {
    ...nothing,
    request: call.request,
    defaultModel,
    plan,
    targets: explainTargets(deps, call, plan, gathered),
    excluded: plan.excluded,
    stages: routed(deps, call.request, plan),
  };
}

/** What a router has chosen, and what would be taken out of the prompt for the target that is tried first. */
function routed(deps: GenerateDeps, request: ChatRequest, { stages = [], targets: [first] }: Plan): PipelineStage[] {
  const shortened = first === undefined ? null : shortenedFor(deps, request, first);
  return shortened === null ? [...stages] : [...stages, shortened.stage];
}

/** A call that has no target. @throws the error, where it says nothing of endpoints */
function refusedBy(error: unknown, request: ChatRequest, defaultModel: string | null): Explained {
  if (!isGatewayError(error) || error.metadata?.excluded === undefined) throw error;
  const { status, message, metadata, retryAfterMs } = error;
  const { excluded, ...rest } = metadata ?? {};
  return {
    ...nothing,
    request,
    defaultModel,
    excluded: excluded as readonly Exclusion[],
    refusal: { status, message, retryAfterMs, metadata: Object.keys(rest).length > 0 ? rest : undefined },
  };
}

const nothing = {
  plan: null,
  targets: [],
  excluded: [],
  refusal: null,
  holdNanoUsd: null,
  windows: [],
  generations: null,
  stages: [],
};

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
      ...nothing,
      request: call.request,
      plan: afforded.plan,
      defaultModel,
      targets: explainTargets(deps, call, afforded.plan, gathered),
      excluded,
      holdNanoUsd: Math.max(...afforded.held),
      windows: standing(budgetScopes, previews, amountsFor(budgetScopes, targets)),
      stages: routed(deps, call.request, afforded.plan),
    };
  } catch (error) {
    if (!isGatewayError(error) || (error.kind !== 'payment_required' && !isUnaffordable(error.metadata))) throw error;
    const { status, message, metadata, retryAfterMs } = error;
    const none = budgetScopes.map(() => 0);
    return {
      ...nothing,
      request: call.request,
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
