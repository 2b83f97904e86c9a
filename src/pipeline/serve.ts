import { andThen } from '../base/and-then.ts';
import { isGatewayError } from '../base/errors.ts';
import { abortError, CallAborted } from '../call/abort.ts';
import type { Call } from '../call/call.ts';
import type { Plan, Target } from '../call/plan.ts';
import type { Reply } from '../call/reply.ts';
import { hidesReasoning, withoutReasoning } from '../convert/reasoning.ts';
import { describeRoute } from '../routing/describe.ts';
import { namedSlugs, strategyOf } from '../routing/expand.ts';
import { planRoute } from '../routing/plan.ts';
import type { ErrorBody, ServiceMetadata } from '../schema/envelope.ts';
import type { CompleteResponse } from './attempt.ts';
import { type CallControl, clientStream } from './client-stream.ts';
import type { PipelineDeps } from './deps.ts';
import { type Executed, execute } from './execute.ts';
import { type Gathered, gather } from './gather.ts';
import { inBand, relay } from './relay.ts';
import { type Admitted, type Reserved, reserve } from './reserve.ts';
import { screen } from './screen.ts';
import { type Settle, settleOnce } from './settle.ts';

/**
 * The spine: a call in, a reply out.
 * @throws GatewayError; the reason of the call's signal when the client left
 */
export async function serve(deps: PipelineDeps, call: Call, control: CallControl): Promise<Reply> {
  const admitting = admit(deps, call);
  const { plan, reserved } = admitting instanceof Promise ? await admitting : admitting;
  const settle = settleOnce(deps, call, plan, reserved);
  if (call.request.stream === true) return stream(deps, call, plan, reserved, settle, control);
  try {
    return whole(deps, call, plan, await execute(deps, call, plan, reserved), settle);
  } catch (error) {
    throw explained(deps, call, plan, settle, error);
  }
}

/**
 * Screens, reads, plans and holds the money: all that comes before a provider is asked; without a promise where all of it
 * is in memory. Records a call that gets no further.
 */
function admit(deps: PipelineDeps, call: Call): Admitted | Promise<Admitted> {
  let { defaultModel } = deps;
  let plan: Plan | null = null;
  const planned = (gathered: Gathered) => {
    defaultModel = gathered.defaultModel;
    plan = planOf(deps, call, gathered);
    return reserve(deps, call, plan, gathered.budgets);
  };
  const refused = (error: unknown): never => {
    const known = plan ?? nowhere(deps, call, defaultModel, error);
    throw explained(deps, call, known, settleOnce(deps, call, known, null), error);
  };
  try {
    screen(call.request);
    const admitted = andThen(gather(deps, call), planned);
    return admitted instanceof Promise ? admitted.catch(refused) : admitted;
  } catch (error) {
    return refused(error);
  }
}

export function planOf(deps: PipelineDeps, { request }: Call, { facts, view, defaultModel }: Gathered): Plan {
  const { brand, isConfigured, provider } = deps;
  return planRoute({
    request,
    view,
    facts,
    defaultModel,
    brand,
    isConfigured,
    providerName: (slug) => provider(slug)?.name ?? slug,
    passthrough: (slug) => provider(slug)?.dialect.nativeChunks === true,
  });
}

/** The plan of a call that could not be planned: what was asked, and what was excluded. */
function nowhere({ brand }: PipelineDeps, { request }: Call, defaultModel: string | null, error: unknown): Plan {
  const slugs = namedSlugs(request, defaultModel);
  return {
    requested: slugs[0] ?? '',
    strategy: strategyOf(slugs, brand),
    targets: [],
    excluded: ((isGatewayError(error) && error.metadata?.excluded) || []) as Plan['excluded'],
    router: null,
  };
}

function whole(deps: PipelineDeps, call: Call, plan: Plan, { attempted, served }: Executed, settle: Settle): Reply {
  const { result: answered, usage } = attempted as CompleteResponse;
  const result = hidesReasoning(call.request) ? withoutReasoning(answered) : answered;
  const { endpoint, providerName } = plan.targets[served] as Target;
  const output = usage === null ? JSON.stringify(result.choices.map(({ message }) => message)) : '';
  const firstMs = deps.clock.now() - call.receivedAtMs;
  const receipt = settle({ outcome: 'ok', status: 200, served, usage, output, firstMs });
  const head = { id: call.id, created: call.created, model: endpoint.modelSlug, provider: providerName };
  const end = call.wantsMetadata
    ? { usage: receipt.usage, metadata: describeRoute(plan, call.trace, served, deps.region) }
    : { usage: receipt.usage };
  return { status: 200, headers: idHeader(call), kind: 'json', body: call.wire.result(head, result, end) };
}

/** Waits for the first token, so that a failure before it is an ordinary error; but not so long that the line goes dead. */
async function stream(
  deps: PipelineDeps,
  call: Call,
  plan: Plan,
  reserved: Reserved,
  settle: Settle,
  control: CallControl,
): Promise<Reply> {
  const opening = execute(deps, call, plan, reserved).then(
    (executed) => relay(deps, call, plan, executed, settle),
    (error: unknown) => {
      throw explained(deps, call, plan, settle, error);
    },
  );
  const failed = (error: unknown) => failureText(deps, call, plan, error);
  let stopWaiting: () => void = () => undefined;
  const patience = new Promise<null>((resolve) => {
    stopWaiting = deps.clock.after(deps.keepAlive.firstMs, () => resolve(null));
  });
  try {
    const opened = await Promise.race([opening, patience]);
    return {
      status: 200,
      headers: idHeader(call),
      kind: 'stream',
      body: clientStream(deps, call, opened ?? opening, failed, control),
    };
  } finally {
    stopWaiting();
  }
}

/** A failure before the first token of a stream that was already opened with a comment. */
function failureText(deps: PipelineDeps, call: Call, plan: Plan, error: unknown): string | null {
  if (error instanceof CallAborted && error.why === 'client_left') return null;
  const first = plan.targets[0] as Target;
  const head = { id: call.id, created: call.created, model: first.endpoint.modelSlug, provider: first.providerName };
  const shown: ErrorBody['error'] = inBand(error, first);
  const metadata = call.wantsMetadata ? describeRoute(plan, call.trace, -1, deps.region) : undefined;
  return call.wire.fail(head, shown, metadata ? { metadata } : {});
}

/** Records a call that nobody could serve, and adds how it was routed. */
function explained(deps: PipelineDeps, call: Call, plan: Plan, settle: Settle, error: unknown): unknown {
  const left = error instanceof CallAborted && error.why === 'client_left';
  const shown = error instanceof CallAborted && !left ? abortError(error) : error;
  const status = isGatewayError(shown) ? shown.status : left ? 499 : 500;
  settle({ outcome: left ? 'cancelled' : 'failed', status, served: -1, usage: null, output: 0, firstMs: null });
  return withRoute(shown, call, describeRoute(plan, call.trace, -1, deps.region));
}

/** Errors carry the call's id, and routing metadata for those who asked; an internal error says nothing of itself. */
function withRoute(error: unknown, call: Call, route: ServiceMetadata): unknown {
  if (!isGatewayError(error)) return error;
  return error.with({ headers: idHeader(call), route: call.wantsMetadata && error.status !== 500 ? route : undefined });
}

/** The completion's id, for whoever has to find it in the records. */
function idHeader(call: Call): Record<string, string> {
  return { 'x-generation-id': call.id };
}
