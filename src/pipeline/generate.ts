import { nextTurn } from '../base/async/next-turn.ts';
import { isGatewayError } from '../base/errors.ts';
import { type Ask, type Revised, revised, withRequest } from '../call/ask.ts';
import type { Call } from '../call/call.ts';
import type { Generation, GenerationLog, ModelResponse } from '../call/generation.ts';
import type { Plan, Target } from '../call/plan.ts';
import type { ResponseHead } from '../call/response-encoder.ts';
import type { Dialect } from '../dialects/dialect.ts';
import type { Ceiling } from '../pricing/ceiling.ts';
import { boundPrompt } from '../pricing/prompt-bound.ts';
import { keyRefOf } from '../routing/key-ring.ts';
import type { ChatRequest } from '../schema/chat/chat.ts';
import { type Executed, execute } from './attempt/execute.ts';
import { askAt, type Prepared } from './attempt/prepared.ts';
import type { CallRun } from './call/run.ts';
import type { MoneyDeps, RoutingDeps } from './deps.ts';
import type { GenerationState } from './generation/state.ts';
import { GenerationStream } from './generation/stream.ts';
import { HookOfCall } from './hooks/context.ts';
import { ceilingFor, chatBounds } from './money/afford.ts';
import { generatesOn } from './money/cost.ts';
import { holdOf, withExpectedCost } from './money/expected-cost.ts';
import type { HoldShare } from './money/hold-share.ts';
import { gather } from './plan/gather.ts';
import { planOf, unplanned } from './plan/plan-of.ts';
import { shortenedFor } from './plan/shortening.ts';

/**
 * Makes one generation: reads the facts for the plan, plans, holds the money, calls the targets. The generation settles
 * itself when its response has ended, or where it failed.
 * @throws GatewayError; the reason of the signal when the client left
 */
export async function generate(run: CallRun, ask: Ask): Promise<Generation> {
  const { deps, call, hold } = run;
  const { request } = ask;
  const generation = run.begin(ask);
  let defaultModel = deps.defaultModel;
  try {
    if (run.generations.length > 1) await run.admitFurther(request);
    const gathered = await gather(deps, call, request);
    defaultModel = gathered.defaultModel;
    if (call.isLong) await nextTurn();
    const planned = planOf(deps, ask, gathered);
    noteKey(deps, planned);
    generation.planned(planned, gathered.conversation);
    for (const stage of planned.stages ?? []) run.journal.addStage(stage);
    if (call.isLong) await nextTurn();
    const admitting = hold.admit(chatBounds(deps, ask), generation.plan as Plan, gathered.budgets);
    const { plan, share } = admitting instanceof Promise ? await admitting : admitting;
    generation.held(plan, share);
    if (call.held !== undefined) await call.held();
    if (call.isLong) await nextTurn();
    const walk = await execute(deps, {
      ask,
      asked: call.ask.request,
      time: call.time,
      connection: call.connection,
      plan,
      share,
      signal: run.signal,
      attempts: generation.attempts,
      prepare: prepareWith(run, ask, share, generation),
      follower: run.watch.follower,
      show: ({ payload }) => {
        if (request.debug?.echo_upstream_body === true && request.stream === true) run.journal.noteSentBody(payload);
      },
    });
    return opened(run, generation, walk.executed());
  } catch (error) {
    const excluded = ((isGatewayError(error) && error.metadata?.excluded) || []) as Plan['excluded'];
    generation.plan ??= unplanned(deps, request, defaultModel, excluded);
    generation.failed(error);
    throw error;
  }
}

/** Notes the first key of a plan, where the operator has several at its provider: the next request begins with another. */
function noteKey({ keyRings }: Pick<RoutingDeps, 'keyRings'>, { targets: [first] }: Plan): void {
  if (keyRings === undefined || first === undefined) return;
  const ref = keyRefOf(first.credential);
  if (ref !== null) keyRings.get(ref.provider)?.planned(ref);
}

