import { nextTurn } from '../base/async/next-turn.ts';
import { isGatewayError } from '../base/errors.ts';
import { idHeader } from '../base/ids.ts';
import { type Ask, withRequest } from '../call/ask.ts';
import type { Call } from '../call/call.ts';
import type { ModelResponse } from '../call/generation.ts';
import type { OperationReply } from '../call/reply.ts';
import { nothingImposed } from '../guardrails/stored.ts';
import { droppedHeader } from './call/dropped-header.ts';
import { refused } from './call/refused.ts';
import { CallRun } from './call/run.ts';
import { ClientSource } from './deliver/client-source.ts';
import { Delivery, deliverJson, failureFrames } from './deliver/deliver.ts';
import { inTime } from './deliver/in-time.ts';
import type { PipelineDeps } from './deps.ts';
import { generate } from './generate.ts';
import { screen } from './hooks/before.ts';
import { wrapped } from './hooks/wrap.ts';
import { mayNeedOwnTools, withOwnTools } from './server-tools/hosted-tools.ts';
import { offerServerTools, offersServerTools } from './server-tools/offer.ts';
import { respondWithServerTools } from './tool-loop/loop.ts';

/**
 * The path of a client call: admit, screen, generate (once, or as often as plugins do), deliver.
 * @throws GatewayError; the reason of the call's signal when the client left
 */
export async function serve(deps: PipelineDeps, call: Call): Promise<OperationReply> {
  let imposed = nothingImposed;
  if (call.isLong) await nextTurn();
  try {
    const found = deps.imposedOn?.(call.caller) ?? nothingImposed;
    imposed = found instanceof Promise ? await found : found;
  } catch (error) {
    // Guardrails that cannot be read still count: without them, the call is refused.
    throw refused(new CallRun(deps, call), error);
  }
  const run = new CallRun(deps, call, imposed.guardrails);
  try {
    if (deps.record !== null) {
      const found = deps.defaultsOf(call.caller.workspaceId);
      run.watch.noteWorkspace(found instanceof Promise ? await found : found, imposed.isZdr);
    }
    const admitting = run.admit();
    if (admitting !== undefined) await admitting;
    const screened = screen(run);
    const ask = screened instanceof Promise ? await screened : screened;
    call.asked?.({ screened: run.screened, ask, isRestored: isRestored(run) });
    run.watch.noteAsked(ask.request);
    const responding = run.judged(respond(run, ask));
    const reply =
      call.ask.request.stream === true
        ? await stream(run, ask, responding)
        : await deliverJson(run, ask, await responding);
    const { rateHeaders } = run;
    const dropped = droppedHeader(run.dropped);
    if (rateHeaders === undefined && dropped === undefined) return reply;
    return { ...reply, headers: { ...reply.headers, ...rateHeaders, ...dropped } };
  } catch (error) {
    throw refused(run, error);
  }
}

/** true: guardrails have changed the request, and one of them puts texts back into the response. */
function isRestored({ call, screened, hooks }: CallRun): boolean {
  return screened.request !== call.request && hooks.some((hook) => hook.hooks.restore !== undefined);
}

/** Generates a response, with the plugins that wrap it. The first plugin in the order is the outermost. */
function respond(run: CallRun, ask: Ask): Promise<ModelResponse> {
  const withTools = (one: Ask) => {
    if (!offersServerTools(one.request)) return generate(run, one);
    const offer = offerServerTools(one.request, run.deps.serverTools);
    return respondWithServerTools(run, withRequest(one, offer.request), offer);
  };
  let respondTo: (ask: Ask) => Promise<ModelResponse> = (one) =>
    mayNeedOwnTools(run.deps, one) ? withOwnTools(run.deps, run.call, one).then(withTools) : withTools(one);
  for (const hook of run.hooks.toReversed()) {
    const inner = respondTo;
    if (hook.hooks.wrap) respondTo = (one) => wrapped(run, hook, inner, one);
  }
  return respondTo(ask);
}

/** Replies with a stream, whose first token is waited for. */
async function stream(run: CallRun, ask: Ask, responding: Promise<ModelResponse>): Promise<OperationReply> {
  const { call, deps } = run;
  const opening = responding.then((response) => new Delivery(run, ask, response));
  let opened: Delivery | null = null;
  try {
    opened = await inTime(opening, deps);
  } catch (error) {
    // The stream is sent even so, and its first event says why it failed.
    if (!isGatewayError(error) || call.encoder.failsInStream?.(error) !== true) throw error;
  }
  const body = new ClientSource({
    clock: deps.clock,
    keepAlive: deps.keepAlive,
    comment: call.encoder.keepAlive,
    signal: call.signal,
    opening: opened ?? opening.catch((error: unknown) => Promise.reject(refused(run, error))),
    failed: (error) => failureFrames(run, error),
  });
  return { status: 200, headers: idHeader(call.id), kind: 'stream', body };
}
