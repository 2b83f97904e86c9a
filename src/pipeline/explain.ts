import { nextTurn } from '../base/async/next-turn.ts';
import { GatewayError, isGatewayError } from '../base/errors.ts';
import { type Ask, type Revised, revised, withRequest } from '../call/ask.ts';
import { type Call, callFor } from '../call/call.ts';
import type { ForeseeContext, ForeseenGeneration } from '../call/hooks.ts';
import type { Exclusion, Plan, Target } from '../call/plan.ts';
import type { SearchRequest } from '../call/search.ts';
import type { Guardrail, GuardrailPreview, PreviewContext } from '../guardrails/guardrail.ts';
import { nothingImposed } from '../guardrails/stored.ts';
import type { Ceiling } from '../pricing/ceiling.ts';
import { boundPrompt } from '../pricing/prompt-bound.ts';
import { standingOfTarget } from '../routing/plan.ts';
import type { Standing } from '../routing/rank.ts';
import { routedChat } from '../routing/routed.ts';
import type { ChatRequest } from '../schema/chat/chat.ts';
import type { PipelineStage, RoutingStrategy } from '../schema/chat/envelope.ts';
import type { Preview, Refusal } from '../stores/spending/spending.ts';
import { type ActiveHook, activeHooks, strategyOf } from './call/active-hooks.ts';
import { AskedHook } from './call/asked-hook.ts';
import { withVariantServed } from './call/plugin-variant.ts';
import { priceOfSearch } from './call/search.ts';
import type { GenerateDeps, PipelineDeps } from './deps.ts';
import { checkAvailable } from './hooks/before.ts';
import {
  afford,
  amountsFor,
  type BudgetScope,
  budgetScopesOf,
  type CostBounds,
  ceilingFor,
  chatBounds,
  type HeldOrNot,
  isLimited,
  type ScopeAmount,
  withTargets,
} from './money/afford.ts';
import { type Gathered, gather } from './plan/gather.ts';
import { planNow, planOf } from './plan/plan-of.ts';
import { shortenedFor } from './plan/shortening.ts';
import { offerServerTools, offersServerTools } from './server-tools/offer.ts';
import { checkOffered, checkOperatorServices, checkServerTools } from './server-tools/operator-services.ts';

/** The way a call would be routed and paid for at this moment. */
export interface Explained {
  /** The request that would be generated: that of the call, or the last one that a plugin would make of it. */
  request: ChatRequest;
  /** The plan; null: the call would be refused before any target is called. */
  plan: Plan | null;
  /** The model of a request that names no model; null: there is none. */
  defaultModel: string | null;
  /** The targets that would be called, in order. */
  targets: readonly ExplainedTarget[];
  excluded: readonly Exclusion[];
  /** The error that would refuse the call before a provider is asked; null: the call would not be refused. */
  refusal: Pick<GatewayError, 'status' | 'message' | 'metadata' | 'retryAfterMs'> | null;
  /** The money that would be held, integer nano-USD; null: nothing is limited. */
  holdNanoUsd: number | null;
  /** The part of it that plugins would hold for what they pay, integer nano-USD; without limits, that alone. */
  expensesNanoUsd: number;
  /** The budget windows that would hold the money. */
  windows: readonly (Preview['windows'][number] & { holdNanoUsd: number })[];
  /** All generations, in order, where a plugin names the generations that it would make; null: there is one. */
  generations: readonly ExplainedGeneration[] | null;
  /** The way a plugin chooses the models; null: no plugin does, and the plan says it. */
  strategy: RoutingStrategy | null;
  /** The stages that guardrails and plugins would show. */
  stages: readonly PipelineStage[];
}

/** One of several generations of a call, by itself. It does not say whether there is money for all of them. */
export interface ExplainedGeneration {
  purpose: string;
  explained: Explained;
}

export interface ExplainedTarget {
  target: Target;
  standing: Standing;
  /** The most it can cost, and the tokens that it costs that for; null: its price is not known. */
  ceiling: Pick<Ceiling, 'nanoUsd' | 'promptTokens' | 'completionTokens'> | null;
}

/**
 * Follows the way of a call up to the point where money is held, without holding any: the same reads, the same plan,
 * the same choice of the targets that can be paid for. Asks no provider.
 * @throws GatewayError invalid_request (400) for a fault that no routing could cure, such as a model that does not
 * exist; unavailable (503) when the store cannot tell
 */
