import type { StopSignal } from '../../base/async/stop.ts';
import { turn } from '../../base/async/turns.ts';
import { UpstreamError } from '../../base/http/upstream-error.ts';
import { type Ask, noHeaders } from '../../call/ask.ts';
import type { Call } from '../../call/call.ts';
import type { Target } from '../../call/plan.ts';
import { factsOf, withFacts } from '../../catalog/model-facts/index.ts';
import type { EncodedRequest } from '../../dialects/dialect.ts';
import { encodeFitted } from '../../dialects/fit/index.ts';
import { pricesSearches } from '../../pricing/ceiling.ts';
import type { Credential, Provider } from '../../providers/provider.ts';
import type { ChatRequest } from '../../schema/chat/chat.ts';
import type { ThoughtDropReason } from '../../schema/chat/envelope.ts';
import type { SafeFollower } from '../../telemetry/follow.ts';
import type { Transport, TransportResponse } from '../../transport/transport.ts';
import type { AttemptDeps } from '../deps.ts';
import { checkReadable } from '../plan/readable.ts';
import type { AttemptContext } from './context.ts';
import { type ExchangeObserver, exchange, type Work } from './exchange.ts';
import { fittedRequest, type Sent, urlOf } from './outgoing.ts';
import { type Attempted, readResponse } from './response.ts';
import { isOtherPrompt } from './thoughts/bound-thoughts.ts';

export type { Attempted, CompleteResponse, OpenStream } from './response.ts';

export interface AttemptWatcher {
  /** Receives the request that is sent upstream, before authentication. */
  show(encoded: EncodedRequest): void;
  /** Receives the request that is sent. It says at any time whether the provider may have got it. */
  sends?(sent: Sent): void;
}

/** Learns how an attempt went: it ends with `succeeded` or `failed`. */
export interface AttemptObserver extends ExchangeObserver<Attempted>, AttemptWatcher {
  sends(sent: Sent): void;
  /**
   * Called where somebody follows the call, just before the request is sent.
   * @param planned  the request that the provider is to serve
   * @returns further headers for the provider
   */
  begins(url: string, planned: ChatRequest): Readonly<Record<string, string>> | undefined;
}

/** The parts of an attempt beside its target. */
export interface AttemptInput extends Pick<Call, 'ask' | 'signal' | 'time'> {
  /** Follows the call; null: nobody does. */
  follower: SafeFollower | null;
  /** true: this attempt has a renewed key, which is not renewed again. Absent: false. */
  isRenewed?: boolean;
  /** The request as the client sent it. Absent: the request was not changed. */
  asked?: ChatRequest;
  /** The number of the client's WebSocket; null, or absent: it came by HTTP. */
  connection?: Call['connection'];
}

/**
 * Makes one attempt at one target: opens the credential, encodes, authenticates, sends, and reads up to the complete
 * response or the first token of a stream.
 * @throws UpstreamError, whose message is clean of keys; the reason of the call's signal after an abort
 */
export function attempt(
  deps: AttemptDeps,
  call: AttemptInput,
  target: Target,
  observer: AttemptObserver,
): Promise<Attempted> {
  return exchange(deps, new ChatWork(deps, call, target, observer), target, observer);
}

/** The exchange of a chat request. A class: docs/performance.md, "Classes instead of literals". */
class ChatWork implements Work<Attempted> {
  readonly isStream: boolean;
  readonly signal: StopSignal;
  readonly isRenewed: boolean | undefined;
  readonly #deps: AttemptDeps;
  readonly #call: AttemptInput;
  readonly #target: Target;
  readonly #observer: AttemptObserver;

  constructor(deps: AttemptDeps, call: AttemptInput, target: Target, observer: AttemptObserver) {
    this.isStream = call.ask.request.stream === true;
    this.signal = call.signal;
    this.isRenewed = call.isRenewed;
    this.#deps = deps;
    this.#call = call;
    this.#target = target;
    this.#observer = observer;
  }

  encode(provider: Provider, credential: Credential): EncodedRequest | Promise<EncodedRequest> {
    const { ask } = this.#call;
    checkReadable(ask.native, provider, this.#target);
    return ask.takesTurns ? this.#encodeInTurn(provider, credential) : this.#encode(provider, credential);
  }

  async #encodeInTurn(provider: Provider, credential: Credential): Promise<EncodedRequest> {
    await turn(this.#target.workspaceId);
    this.signal.throwIfAborted();
    return this.#encode(provider, credential);
  }

  #encode(provider: Provider, credential: Credential): EncodedRequest {
    const call = this.#call;
    const deps = this.#deps;
    const target = this.#target;
    const { native, headers } = call.ask;
    const { request: planned, dropped } = fittedRequest(call.ask.request, target, provider);
    let encoded = encodeFitted(provider.dialect, {
      request: planned,
      native,
      upstreamModel: target.endpoint.upstreamModel,
      quirks: withFacts(provider, factsOf(target.endpoint)),
      isLimited: target.mostTokens !== undefined,
      isByok: target.isByok,
      paysForSearches: pricesSearches(target.endpoint),
      whyDropThoughts: () => whyDropThoughts(deps, call, target),
      ...(deps.thoughtFields === undefined ? {} : { thoughtField: deps.thoughtFields.of(target) }),
    });
    if (dropped.length > 0) encoded = { ...encoded, dropped: [...new Set([...dropped, ...encoded.dropped])] };
    if (headers !== noHeaders) encoded = { ...encoded, headers: { ...headers, ...encoded.headers } };
    this.#observer.show(encoded);
    if (call.follower !== null) {
      const further = this.#observer.begins(urlOf(provider, credential, encoded.path), planned);
      if (further !== undefined) encoded = { ...encoded, headers: { ...further, ...encoded.headers } };
    }
    return encoded;
  }

  /** Returns the transport of the provider; or the connection that is kept for a client that has one itself. */
  transport(provider: Provider, encoded: EncodedRequest): Transport {
    const { transportOf, sockets } = this.#deps;
    const { connection = null } = this.#call;
    const transport = transportOf(provider);
    if (connection === null || provider.webSocket !== true || sockets === undefined) return transport;
    return sockets.transportFor(connection, this.#target.endpoint, encoded, transport);
  }

  read(context: AttemptContext, response: TransportResponse, release: () => void): Attempted | Promise<Attempted> {
    return readResponse(context, response, this.isStream, release);
  }

  worded(error: unknown): unknown {
    return withCallersPath(error, this.#call.ask);
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

/**
 * Returns the refusal of a dialect, which names a place in the chat request, with the place in the request that the
 * caller sent.
 */
function withCallersPath(error: unknown, { native, request }: Ask): unknown {
  if (native === null || !(error instanceof UpstreamError) || !error.isUnsent) return error;
  return error.with({ message: native.pathOf(native, request, error.message) });
}
