import { joinUrl } from '../../base/http/base-url.ts';
import type { Target } from '../../call/plan.ts';
import { type FittedRequest, factsOf, fitToModel } from '../../catalog/model-facts/index.ts';
import type { Credential, OutgoingRequest, Provider } from '../../providers/provider.ts';
import type { ChatRequest } from '../../schema/chat/chat.ts';
import type { TransportLimits, TransportRequest } from '../../transport/transport.ts';
import type { AttemptContext } from './context.ts';

/**
 * Returns the request as its target is planned: with its largest output, its service tier, and reasoning where the
 * caller's slug asks for it.
 */
export function plannedRequest(request: ChatRequest, { maxTokens, reasons, endpoint }: Target): ChatRequest {
  const { serviceTier } = endpoint;
  let planned = request;
  if (maxTokens !== undefined) planned = { ...planned, max_tokens: null, max_completion_tokens: maxTokens };
  if (serviceTier !== undefined) planned = { ...planned, service_tier: serviceTier };
  const saysHowMuch = (request.reasoning ?? null) !== null || (request.reasoning_effort ?? null) !== null;
  if (saysHowMuch) return planned;
  if (reasons) return { ...planned, reasoning: { effort: 'medium' } };
  // `include_reasoning` is the older form of `reasoning`, for all dialects.
  return request.include_reasoning === true ? { ...planned, reasoning: { enabled: true } } : planned;
}

const nothing: readonly string[] = [];

/** Makes the planned request, without what the model refuses. */
export function fittedRequest(request: ChatRequest, target: Target, { dialect }: Provider): FittedRequest {
  const planned = plannedRequest(request, target);
  const facts = factsOf(target.endpoint);
  return facts === null ? { request: planned, dropped: nothing } : fitToModel(planned, facts, dialect.name);
}

/** Makes the request before authentication, with the operator's own headers where they go with the credential. */
export function requestFor({ provider, credential, encoded }: AttemptContext): OutgoingRequest {
  const { path, body } = encoded;
  const headers = credential.headers === undefined ? encoded.headers : { ...encoded.headers, ...credential.headers };
  return { method: 'POST', url: urlOf(provider, credential, path), headers, body };
}

const urls = new WeakMap<Provider, { path: string; url: string }>();

/**
 * Returns the URL of a request. It is the same text each time: a text that was just put together is hashed anew at each
 * look-up.
 */
export function urlOf(provider: Provider, credential: Credential, path: string): string {
  if (typeof provider.baseUrl !== 'string') return joinUrl(provider.baseUrl(credential), path);
  const latest = urls.get(provider);
  if (latest?.path === path) return latest.url;
  const url = joinUrl(provider.baseUrl, path);
  urls.set(provider, { path, url });
  return url;
}

/**
 * A request and its state of sending. It lives while the provider thinks, and holds the complete body, so it is a
 * class: docs/performance.md, "Classes instead of literals".
 */
export class Sent implements TransportRequest {
  readonly method: TransportRequest['method'];
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly body: TransportRequest['body'];
  readonly signal: AbortSignal;
  readonly limits: TransportLimits;
  readonly mayRepeat: boolean;
  /** true: the provider may have got it. */
  isOnItsWay: boolean;

  /**
   * @param mayRepeat   false: the transport does not send the request again on another connection
   * @param isOnItsWay  false: the transport reports when it sends the request
   */
  constructor(
    { method, url, headers, body }: OutgoingRequest,
    signal: AbortSignal,
    limits: TransportLimits,
    mayRepeat: boolean,
    isOnItsWay: boolean,
  ) {
    this.method = method;
    this.url = url;
    this.headers = headers;
    this.body = body;
    this.signal = signal;
    this.limits = limits;
    this.mayRepeat = mayRepeat;
    this.isOnItsWay = isOnItsWay;
  }

  sending(): void {
    this.isOnItsWay = true;
  }
}