export async function explain(deps: PipelineDeps, call: Call): Promise<Explained> {
  checkAvailable(deps, call.ask);
  const imposed = await (deps.imposedOn?.(call.caller) ?? nothingImposed);
  const active = activeHooks(deps, call, imposed.guardrails);
  const strategy = strategyOf(active);
  const { ask, stages, refusal } = await previewGuardrails(active, deps.clock, call);
  if (refusal !== null) return { ...nothing, request: call.ask.request, defaultModel: null, refusal, stages, strategy };
  let asked = ask === call.ask ? call : callFor(call, ask);
  let several: readonly ForeseenGeneration[] | null = null;
  const foreseen: Foreseen = { stages, expensesNanoUsd: 0 };
  try {
    for (const one of active) {
      const served = await withVariantServed(deps, asked, one, asked.ask);
      if (served === null) continue;
      const { hook } = served;
      if (served.ask !== asked.ask) asked = callFor(asked, served.ask);
      const generations = await foreseenBy(hook, deps, asked, foreseen);
      // The plugins after this one act on each of the generations, and show their stages once.
      if (generations.length > 1) several ??= generations;
      const [only] = generations;
      if (only !== undefined && several === null) asked = callFor(asked, revised(asked.ask, only.request));
    }
  } catch (error) {
    return { ...withStages(stages, refusedBy(error, call.ask.request, null)), strategy };
  }
  const explained = await (several === null
    ? explainOne(deps, asked, foreseen.expensesNanoUsd)
    : explainSeveral(deps, asked, several, foreseen.expensesNanoUsd));
  return { ...withStages(stages, explained), strategy };
}

function withStages(stages: readonly PipelineStage[], explained: Explained): Explained {
  return { ...explained, stages: [...stages, ...explained.stages] };
}

/** The things that plugins tell beside their generations. */
interface Foreseen {
  readonly stages: PipelineStage[];
  expensesNanoUsd: number;
}

/** Returns the effect of guardrails on a request, one after the other, up to the first that refuses it. */
export async function previewGuardrails(
  active: readonly ActiveHook[],
  clock: PreviewContext['clock'],
  call: Call,
): Promise<Pick<GuardrailPreview, 'refusal'> & { ask: Ask; stages: PipelineStage[] }> {
  let { ask } = call;
  const stages: PipelineStage[] = [];
  for (const { hooks, isGuardrail } of active) {
    const preview = isGuardrail
      ? await (hooks as Guardrail).preview?.(ask.request, { clock, call, native: ask.native })
      : undefined;
    if (preview === undefined) continue;
    stages.push(...preview.stages);
    if (preview.refusal !== null) return { ask, stages, refusal: preview.refusal };
    ask = revised(ask, preview);
  }
  return { ask, stages, refusal: null };
}

/** @throws the refusal of the plugin */
async function foreseenBy(
  hook: ActiveHook,
  deps: PipelineDeps,
  call: Call,
  told: Foreseen,
): Promise<readonly ForeseenGeneration[]> {
  const { id, hooks, options, isAsked } = hook;
  if (hooks.foresee === undefined) {
    if (!hook.isGuardrail || (hooks as Guardrail).preview === undefined) told.stages.push(untold(hook));
    return [];
  }
  const asked = new AskedHook(deps, call, hook, 'foresee');
  const context: ForeseeContext = {
    options,
    isAsked,
    call,
    native: call.ask.native,
    plan: (made: Revised) => planNow(deps, call, revised(call.ask, made)),
    priceOfSearch: (request: SearchRequest) => priceOfSearch(request, { engines: deps.searchEngines, plugin: id }),
    checkOperatorServices: (service: string) => checkOperatorServices(deps, call, service),
    checkServerTools: (one: Pick<ChatRequest, 'tools'>) => checkServerTools(deps, call, one),
    addStage: (stage: PipelineStage) => void told.stages.push(stage),
    async hold(nanoUsd: number) {
      if (!Number.isSafeInteger(nanoUsd) || nanoUsd < 0)
        throw new GatewayError('internal', 'hold: expected an integer of nano-USD, 0 or more');
      if (!asked.isGivenUp) told.expensesNanoUsd += nanoUsd;
      return { settle: () => undefined };
    },
    signal: asked.signal,
  };
  try {
    return (await asked.inTime(() => hooks.foresee?.(call.ask.request, context))) ?? [];
  } catch (error) {
    told.stages.push(asked.skipAfter(error));
    return [];
  }
}

