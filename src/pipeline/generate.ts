import { cleanName } from '../base/clean-text.ts';
import { isGatewayError } from '../base/errors.ts';
import type { Generation, GenerationLog, ModelResponse } from '../call/generation.ts';
import type { Plan, Target } from '../call/plan.ts';
import type { ResponseHead } from '../call/response-encoder.ts';
import type { Ceiling } from '../pricing/ceiling.ts';
import { boundPrompt } from '../pricing/prompt-bound.ts';
import { namedSlugs, strategyOf } from '../routing/expand.ts';
import { withDefaults } from '../routing/model-defaults.ts';
import type { ChatRequest } from '../schema/chat.ts';
import { admitFurther } from './admission.ts';
import { ceilingFor } from './afford.ts';
import type { CallRun } from './call-run.ts';
import { generatesOn } from './cost.ts';
import type { MoneyDeps, RoutingDeps } from './deps.ts';
import { type Executed, execute } from './execute.ts';
import type { Prepared } from './execution.ts';
import { holdOf, withExpectedCost } from './expected-cost.ts';
import { gather } from './gather.ts';
import type { GenerationState } from './generation.ts';
import { GenerationStream } from './generation-stream.ts';
import type { HoldShare } from './hold-share.ts';
import { HookOfCall } from './hook-context.ts';
import { planOf } from './plan-of.ts';
import { shortenedFor } from './shortening.ts';

/**
 * Makes one generation: reads what the plan needs, plans, holds the money, calls the targets. The generation settles
 * itself when its response has ended, or where it failed.
 * @throws GatewayError; the reason of the signal when the client left
 */
export async function generate(run: CallRun, request: ChatRequest): Promise<Generation> {
  const { deps, call, hold } = run;
  const generation = run.begin(request);
  let defaultModel = deps.defaultModel;
  try {
    // The first generation was admitted with the call.
    if (run.admission !== null && run.generations.length > 1)
      await admitFurther(deps.rates, call, run.admission, request);
    const gathered = await gather(deps, call, request);
    defaultModel = gathered.defaultModel;
    const planned = planOf(deps, request, gathered);
    generation.planned(planned, gathered.conversation);
    if (planned.stages !== undefined) run.stages.push(...planned.stages);
    const admitting = hold.admit(request, generation.plan as Plan, gathered.budgets);
    const { plan, share } = admitting instanceof Promise ? await admitting : admitting;
    generation.held(plan, share);
    const executed = await execute(deps, {
      request,
      plan,
      share,
      signal: run.signal,
      attempts: generation.attempts,
      prepare: prepareWith(run, request, share, generation),
      follower: run.follower,
      show: ({ payload }) => {
        if (request.debug?.echo_upstream_body === true && request.stream === true) run.sentBodies.push(payload);
      },
    });
    return opened(run, generation, executed);
  } catch (error) {
    generation.plan ??= unplanned(deps, request, defaultModel, error);
    generation.failed(error);
    throw error;
  }
}

/** The plan of a request that could not be planned: what was asked for, and what was excluded. */
function unplanned({ brand }: RoutingDeps, request: ChatRequest, defaultModel: string | null, error: unknown): Plan {
  const slugs = namedSlugs(request, defaultModel);
  return {
    requested: cleanName(slugs[0] ?? ''),
    strategy: strategyOf(slugs, brand),
    targets: [],
    excluded: ((isGatewayError(error) && error.metadata?.excluded) || []) as Plan['excluded'],
    router: null,
  };
}

