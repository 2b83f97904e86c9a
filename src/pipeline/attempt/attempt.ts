import { type StopSignal, StopSwitch } from '../../base/async/stop.ts';
import { turn } from '../../base/async/turns.ts';
import { UpstreamError } from '../../base/http/upstream-error.ts';
import type { Redactor } from '../../base/secrets.ts';
import { type Ask, noHeaders } from '../../call/ask.ts';
import type { Call } from '../../call/call.ts';
import type { Target } from '../../call/plan.ts';
import { factsOf, withFacts } from '../../catalog/model-facts/index.ts';
import type { EncodedRequest } from '../../dialects/dialect.ts';
import { encodeFitted } from '../../dialects/fit/index.ts';
import type { Credential, Provider } from '../../providers/provider.ts';
import { keyRefOf } from '../../routing/key-ring.ts';
import type { ChatRequest } from '../../schema/chat/chat.ts';
import type { ThoughtDropReason } from '../../schema/chat/envelope.ts';
import type { SafeFollower } from '../../telemetry/follow.ts';
import { send } from '../../transport/send.ts';
import type { AttemptDeps } from '../deps.ts';
import { checkReadable } from '../plan/readable.ts';
import { redactorOfSigned, withoutKeys } from '../secrets/redaction.ts';
import { authenticated } from './authenticate.ts';
import { isOtherPrompt } from './bound-thoughts.ts';
import { AttemptContext } from './context.ts';
import { isRenewed, mayRenew, openedKey } from './operator-key.ts';
import { fittedRequest, Sent, urlOf } from './outgoing.ts';
import { refusedKeyIn } from './refused-key.ts';
import { type Attempted, readError, readResponse } from './response.ts';
import { Watchdog } from './watchdog.ts';

export type { Attempted, CompleteResponse, OpenStream } from './response.ts';

export interface AttemptWatcher {
  /** Receives the request that is sent upstream, before authentication. */
  show(encoded: EncodedRequest): void;
  /** Receives the request that is sent. It says at any time whether the provider may have got it. */
  sends?(sent: Sent): void;
}

/** Learns how an attempt went: it ends with `succeeded` or `failed`. */
export interface AttemptObserver extends AttemptWatcher {
  /**
   * Called where somebody follows the call, just before the request is sent.
   * @param planned  the request that the provider is to serve
   * @returns further headers for the provider
   */
  begins(url: string, planned: ChatRequest): Readonly<Record<string, string>> | undefined;
  /** Receives the headers of every response, also of an error, and the redactor that takes keys out of them. */
  responded(headers: Readonly<Record<string, string>>, redactor: Redactor): void;
  succeeded(attempted: Attempted): void;
  /** @param isRenewed  true: only the key was at fault, and there is a new one */
  failed(error: unknown, isRenewed: boolean): void;
}

/** The parts of an attempt beside its target. */
export interface AttemptInput extends Pick<Call, 'ask' | 'signal' | 'time'> {
  /** Follows the call; null: nobody does. */
  follower: SafeFollower | null;
  /** true: this attempt has a renewed key, which is not renewed again. Absent: false. */
  isRenewed?: boolean;
  /** The request as the client sent it. Absent: the request was not changed. */
  asked?: ChatRequest;
}

/**
 * Makes one attempt at one target: opens the credential, encodes, authenticates, sends, and reads up to the complete
 * response or the first token of a stream. No other place holds a raw key.
 * @throws UpstreamError, whose message is clean of keys; the reason of the call's signal after an abort
 */
