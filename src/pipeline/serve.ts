import { nextTurn } from '../base/async/next-turn.ts';
import { isGatewayError } from '../base/errors.ts';
import { idHeader } from '../base/ids.ts';
import { abortError, CallAborted } from '../call/abort.ts';
import { type Ask, withRequest } from '../call/ask.ts';
import type { Call } from '../call/call.ts';
import type { ModelResponse } from '../call/generation.ts';
import type { OperationReply } from '../call/reply.ts';
import { nothingImposed } from '../guardrails/stored.ts';
import { CallRun } from './call/run.ts';
import { withoutWithheld } from './call/withheld.ts';
import { ClientSource } from './deliver/client-source.ts';
import { Delivery, deliverJson, failureFrames } from './deliver/deliver.ts';
import type { PipelineDeps } from './deps.ts';
import { generate } from './generate.ts';
import { hasLeft } from './generation/state.ts';
import { screen } from './hooks/before.ts';
import { wrapped } from './hooks/wrap.ts';
import { mayNeedSearch, withOwnSearch } from './server-tools/hosted-search.ts';
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

/** The most characters of the header that names what had no effect. */
const mostDroppedChars = 1_000;

/**
 * Tells a client without the routing metadata which fields of its request had no effect. Names of fields come from the
 * caller: one that is no word is left out.
 */
function droppedHeader(dropped: readonly string[]): Record<string, string> | undefined {
  if (dropped.length === 0) return undefined;
  let text = '';
  for (const name of new Set(dropped)) {
    if (!/^[\w.[\]:-]{1,100}$/.test(name) || text.length + name.length > mostDroppedChars) continue;
    text += text === '' ? name : `, ${name}`;
  }
  return text === '' ? undefined : { 'x-service-dropped': text };
}

/** Generates a response, with the plugins that wrap it. The first plugin in the order is the outermost. */
function respond(run: CallRun, ask: Ask): Promise<ModelResponse> {
  const withTools = (one: Ask) => {
    if (!offersServerTools(one.request)) return generate(run, one);
    const offer = offerServerTools(one.request, run.deps.serverTools);
    return respondWithServerTools(run, withRequest(one, offer.request), offer);
  };
  let respondTo: (ask: Ask) => Promise<ModelResponse> = (one) =>
    mayNeedSearch(run.deps, one) ? withOwnSearch(run.deps, run.call, one).then(withTools) : withTools(one);
  for (const hook of run.hooks.toReversed()) {
    const inner = respondTo;
    if (hook.hooks.wrap) respondTo = (one) => wrapped(run, hook, inner, one);
  }
  return respondTo(ask);
}

/**
 * Waits for the first token, so that a failure before it is an ordinary error. The wait is short enough for the
 * connection to stay alive.
 */
async function stream(run: CallRun, ask: Ask, responding: Promise<ModelResponse>): Promise<OperationReply> {
  const { call, deps } = run;
  const opening = responding.then((response) => new Delivery(run, ask, response));
  let stopWaiting: () => void = () => undefined;
  const patience = new Promise<null>((resolve) => {
    stopWaiting = deps.clock.after(deps.keepAlive.firstMs, () => resolve(null));
  });
  try {
    let opened: Delivery | null = null;
    try {
      opened = await Promise.race([opening, patience]);
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
  } finally {
    stopWaiting();
  }
}

/** Ends a call that failed before anything was delivered. Adds to the error how the call was routed. */
function refused(run: CallRun, error: unknown): unknown {
  const { call } = run;
  const left = hasLeft(error);
  run.noteRefusal(error);
  const named = error instanceof CallAborted && !left ? abortError(error) : error;
  const shown = isGatewayError(named) ? withoutWithheld(run.hooks, named) : named;
  const status = isGatewayError(shown) ? shown.status : left ? 499 : 500;
  const reported = isGatewayError(shown) ? { type: shown.errorType, message: shown.message } : null;
  run.finish({ outcome: left ? 'cancelled' : 'failed', status, error: left ? null : reported });
  if (!isGatewayError(shown)) return shown;
  // An internal error says nothing of itself.
  const headers = { ...run.rateHeaders, ...idHeader(call.id) };
  return shown.with({ headers, route: shown.status === 500 ? undefined : run.metadata() });
}