/** The request of one attempt, as plugins prepare it; null: none of them does. */
function prepareWith(run: CallRun, request: ChatRequest, share: HoldShare, { attempts, plan }: GenerationState) {
  const mayShorten = plan?.targets.some(({ shortens }) => shortens) === true;
  if (run.hooks.length === 0 && !mayShorten) return null;
  const preparing = run.hooks.filter(({ hooks }) => hooks.prepare !== undefined);
  if (preparing.length === 0 && !mayShorten) return null;
  return async (target: Target): Promise<Prepared | null> => {
    const own = withDefaults(request, target.endpoint);
    let prepared = own;
    for (const hook of preparing) {
      const asked = new HookOfCall(run, hook, 'prepare');
      const given = prepared;
      prepared = await asked.outcome(given, () => hook.hooks.prepare?.(given, target, asked.context));
    }
    // Last: other plugins may have made the prompt longer.
    prepared = sentShortened(run, prepared, target);
    if (prepared === own || !target.ceilingNanoUsd) return { request: prepared, target };
    // A plugin may have made the prompt longer: the attempt must still fit into what is held.
    const ceiling = ceilingFor(run.deps, prepared, boundPrompt(prepared), target);
    if (ceiling === null && run.deps.budgets.unknownPrice === 'refuse') return null;
    const dearest =
      ceiling === null || ceiling.nanoUsd <= target.ceilingNanoUsd ? target : withCeiling(target, ceiling);
    const costed = ceiling === null ? dearest : expectedOf(run.deps, prepared, dearest, ceiling);
    if (!(await share.covers(costed, attempts, besideOf(run, request, plan)))) return null;
    // The ceiling rests on a largest output that the plugin took away: it has to be sent.
    return ceiling?.mustSend && target.maxTokens === undefined
      ? { request: { ...prepared, max_tokens: null, max_completion_tokens: ceiling.maxTokens }, target: costed }
      : { request: prepared, target: costed };
  };
}

/** The request that fits a target: where it was made shorter, the client is told, but not of a retry that is no shorter. */
function sentShortened({ deps, stages }: CallRun, request: ChatRequest, target: Target): ChatRequest {
  const shortened = shortenedFor(deps, request, target);
  if (shortened === null) return request;
  const { stage } = shortened;
  if (!stages.some(({ type, summary }) => type === stage.type && summary === stage.summary)) stages.push(stage);
  return shortened.request;
}

/** What becomes of a target whose prompt a plugin has made longer. */
function withCeiling(target: Target, { nanoUsd, promptTokens, completionTokens }: Ceiling): Target {
  return { ...target, ceilingNanoUsd: nanoUsd, mostTokens: { promptTokens, completionTokens } };
}

/** What is held for a request that plugins have prepared, where less than the worst case is. */
function expectedOf({ outputEstimates }: MoneyDeps, prepared: ChatRequest, target: Target, ceiling: Ceiling): Target {
  if (outputEstimates === null) return target;
  const { holdNanoUsd } = withExpectedCost(outputEstimates, prepared, withCeiling(target, ceiling));
  return { ...target, holdNanoUsd };
}

/** The dearest target that an attempt may be called beside, where late streams are hedged; null: none is. */
function besideOf({ deps }: CallRun, request: ChatRequest, plan: Plan | null): Target | null {
  if (deps.hedging === null || request.stream !== true || plan === null) return null;
  return plan.targets.reduce<Target | null>(
    (dearest, one) => (dearest === null || holdOf(one) > holdOf(dearest) ? one : dearest),
    null,
  );
}

/** What an attempt has brought, as a generation. */
function opened(run: CallRun, generation: GenerationState, { attempted, target, request }: Executed): Generation {
  generation.served(target, request);
  const { call, deps } = run;
  const { endpoint, providerName } = target;
  const head: ResponseHead = { id: call.id, created: call.created, model: endpoint.modelSlug, provider: providerName };
  if (attempted.kind === 'stream') {
    const stream = new GenerationStream({
      head,
      open: attempted,
      clock: deps.clock,
      idleMs: deps.timeouts.idleMs,
      mayForward: deps.provider(endpoint.providerSlug)?.dialect.nativeChunks === true,
      generatesOn: generatesOn(deps, target),
      onEnd: (end, meter) => {
        const { finishReason, nativeFinishReason, serviceTier } = meter;
        generation.settle({ end, received: meter, finishReason, nativeFinishReason, serviceTier });
      },
    });
    generation.streams(stream);
    return withLog(stream, generation);
  }
  const { result } = attempted;
  const [choice] = result.choices;
  generation.settle({
    end: { kind: 'complete' },
    received: attempted,
    finishReason: choice?.finish_reason ?? null,
    nativeFinishReason: choice?.native_finish_reason ?? null,
    serviceTier: result.service_tier ?? null,
  });
  return { kind: 'complete', head, result, log: generation };
}

function withLog<Response extends ModelResponse>(
  response: Response,
  log: GenerationLog,
): Response & { log: GenerationLog } {
  return Object.assign(response, { log });
}
