import { nextTurn } from '../../base/async/next-turn.ts';
import { isGatewayError } from '../../base/errors.ts';
import { idHeader } from '../../base/ids.ts';
import type { Call } from '../../call/call.ts';
import type { Plan } from '../../call/plan.ts';
import type { OperationReply } from '../../call/reply.ts';
import { nothingImposed } from '../../guardrails/stored.ts';
import { keyRefOf } from '../../routing/key-ring.ts';
import { observeEnd } from '../attempt/observe.ts';
import { walkAlong } from '../attempt/walk.ts';
import { droppedHeader } from '../call/dropped-header.ts';
import { refused } from '../call/refused.ts';
import { ClientSource } from '../deliver/client-source.ts';
import { inTime } from '../deliver/in-time.ts';
import type { PipelineDeps } from '../deps.ts';
import { gather } from '../plan/gather.ts';
import { unplanned } from '../plan/plan-of.ts';
import type { TaskMade } from './attempt.ts';
import { TaskBounds } from './bounds.ts';
import { TaskDelivery, type TaskDeliveryInput, taskFailure } from './delivery.ts';
import { planOfTask, routedTask } from './plan.ts';
import { TaskRun } from './run.ts';
import { screenTask } from './screen.ts';
import type { Task, TaskStream } from './task.ts';
import { textGuardsOf } from './text-guard.ts';
import { TaskWalk } from './walk.ts';

/**
 * The path of a client call of a task: admit, screen, plan, hold, attempt, settle, reply. A response that is streamed is
 * settled at its end.
 * @param call  its request is the view of the task
 * @throws GatewayError; the reason of the call's signal when the client left
 */
export async function serveTask(deps: PipelineDeps, call: Call, task: Task): Promise<OperationReply> {
  let run: TaskRun | null = null;
  if (call.isLong) await nextTurn();
  try {
    const imposed = await (deps.imposedOn?.(call.caller) ?? nothingImposed);
    run = new TaskRun(deps, call, imposed.guardrails);
    if (deps.record !== null) run.watch.noteWorkspace(await deps.defaultsOf(call.caller.workspaceId), imposed.isZdr);
    await run.admit(task);
    const screened = await screenTask(run, task);
    run.watch.noteAsked(screened.view());
    const reply =
      screened.stream === undefined ? await whole(run, screened) : await streamed(run, screened, screened.stream);
    return { ...reply, headers: { ...reply.headers, ...run.rateHeaders, ...droppedHeader(run.dropped) } };
  } catch (error) {
    // Guardrails that cannot be read still count: without them, the call is refused.
    throw refused(run ?? new TaskRun(deps, call), error);
  }
}

/** Replies with JSON. */
async function whole(run: TaskRun, task: Task): Promise<OperationReply> {
  const { deps, call } = run;
  const { generation, progress, head, target, served, made } = await asked(run, task);
  const { usage } = generation.served(target, served, made.served);
  observeEnd(deps, target, 'ok', null, call.time.now());
  await progress.checked?.();
  const body = progress.result(head, usage);
  run.finish({ outcome: 'ok', status: 200, error: null });
  const contentType = progress.contentType?.() ?? null;
  if (contentType !== null && typeof body === 'string')
    return { status: 200, kind: 'file', headers: idHeader(call.id), contentType, body };
  const metadata = run.metadata();
  return {
    status: 200,
    kind: 'json',
    headers: idHeader(call.id),
    body: metadata === undefined ? body : { ...(body as object), [`${deps.brand}_metadata`]: metadata },
  };
}

/**
 * Replies with a stream. A stream of events begins after a while even where the provider is silent; of bytes, which have
 * no place for an error, once the first are there.
 */
async function streamed(run: TaskRun, task: Task, stream: TaskStream): Promise<OperationReply> {
  const { call, deps } = run;
  const opening = asked(run, task).then((begun) => new TaskDelivery({ run, stream, ...begun }));
  const opened = stream.events === null ? await opening : await inTime(opening, deps);
  const contentType = opened?.contentType ?? null;
  const body = new ClientSource({
    clock: deps.clock,
    keepAlive: deps.keepAlive,
    comment: stream.events?.keepAlive ?? null,
    signal: call.signal,
    opening: opened ?? opening.catch((error: unknown) => Promise.reject(refused(run, error))),
    failed: (error) => taskFailure(run, stream, error),
  });
  const headers = { ...idHeader(call.id), ...(contentType === null ? {} : { 'content-type': contentType }) };
  return { status: 200, headers, kind: 'stream', body };
}

/** Plans, holds, and asks the targets. The money of what they have brought is still to be settled. */
async function asked(run: TaskRun, task: Task): Promise<Omit<TaskDeliveryInput, 'run' | 'stream'>> {
  const { deps, call, hold, watch } = run;
  const generation = run.begin(task);
  try {
    const routed = routedTask(task);
    const gathered = await gather(deps, call, generation.request, task.name);
    if (call.isLong) await nextTurn();
    const planned = planOfTask(deps, task, routed, gathered);
    noteKey(deps, planned);
    generation.planned(planned);
    const progress = task.begin(textGuardsOf(run, task));
    const { plan, share } = await hold.admit(new TaskBounds(deps, progress), planned, gathered.budgets);
    generation.held(plan, share);
    const walked = { plan, share, signal: call.signal, attempts: generation.attempts };
    const input = {
      signal: call.signal,
      time: call.time,
      follower: watch.follower,
      parameters: task.parametersOf(),
      isStream: task.stream !== undefined,
    };
    const walk = await walkAlong<TaskMade, TaskWalk>(
      deps,
      walked,
      (first) => new TaskWalk(deps, walked, first, { input, progress }),
    );
    const { called: target, served, made } = walk;
    const head = {
      id: call.id,
      created: call.created,
      model: target.endpoint.modelSlug,
      provider: target.providerName,
    };
    return { generation, progress, head, target, served, made };
  } catch (error) {
    const excluded = ((isGatewayError(error) && error.metadata?.excluded) || []) as Plan['excluded'];
    generation.plan ??= unplanned(deps, generation.request, null, excluded);
    throw error;
  }
}

/** Notes the first key of a plan, where the operator has several at its provider: the next request begins with another. */
function noteKey({ keyRings }: PipelineDeps, { targets: [first] }: Plan): void {
  const ref = first === undefined ? null : keyRefOf(first.credential);
  if (ref !== null) keyRings?.get(ref.provider)?.planned(ref);
}
