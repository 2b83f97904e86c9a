import { GatewayError } from '../../base/errors.ts';
import { askOf, type Revised, revised } from '../../call/ask.ts';
import type { ActiveHook } from '../call/active-hooks.ts';
import { nameOf } from '../call/hook-failure.ts';
import { HookOfCall } from '../hooks/context.ts';
import type { TaskRun } from './run.ts';
import type { Task } from './task.ts';

/**
 * Shows a task to guardrails, one after the other, before anything of it leaves. Also those that would act beside a
 * model: no vector is worth a text that should not have left.
 * @returns the task, with the texts as they have left them
 * @throws GatewayError the refusal of a guardrail; guardrail_blocked (403) for what they cannot read
 */
export async function screenTask(run: TaskRun, task: Task): Promise<Task> {
  const { call, hooks } = run;
  if (hooks.length === 0) return task;
  let screened = task;
  for (const hook of hooks) {
    checkReads(hook, screened);
    if (hook.hooks.before === undefined) continue;
    screened = await screenedBy(run, hook, screened);
  }
  run.watch.noteScreened(screened.fields.session_id ?? call.sessionId, screened.view());
  return screened;
}

async function screenedBy(run: TaskRun, hook: ActiveHook, task: Task): Promise<Task> {
  const ask = askOf(task.view());
  const asked = new HookOfCall(run, hook, 'before', ask);
  const made = await asked.outcome<Revised>(ask.request, () => hook.hooks.before?.(ask.request, asked.context));
  const { request } = revised(ask, made);
  if (request === ask.request) return task;
  try {
    return task.withView(request);
  } catch (error) {
    throw asked.named(error);
  }
}

/** @throws GatewayError guardrail_blocked (403) where a guardrail would let pass what it has not seen */
function checkReads({ id, hooks, isGuardrail }: ActiveHook, task: Task): void {
  const { before, prepare, wrap } = hooks;
  const name = nameOf({ id, isGuardrail });
  if (before === undefined && (prepare !== undefined || wrap !== undefined))
    throw unread(
      `${name} reads chat requests alone, by its hooks prepare or wrap, and cannot check a request for ${task.name}`,
    );
  if (before !== undefined && task.hasOpaqueInput)
    throw unread(`${name} cannot read token ids; send the texts themselves`);
}

function unread(message: string): GatewayError {
  return new GatewayError('guardrail_blocked', message, { metadata: { patterns: [] } });
}
