import type { Call } from '../call/call.ts';
import type { Plan } from '../call/plan.ts';
import { nothingImposed } from '../guardrails/stored.ts';
import { standingOfTarget } from '../routing/plan.ts';
import { activeHooks } from './call/active-hooks.ts';
import type { PipelineDeps } from './deps.ts';
import { type Explained, type ExplainedTarget, nothing, previewGuardrails, refusedBy, within } from './explain.ts';
import { isLimited } from './money/afford.ts';
import { gather } from './plan/gather.ts';
import { batchesAt, TaskBounds, withCeiling } from './task/bounds.ts';
import { planOfTask, routedTask } from './task/plan.ts';
import type { Task } from './task/task.ts';

/**
 * Follows the way of a task up to the point where money is held, without holding any, as `explain` does for chat.
 * @param call  its request is the view of the task
 * @throws the errors of `explain`
 */
export async function explainTask(deps: PipelineDeps, call: Call, given: Task): Promise<Explained> {
  const imposed = await (deps.imposedOn?.(call.caller) ?? nothingImposed);
  const guardrails = activeHooks(deps, call, imposed.guardrails).filter(({ isGuardrail }) => isGuardrail);
  const { ask, stages, refusal } = await previewGuardrails(guardrails, deps.clock, call);
  const request = call.ask.request;
  if (refusal !== null) return { ...nothing, request, defaultModel: null, refusal, stages };
  const task = ask.request === request ? given : given.withView(ask.request);
  const routed = routedTask(task);
  const gathered = await gather(deps, call, task.view(), task.name);
  let plan: Plan;
  try {
    plan = planOfTask(deps, task, routed, gathered);
  } catch (error) {
    return { ...refusedBy(error, request, null), stages };
  }
  const progress = task.begin(null);
  const targetsOf = ({ targets }: Plan): ExplainedTarget[] =>
    targets.map((target) => {
      const { ceilingNanoUsd: nanoUsd, mostTokens } = withCeiling(target, batchesAt(deps, progress, target)) ?? target;
      const ceiling = nanoUsd === undefined || mostTokens === undefined ? null : { nanoUsd, ...mostTokens };
      return { target, standing: standingOfTarget({ routed, ...gathered }, target), ceiling };
    });
  const of = { request, bounds: new TaskBounds(deps, progress), targetsOf, stagesOf: () => stages };
  if (isLimited(call, gathered.budgets)) return within(deps, call, plan, gathered, of, 0);
  return {
    ...nothing,
    request,
    defaultModel: null,
    plan,
    targets: targetsOf(plan),
    excluded: plan.excluded,
    stages,
  };
}
