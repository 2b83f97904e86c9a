import type { ChatRequest } from '../schema/chat.ts';
import type { CallRun } from './call-run.ts';
import type { PipelineDeps } from './deps.ts';
import { HookOfCall } from './hook-context.ts';
import { offerServerTools, offersServerTools } from './server-tools/offer.ts';

/**
 * Asks guardrails and plugins what they make of a request, before it is routed.
 * @returns the request as they changed it
 * @throws GatewayError invalid_request (400) for what this gateway cannot do; whatever a hook refuses with
 */
export function screen(run: CallRun): ChatRequest | Promise<ChatRequest> {
  const { deps, call, hooks } = run;
  checkAvailable(deps, call.request);
  return hooks.length === 0 ? call.request : askedHooks(run);
}

async function askedHooks(run: CallRun): Promise<ChatRequest> {
  let { request } = run.call;
  for (const hook of run.hooks) {
    if (hook.hooks.before === undefined) continue;
    const asked = new HookOfCall(run, hook, 'before');
    const given = request;
    request = await asked.outcome(given, () => hook.hooks.before?.(given, asked.context));
  }
  return request;
}

/**
 * Refuses a tool that would run here and is not available, and a transform that there is not: nothing is silently
 * ignored.
 * @throws GatewayError invalid_request (400)
 */
export function checkAvailable(
  { serverTools, shortener }: Pick<PipelineDeps, 'serverTools' | 'shortener'>,
  request: ChatRequest,
): void {
  if (offersServerTools(request)) offerServerTools(request, serverTools);
  shortener?.asked(request);
}
