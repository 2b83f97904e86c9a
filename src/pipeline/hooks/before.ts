import { type Ask, type Revised, revised, withRequest } from '../../call/ask.ts';
import type { ActiveHook } from '../call/active-hooks.ts';
import { namedError } from '../call/hook-failure.ts';
import { withVariantServed } from '../call/plugin-variant.ts';
import type { CallRun } from '../call/run.ts';
import type { PipelineDeps } from '../deps.ts';
import { offerServerTools, offersServerTools } from '../server-tools/offer.ts';
import { HookOfCall } from './context.ts';

/**
 * Gives a request to guardrails and plugins, which may change it, before it is routed.
 * @returns the request as they changed it
 * @throws GatewayError invalid_request (400) for a wish that this gateway cannot serve; the refusal of a hook
 */
export function screen(run: CallRun): Ask | Promise<Ask> {
  const { deps, call, hooks } = run;
  checkAvailable(deps, call.ask);
  return hooks.length === 0 ? call.ask : askedHooks(run);
}

async function askedHooks(run: CallRun): Promise<Ask> {
  const { sessionId } = run.call;
  let { ask } = run.call;
  // A header may name the session as well. The name is put in the field, where guardrails look.
  if (run.isGuarded && sessionId !== null && ask.request.session_id === undefined)
    ask = withRequest(ask, { ...ask.request, session_id: sessionId });
  let isScreened = !run.isGuarded;
  const acting: ActiveHook[] = [];
  for (const active of run.hooks) {
    if (!isScreened && !active.isGuardrail) {
      noteScreened(run, ask);
      isScreened = true;
    }
    const served =
      active.variant === null ? { hook: active, ask } : await withVariantServed(run.deps, run.call, active, ask);
    if (served === null) continue;
    const { hook } = served;
    ask = served.ask;
    acting.push(hook);
    if (hook.hooks.before === undefined) continue;
    if (hook.isParallel) run.judge(verdict(run, hook, ask));
    else ask = await asked(run, hook, ask);
  }
  run.act(acting);
  if (!isScreened) noteScreened(run, ask);
  return ask;
}

/** Guardrails have let the request pass. */
function noteScreened(run: CallRun, ask: Ask): void {
  run.screened = ask;
  run.watch.noteScreened(ask.request.session_id ?? null, ask.request);
}

async function asked(run: CallRun, hook: ActiveHook, ask: Ask): Promise<Ask> {
  const ofCall = new HookOfCall(run, hook, 'before', ask);
  const made = await ofCall.outcome<Revised>(ask.request, () => hook.hooks.before?.(ask.request, ofCall.context));
  return revised(ask, made);
}

/** Asks a hook while the model is asked. @throws the refusal of the hook; an error where it changes the request */
async function verdict(run: CallRun, hook: ActiveHook, ask: Ask): Promise<void> {
  const made = await asked(run, hook, ask);
  if (made.request === ask.request && made.native === ask.native) return;
  const why = new Error('mode parallel: the hook before has changed a request that was on its way to the model');
  throw namedError(why, hook, 'before');
}

/**
 * Refuses a tool that would run here and is not available, and a transform that does not exist: nothing is silently
 * ignored.
 * @throws GatewayError invalid_request (400)
 */
export function checkAvailable(
  { serverTools, shortener }: Pick<PipelineDeps, 'serverTools' | 'shortener'>,
  ask: Ask,
): void {
  if (offersServerTools(ask.request)) offerServerTools(ask.request, serverTools);
  shortener?.asked(ask);
}