/** The request of one attempt, as plugins prepare it; null: none of them does. */
function prepareWith(run: CallRun, ask: Ask, share: HoldShare, { attempts, plan }: GenerationState) {
  const mayShorten = plan?.targets.some(({ shortens }) => shortens) === true;
  if (run.hooks.length === 0 && !mayShorten) return null;
  const preparing = run.hooks.filter(({ hooks }) => hooks.prepare !== undefined);
  if (preparing.length === 0 && !mayShorten) return null;
  return async (target: Target): Promise<Prepared | null> => {
    const own = askAt(ask, target);
    let prepared = own;
    for (const hook of preparing) {
      const given = prepared;
      const asked = new HookOfCall(run, hook, 'prepare', given);
      const work = () => hook.hooks.prepare?.(given.request, target, asked.context);
      prepared = revised(given, await asked.outcome<Revised>(given.request, work));
    }
    // The prompt is shortened last: other plugins may have made it longer.
    prepared = sentShortened(run, prepared, target);
    if (prepared === own || !target.ceilingNanoUsd) return { ask: prepared, target };
    // A plugin may have made the prompt longer: the held money must still cover the attempt.
    const ceiling = ceilingFor(run.deps, prepared, boundPrompt(prepared), target);
    if (ceiling === null && run.deps.budgets.unknownPrice === 'refuse') return null;
    const dearest =
      ceiling === null || ceiling.nanoUsd <= target.ceilingNanoUsd ? target : withCeiling(target, ceiling);
    const costed = ceiling === null ? dearest : expectedOf(run.deps, prepared.request, dearest, ceiling);
    if (!(await share.covers(costed, attempts, besideOf(run, ask.request, plan)))) return null;
    // The ceiling rests on a largest output that the plugin took away, so that output has to be sent.
    return ceiling?.mustSend && target.maxTokens === undefined
      ? { ask: withLimit(prepared, ceiling.maxTokens), target: costed }
      : { ask: prepared, target: costed };
  };
}

/**
 * Returns the request that fits a target. Where it was made shorter, the client is told, but not of a retry that is no
 * shorter.
 */
function sentShortened({ deps, journal }: Pick<CallRun, 'deps' | 'journal'>, ask: Ask, target: Target): Ask {
  const shortened = shortenedFor(deps, ask.request, target);
  if (shortened === null) return ask;
  journal.addStageOnce(shortened.stage);
  return withRequest(ask, shortened.request);
}

function withLimit(ask: Ask, maxTokens: number): Ask {
  return withRequest(ask, { ...ask.request, max_tokens: null, max_completion_tokens: maxTokens });
}

/** Returns a target with its new ceiling, after a plugin has made the prompt longer. */
function withCeiling(target: Target, { nanoUsd, promptTokens, completionTokens }: Ceiling): Target {
  return { ...target, ceilingNanoUsd: nanoUsd, mostTokens: { promptTokens, completionTokens } };
}

/** Returns the amount that is held for a request that plugins have prepared, where less than the worst case is held. */
function expectedOf({ outputEstimates }: MoneyDeps, prepared: ChatRequest, target: Target, ceiling: Ceiling): Target {
  if (outputEstimates === null) return target;
  const { holdNanoUsd } = withExpectedCost(outputEstimates, prepared, withCeiling(target, ceiling));
  return { ...target, holdNanoUsd };
}

/** The dearest target that an attempt may be called beside, where late streams are hedged; null: none is. */
function besideOf({ deps }: Pick<CallRun, 'deps'>, request: ChatRequest, plan: Plan | null): Target | null {
  if (deps.hedging === null || request.stream !== true || plan === null) return null;
  return plan.targets.reduce<Target | null>(
    (dearest, one) => (dearest === null || holdOf(one) > holdOf(dearest) ? one : dearest),
    null,
  );
}

/** Makes a generation of the result of an attempt. */
function opened(run: CallRun, generation: GenerationState, { attempted, target, ask }: Executed): Generation {
  generation.served(target, ask);
  const { call, deps } = run;
  const { endpoint, providerName } = target;
  const head: ResponseHead = { id: call.id, created: call.created, model: endpoint.modelSlug, provider: providerName };
  if (attempted.kind === 'stream') {
    const stream = new GenerationStream({
      head,
      open: attempted,
      clock: deps.clock,
      idleMs: deps.timeouts.idleMs,
      mayForward: !attempted.hasOtherNames && mayForward(call, deps.provider(endpoint.providerSlug)?.dialect),
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

/** true: bytes of the upstream may reach the client. Both speak one format, whose events have a template of bytes. */
function mayForward({ encoder }: Call, dialect: Dialect | undefined): boolean {
  return dialect?.format === encoder.format && (encoder.format === 'chat' || encoder.textFields !== undefined);
}

function withLog<Response extends ModelResponse>(
  response: Response,
  log: GenerationLog,
): Response & { log: GenerationLog } {
  return Object.assign(response, { log });
}
