import { type StopSignal, StopSwitch } from '../../base/async/stop.ts';
import { UpstreamError } from '../../base/http/upstream-error.ts';
import type { Redactor } from '../../base/secrets.ts';
import type { Target } from '../../call/plan.ts';
import type { Credential, Provider } from '../../providers/provider.ts';
import { keyRefOf } from '../../routing/key-ring.ts';
import { send } from '../../transport/send.ts';
import type { Transport, TransportResponse } from '../../transport/transport.ts';
import type { AttemptDeps } from '../deps.ts';
import { redactorOfSigned, withoutKeys } from '../secrets/redaction.ts';
import { authenticated } from './authenticate.ts';
import { AttemptContext, type WireRequest } from './context.ts';
import { isRenewed, mayRenew, openedKey } from './operator-key.ts';
import { Sent } from './outgoing.ts';
import { refusedKeyIn } from './refused-key.ts';
import { readError } from './response.ts';
import { Watchdog } from './watchdog.ts';

/** Learns how an exchange went: it ends with `succeeded` or `failed`. */
export interface ExchangeObserver<Made> {
  /** Receives the request that is sent. It says at any time whether the provider may have got it. */
  sends(sent: Sent): void;
  /** Receives the headers of every response, also of an error, and the redactor that takes keys out of them. */
  responded(headers: Readonly<Record<string, string>>, redactor: Redactor): void;
  succeeded(made: Made): void;
  /** @param isRenewed  true: only the key was at fault, and there is a new one */
  failed(error: unknown, isRenewed: boolean): void;
}

/** The request of an exchange with a provider, and the reader of its response, whatever the request is for. */
export interface Work<Made> {
  /** true: the response is asked for as a stream. */
  readonly isStream: boolean;
  /** Aborted when nobody waits any more. */
  readonly signal: StopSignal;
  /** true: this exchange has a renewed key, which is not renewed again. Absent: false. */
  readonly isRenewed?: boolean | undefined;
  /** Makes the request. @throws UpstreamError made by `unsupported`: the next target may take it */
  encode(provider: Provider, credential: Credential): WireRequest | Promise<WireRequest>;
  /** Returns the transport; absent: the provider's own. */
  transport?(provider: Provider, encoded: WireRequest): Transport;
  /**
   * Reads the response to its end, or to the first token of a stream.
   * @param release  to be called once nothing of the upstream is needed any more
   */
  read(context: AttemptContext, response: TransportResponse, release: () => void): Made | Promise<Made>;
  /** Words an error for the client. Absent: as it is. */
  worded?(error: unknown): unknown;
}

/**
 * Makes one exchange with one target: opens the credential, encodes, authenticates, sends, and reads the response. No
 * other place holds a raw key.
 * @throws UpstreamError, whose message is clean of keys; the reason of the signal after an abort
 */
export async function exchange<Made>(
  deps: AttemptDeps,
  work: Work<Made>,
  target: Target,
  observer: ExchangeObserver<Made>,
): Promise<Made> {
  const controller = new StopSwitch();
  // What the closures name lives as long as an open stream: the signal, not the work, which holds the request.
  const { signal: callSignal } = work;
  const onCallAbort = () => controller.abort(callSignal.reason);
  const watchdog = new Watchdog(deps.clock, (phase, ms) => controller.abort(timedOut(phase, ms)));
  const keyRef = deps.keyRings === undefined ? null : keyRefOf(target.credential);
  const endLoad = keyRef === null ? undefined : deps.keyRings?.get(keyRef.provider)?.began(keyRef);
  const release = () => {
    callSignal.removeEventListener('abort', onCallAbort);
    watchdog.stop();
    endLoad?.();
  };
  let credential: Credential | null = null;
  let provider: Provider | null = null;
  try {
    callSignal.addEventListener('abort', onCallAbort, { once: true });
    const opened = openedKey(deps, target, controller, watchdog, work.isRenewed);
    credential = opened instanceof Promise ? await opened : opened;
    callSignal.throwIfAborted();
    provider = deps.provider(target.endpoint.providerSlug) as Provider;
    const encoding = work.encode(provider, credential);
    const encoded = encoding instanceof Promise ? await encoding : encoding;
    const context = new AttemptContext(deps, provider, credential, encoded, watchdog);
    const signed = authenticated(context, target, controller, deps.reportAuthFailure);
    if (signed instanceof Promise) watchdog.arm(deps.timeouts.headersMs, 'what authenticates the request');
    const request = signed instanceof Promise ? await signed : signed;
    context.redactor = redactorOfSigned(context, request);
    watchdog.arm(work.isStream ? deps.timeouts.headersMs : deps.timeouts.jsonHeadersMs, 'response headers');
    const transport = work.transport?.(provider, encoded) ?? deps.transportOf(provider);
    const signal = transport.takesStopSignal ? (controller as StopSignal as AbortSignal) : controller.signal;
    // A request that limited money pays for is not sent a second time unnoticed.
    const mayRepeat = !target.ceilingNanoUsd;
    const sent = new Sent(request, signal, deps.limits, mayRepeat, transport.reportsSending !== true);
    observer.sends(sent);
    const response = await send(transport, sent, deps.limits.streamBytes, deps.exchanges);
    observer.responded(response.headers, context.redactor);
    if (response.status < 200 || response.status > 299) throw await readError(context, response);
    const read = work.read(context, response, release);
    const made = read instanceof Promise ? await read : read;
    observer.succeeded(made);
    return made;
  } catch (error) {
    release();
    // Closes the parts that are still open, such as an error body that nobody reads on.
    controller.abort(error);
    const named = work.worded?.(error) ?? error;
    const cleaned = credential && provider ? withoutKeys(named, credential, provider.baseUrl) : named;
    if (credential !== null && mayRenew(cleaned, work, target)) {
      if (await isRenewed(deps, target, credential, callSignal)) {
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

function timedOut(phase: string, ms: number): UpstreamError {
  const message = `The provider took longer than ${ms} ms to send ${phase}.`;
  return new UpstreamError(message, {
    failure: message,
    reason: 'timeout',
    status: 524,
    waitedMs: ms,
  });
}