/** The stage of a plugin or guardrail of the host app that tells nothing beforehand. */
function untold({ id, hooks, isGuardrail }: ActiveHook): PipelineStage {
  const { before, prepare, wrap, steps } = hooks;
  const ofRequest = before ?? prepare;
  const what = wrap ? 'call' : ofRequest && steps ? 'request and the response' : ofRequest ? 'request' : 'response';
  return {
    type: isGuardrail ? 'guardrail' : 'plugin',
    name: isGuardrail ? ((hooks as Guardrail).name ?? id) : id,
    summary: `acts on the ${what}; how is not known beforehand`,
    data: { foreseen: false },
  };
}

/**
 * Explains several calls that one request makes.
 * @param purpose  of each of them
 * @returns the last one, with the money of all; it is refused where any of them is
 */
export async function explainEach(
  deps: PipelineDeps,
  calls: readonly Call[],
  purpose: (at: number) => string,
): Promise<Explained> {
  const generations: ExplainedGeneration[] = [];
  for (const [at, call] of calls.entries())
    generations.push({ purpose: purpose(at), explained: await explain(deps, call) });
  const refusal = generations.find(({ explained }) => explained.refusal !== null)?.explained.refusal ?? null;
  return { ...(together(generations) as Explained), refusal };
}

async function explainSeveral(
  deps: PipelineDeps,
  call: Call,
  foreseen: readonly ForeseenGeneration[],
  expensesNanoUsd: number,
): Promise<Explained> {
  const generations: ExplainedGeneration[] = [];
  for (const [at, { purpose, request }] of foreseen.entries()) {
    // The plugin pays once.
    const expenses = at === foreseen.length - 1 ? expensesNanoUsd : 0;
    const explained = await explainOne(deps, callFor(call, revised(call.ask, request)), expenses);
    generations.push({ purpose, explained });
  }
  return together(generations) ?? explainOne(deps, call, expensesNanoUsd);
}

/**
 * Returns the last generation, with the money of all. It is refused where it is refused by itself, or where all the
 * others are.
 */
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
    expensesNanoUsd: all.reduce((sum, { expensesNanoUsd }) => sum + expensesNanoUsd, 0),
    windows: [...windows.values()],
    generations,
  };
}

async function explainOne(deps: PipelineDeps, asked: Call, expensesNanoUsd: number): Promise<Explained> {
  const { request } = asked.ask;
  const offer = offersServerTools(request) ? offerServerTools(request, deps.serverTools) : null;
  if (offer !== null) await checkOffered(deps, asked, offer);
  const call = callFor(asked, withRequest(asked.ask, offer?.request ?? request));
  const gathered = await gather(deps, call, call.ask.request);
  const { defaultModel } = gathered;
  let plan: Plan;
  if (call.isLong) await nextTurn();
  try {
    plan = planOf(deps, call.ask, gathered);
  } catch (error) {
    return refusedBy(error, call.ask.request, defaultModel);
  }
  if (call.isLong) await nextTurn();
  const of: ExplainedPlan = {
    request: call.ask.request,
    bounds: chatBounds(deps, call.ask),
    targetsOf: (planned) => explainTargets(deps, call, planned, gathered),
    stagesOf: (planned) => routed(deps, call.ask.request, planned),
  };
  if (isLimited(call, gathered.budgets)) return within(deps, call, plan, gathered, of, expensesNanoUsd);
  return {
    ...nothing,
    expensesNanoUsd,
    request: call.ask.request,
    defaultModel,
    plan,
    targets: explainTargets(deps, call, plan, gathered),
    excluded: plan.excluded,
    stages: routed(deps, call.ask.request, plan),
  };
}

/**
 * Returns stages with the choice of a router, and with the parts that would be taken out of the prompt for the first
 * target.
 */
function routed(deps: GenerateDeps, request: ChatRequest, { stages = [], targets: [first] }: Plan): PipelineStage[] {
  const shortened = first === undefined ? null : shortenedFor(deps, request, first);
  return shortened === null ? [...stages] : [...stages, shortened.stage];
}