export async function attempt(
  deps: AttemptDeps,
  call: AttemptInput,
  target: Target,
  observer: AttemptObserver,
): Promise<Attempted> {
  const controller = new StopSwitch();
  const onCallAbort = () => controller.abort(call.signal.reason);
  const watchdog = new Watchdog(deps.clock, (phase, ms) => controller.abort(timedOut(phase, ms)));
  const keyRef = deps.keyRings === undefined ? null : keyRefOf(target.credential);
  const endLoad = keyRef === null ? undefined : deps.keyRings?.get(keyRef.provider)?.began(keyRef);
  const release = () => {
    call.signal.removeEventListener('abort', onCallAbort);
    watchdog.stop();
    endLoad?.();
  };
  let credential: Credential | null = null;
  let provider: Provider | null = null;
  try {
    call.signal.addEventListener('abort', onCallAbort, { once: true });
    const opened = openedKey(deps, target, controller, watchdog, call.isRenewed);
    credential = opened instanceof Promise ? await opened : opened;
    call.signal.throwIfAborted();
    provider = deps.provider(target.endpoint.providerSlug) as Provider;
    checkReadable(call.ask.native, provider.dialect);
    if (call.ask.takesTurns) {
      await turn(target.workspaceId);
      call.signal.throwIfAborted();
    }
    const { native, headers } = call.ask;
    const { request: planned, dropped } = fittedRequest(call.ask.request, target, provider);
    let encoded = encodeFitted(provider.dialect, {
      request: planned,
      native,
      upstreamModel: target.endpoint.upstreamModel,
      quirks: withFacts(provider, factsOf(target.endpoint)),
      isLimited: target.mostTokens !== undefined,
      whyDropThoughts: () => whyDropThoughts(deps, call, target),
      ...(deps.thoughtFields === undefined ? {} : { thoughtField: deps.thoughtFields.of(target) }),
    });
    if (dropped.length > 0) encoded = { ...encoded, dropped: [...new Set([...dropped, ...encoded.dropped])] };
    if (headers !== noHeaders) encoded = { ...encoded, headers: { ...headers, ...encoded.headers } };
    observer.show(encoded);
    if (call.follower !== null) {
      const further = observer.begins(urlOf(provider, credential, encoded.path), planned);
      if (further !== undefined) encoded = { ...encoded, headers: { ...further, ...encoded.headers } };
    }
    const context = new AttemptContext(deps, provider, credential, encoded, watchdog);
    const signed = authenticated(context, target, controller, deps.reportAuthFailure);
    if (signed instanceof Promise) watchdog.arm(deps.timeouts.headersMs, 'what authenticates the request');
    const request = signed instanceof Promise ? await signed : signed;
    context.redactor = redactorOfSigned(context, request);
    const isStream = call.ask.request.stream === true;
    watchdog.arm(isStream ? deps.timeouts.headersMs : deps.timeouts.jsonHeadersMs, 'response headers');
    const transport = deps.transportOf(provider);
    const signal = transport.takesStopSignal ? (controller as StopSignal as AbortSignal) : controller.signal;
    // A request that limited money pays for is not sent a second time unnoticed.
    const mayRepeat = !target.ceilingNanoUsd;
    const sent = new Sent(request, signal, deps.limits, mayRepeat, transport.reportsSending !== true);
    observer.sends?.(sent);
    const response = await send(transport, sent, deps.limits.streamBytes, deps.exchanges);
    observer.responded(response.headers, context.redactor);
    if (response.status < 200 || response.status > 299) throw await readError(context, response);
    const read = readResponse(context, response, isStream, release);
    const attempted = read instanceof Promise ? await read : read;
    observer.succeeded(attempted);
    return attempted;
  } catch (error) {
    release();
    // Closes the parts that are still open, such as an error body that nobody reads on.
    controller.abort(error);
    const named = withCallersPath(error, call.ask);
    const cleaned = credential && provider ? withoutKeys(named, credential, provider.baseUrl) : named;
    if (credential !== null && mayRenew(cleaned, call, target)) {
      if (await isRenewed(deps, target, credential, call.signal)) {
        observer.failed(cleaned, true);
        throw cleaned;
      }
    }
    observer.failed(cleaned, false);
    const refused = credential === null ? null : refusedKeyIn(cleaned, target, credential);
    if (refused !== null) deps.reportRefusedKey?.(refused);
    throw cleaned;
  }
}

function whyDropThoughts(
  { refusedThoughts }: AttemptDeps,
  { asked, ask }: AttemptInput,
  { credential }: Target,
): ThoughtDropReason | null {
  if (asked !== undefined && isOtherPrompt(asked, ask.request)) return 'prompt_changed';
  return refusedThoughts?.has(credential) === true ? 'provider_refused' : null;
}

function timedOut(phase: string, ms: number): UpstreamError {
  const message = `The provider took longer than ${ms} ms to send ${phase}.`;
  return new UpstreamError(message, {
    failure: message,
    reason: 'timeout',
    status: 524,
    waitedMs: ms,
  });
}

/**
 * Returns the refusal of a dialect, which names a place in the chat request, with the place in the request that the
 * caller sent.
 */
function withCallersPath(error: unknown, { native, request }: Ask): unknown {
  if (native === null || !(error instanceof UpstreamError) || !error.isUnsent) return error;
  return error.with({ message: native.pathOf(native, request, error.message) });
}