/** Explains a call that has no target. @throws the error, where it does not speak of endpoints */
export function refusedBy(error: unknown, request: ChatRequest, defaultModel: string | null): Explained {
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

/** An explanation without a plan. */
export const nothing = {
  plan: null,
  targets: [],
  excluded: [],
  refusal: null,
  holdNanoUsd: null,
  expensesNanoUsd: 0,
  windows: [],
  generations: null,
  strategy: null,
  stages: [],
};

/** The parts of an explanation that depend on what the request is for. */
export interface ExplainedPlan {
  request: ChatRequest;
  bounds: CostBounds;
  targetsOf(plan: Plan): ExplainedTarget[];
  stagesOf(plan: Plan): PipelineStage[];
}

/** Explains the money of a plan where a budget limits the call. */
export async function within(
  deps: GenerateDeps,
  call: Call,
  plan: Plan,
  gathered: Gathered,
  { request, bounds, targetsOf, stagesOf }: ExplainedPlan,
  expensesNanoUsd: number,
): Promise<Explained> {
  const budgetScopes = budgetScopesOf(deps, call, plan.targets, gathered.budgets);
  const { defaultModel } = gathered;
  const found = await Promise.all(budgetScopes.map(({ scope }) => deps.spending.preview(scope)));
  const previews = new Map(budgetScopes.map((budgetScope, at) => [budgetScope, found[at] as Preview]));
  const look = async (amounts: readonly ScopeAmount[]): Promise<HeldOrNot<readonly ScopeAmount[]>> => {
    for (const { budgetScope, nanoUsd } of amounts) {
      const refusal = previews.get(budgetScope)?.refusalOf(nanoUsd + expensesNanoUsd);
      if (refusal) return { budgetScope, refusal: withoutExpenses(refusal, expensesNanoUsd) };
    }
    return { held: amounts };
  };
  try {
    const afforded = await afford(bounds, plan, budgetScopes, look);
    const { targets, excluded } = afforded.plan;
    return {
      ...nothing,
      request,
      plan: afforded.plan,
      defaultModel,
      targets: targetsOf(afforded.plan),
      excluded,
      holdNanoUsd: Math.max(...afforded.held.map(({ nanoUsd }) => nanoUsd)) + expensesNanoUsd,
      expensesNanoUsd,
      windows: standing(previews, amountsFor(budgetScopes, targets), expensesNanoUsd),
      stages: stagesOf(afforded.plan),
    };
  } catch (error) {
    if (!isGatewayError(error) || (error.kind !== 'payment_required' && !isUnaffordable(error.metadata))) throw error;
    const { status, message, metadata, retryAfterMs } = error;
    return {
      ...nothing,
      request,
      defaultModel,
      excluded: withTargets(plan, []).excluded,
      refusal: { status, message, metadata, retryAfterMs },
      windows: standing(previews, amountsFor(budgetScopes, []), 0),
    };
  }
}

/** Leaves the rest of the money to the generation: plugins pay first. */
function withoutExpenses(refusal: Refusal, expensesNanoUsd: number): Refusal {
  return {
    error: refusal.error,
    errorFor: (nanoUsd, fittingMaxTokens) => refusal.errorFor(nanoUsd + expensesNanoUsd, fittingMaxTokens),
    availableNanoUsd: refusal.availableNanoUsd - expensesNanoUsd,
  };
}

/** true: a limit stands in the way of a request, because its cost is not known. */
function isUnaffordable(metadata: GatewayError['metadata']): boolean {
  return metadata?.unpriced !== undefined || metadata?.unknown_fields !== undefined;
}

/**
 * Explains each target. Its worst case is the one that would be held; where the target does not count against a limit,
 * it is the unbounded one.
 */
function explainTargets(deps: GenerateDeps, { ask }: Call, { targets }: Plan, gathered: Gathered): ExplainedTarget[] {
  const prompt = boundPrompt(ask);
  const routed = routedChat(ask, gathered.facts, gathered.defaultModel);
  return targets.map((target) => {
    const { ceilingNanoUsd: nanoUsd, mostTokens } = target;
    return {
      target,
      standing: standingOfTarget({ routed, ...gathered }, target),
      ceiling: nanoUsd !== undefined && mostTokens ? { nanoUsd, ...mostTokens } : ceilingFor(deps, ask, prompt, target),
    };
  });
}

function standing(
  previews: ReadonlyMap<BudgetScope, Preview>,
  amounts: readonly ScopeAmount[],
  expensesNanoUsd: number,
) {
  return amounts.flatMap(({ budgetScope, nanoUsd }) =>
    (previews.get(budgetScope)?.windows ?? []).map((window) => ({ ...window, holdNanoUsd: nanoUsd + expensesNanoUsd })),
  );
}
