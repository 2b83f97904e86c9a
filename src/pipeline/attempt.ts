import { JsonError, parseJson } from '../base/json.ts';
import { createRedactor, type Redactor, redact } from '../base/secrets.ts';
import { type StopSignal, StopSwitch } from '../base/stop.ts';
import { UpstreamError } from '../base/upstream-error.ts';
import type { Call } from '../call/call.ts';
import type { Target } from '../call/plan.ts';
import { toChunks } from '../convert/chunks.ts';
import type { EncodedRequest, StreamPart } from '../dialects/dialect.ts';
import type { Credential, OutgoingRequest, Provider } from '../providers/provider.ts';
import type { ChatRequest, ChatResult, Usage } from '../schema/chat.ts';
import { readText, readTextBounded, send, textAtHand } from '../transport/send.ts';
import type { TransportLimits, TransportRequest, TransportResponse } from '../transport/transport.ts';
import type { AttemptDeps } from './deps.ts';
import { type EventReader, eventReader, foldEvents, readToFirstToken } from './events.ts';
import { badBody, looksLikeStream, peek, sentinelWatch } from './peek.ts';
import { Watchdog } from './watchdog.ts';

/** A whole answer. */
export interface CompleteResponse {
  kind: 'result';
  result: ChatResult;
  usage: Usage | null;
}

/** A stream whose first token is there. Whoever gets it reads it to the end or closes it. */
export interface OpenStream {
  kind: 'stream';
  /** The rest of the stream; null when there is none, because the upstream answered JSON. */
  events: EventReader | null;
  /** What the events up to the first token said. */
  first: StreamPart[];
  watchdog: Watchdog;
  /** How many choices were asked for. */
  expectedChoices: number;
  /** Takes out keys, which must not reach the client, should the upstream echo them. */
  redactor: Redactor;
  /** Lets go of the upstream: closes the socket unless the stream was read to its end. Safe to call more than once. */
  close(): void;
}

export type Attempted = CompleteResponse | OpenStream;

/** What an attempt is made of, beside its target. */
export type AttemptInput = Pick<Call, 'request' | 'signal'>;

export interface AttemptWatcher {
  /** Is shown what is sent upstream, before authentication. */
  show(encoded: EncodedRequest): void;
}

/** Is told how an attempt ended: one of the two, once. */
export interface AttemptObserver extends AttemptWatcher {
  answered(attempted: Attempted): void;
  failed(error: unknown): void;
}

/** Everything one attempt needs to know of itself. A class for the reason that `Sent` is one. */
class Exchange {
  readonly deps: AttemptDeps;
  readonly provider: Provider;
  readonly credential: Credential;
  readonly redactor: Redactor;
  readonly encoded: EncodedRequest;
  readonly watchdog: Watchdog;

  constructor(
    deps: AttemptDeps,
    provider: Provider,
    credential: Credential,
    encoded: EncodedRequest,
    watchdog: Watchdog,
  ) {
    this.deps = deps;
    this.provider = provider;
    this.credential = credential;
    this.redactor = redactorOf(credential);
    this.encoded = encoded;
    this.watchdog = watchdog;
  }
}

/**
 * One try at one endpoint, up to its whole answer or the first token of its stream. The only place that holds a raw key.
 * @throws UpstreamError, whose message is clean of keys; the reason of the call's signal after an abort
 */
export async function attempt(
  deps: AttemptDeps,
  call: AttemptInput,
  target: Target,
  observer: AttemptObserver,
): Promise<Attempted> {
  const { limits, timeouts } = deps;
  const controller = new StopSwitch();
  const onCallAbort = () => controller.abort(call.signal.reason);
  const watchdog = new Watchdog(deps.clock, (phase, ms) => controller.abort(timedOut(phase, ms)));
  const release = () => {
    call.signal.removeEventListener('abort', onCallAbort);
    watchdog.stop();
  };
  let credential: Credential | null = null;
  try {
    const opened = deps.openCredential(target.credential);
    credential = opened instanceof Promise ? await opened : opened;
    call.signal.throwIfAborted();
    call.signal.addEventListener('abort', onCallAbort, { once: true });
    const provider = deps.provider(target.endpoint.providerSlug) as Provider;
    const encoded = provider.dialect.encodeRequest({
      request: asTried(call.request, target),
      upstreamModel: target.endpoint.upstreamModel,
      quirks: provider.quirks,
    });
    observer.show(encoded);
    const exchange = new Exchange(deps, provider, credential, encoded, watchdog);
    const outgoing = outgoingRequest(exchange);
    const request = outgoing instanceof Promise ? await outgoing : outgoing;
    if (target.isByok) checkSendable(credential, request.headers);
    watchdog.arm(call.request.stream === true ? timeouts.headersMs : timeouts.jsonHeadersMs, 'response headers');
    const transport = deps.transportOf(provider);
    const signal = transport.takesStopSignal ? (controller as StopSignal as AbortSignal) : controller.signal;
    const response = await send(transport, new Sent(request, signal, limits), limits.streamBytes);
    if (response.status < 200 || response.status > 299) throw await refusal(exchange, response);
    let attempted: Attempted;
    if (call.request.stream === true) {
      watchdog.arm(timeouts.firstEventMs, firstOfAnswer);
      attempted = await openStream(exchange, response, release);
    } else {
      // A short answer comes in one packet with its headers.
      const received = textAtHand(response.body, limits.bodyBytes) ?? (await receive(exchange, response));
      attempted = whole(exchange, received);
      release();
    }
    observer.answered(attempted);
    return attempted;
  } catch (error) {
    release();
    // Whatever is still open, such as an error body nobody reads on, is let go of.
    controller.abort(error);
    const cleaned = credential === null ? error : clean(error, credential);
    observer.failed(cleaned);
    throw cleaned;
  }
}

/** Credentials whose headers were looked at. */
const sendable = new WeakSet<Credential>();

/** A workspace may bring what no header takes, such as JSON over several lines for a provider that wants a plain key. */
function checkSendable(credential: Credential, headers: Record<string, string>): void {
  if (sendable.has(credential)) return;
  if (!Object.values(headers).every((value) => /^[\t\x20-\x7e\x80-\xff]*$/.test(value)))
    throw new UpstreamError('The credential cannot be sent to this provider.', { reason: 'status', status: 401 });
  sendable.add(credential);
}

/** As this try is planned: its largest output, its service tier, and reasoning where the caller's slug asks for it. */
function asTried(request: ChatRequest, { maxTokens, reasons, endpoint }: Target): ChatRequest {
  const { serviceTier } = endpoint;
  let tried = request;
  if (maxTokens !== undefined) tried = { ...tried, max_tokens: null, max_completion_tokens: maxTokens };
  if (serviceTier !== undefined) tried = { ...tried, service_tier: serviceTier };
  const saysHowMuch = request.reasoning !== undefined || (request.reasoning_effort ?? null) !== null;
  return reasons && !saysHowMuch ? { ...tried, reasoning: { effort: 'medium' } } : tried;
}

function timedOut(phase: string, ms: number): UpstreamError {
  return new UpstreamError(`The provider took longer than ${ms} ms to send ${phase}.`, {
    reason: 'timeout',
    status: 524,
  });
}

/** What is sent, with the key on it. Whoever signs may take time. */
function outgoingRequest({ provider, credential, encoded }: Exchange): OutgoingRequest | Promise<OutgoingRequest> {
  const { path, headers, body } = encoded;
  return provider.auth({ method: 'POST', url: urlOf(provider, credential, path), headers, body }, credential);
}

const urls = new WeakMap<Provider, { path: string; url: string }>();

/** The same text each time: one that was just put together is hashed anew wherever it is looked up. */
function urlOf(provider: Provider, credential: Credential, path: string): string {
  if (typeof provider.baseUrl !== 'string') return provider.baseUrl(credential) + path;
  const latest = urls.get(provider);
  if (latest?.path === path) return latest.url;
  const url = provider.baseUrl + path;
  urls.set(provider, { path, url });
  return url;
}

/**
 * A class, since V8 may put what comes of a literal straight among its old objects: one that was seen to outlive
 * collections, as this one does while the provider thinks. Whatever an old object holds lives until the next full
 * collection; here that is the whole body.
 */
class Sent implements TransportRequest {
  readonly method: TransportRequest['method'];
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly body: TransportRequest['body'];
  readonly signal: AbortSignal;
  readonly limits: TransportLimits;

  constructor({ method, url, headers, body }: OutgoingRequest, signal: AbortSignal, limits: TransportLimits) {
    this.method = method;
    this.url = url;
    this.headers = headers;
    this.body = body;
    this.signal = signal;
    this.limits = limits;
  }
}

/** Reads an answer that is no success. */
async function refusal(
  { deps, provider, redactor, watchdog }: Exchange,
  response: TransportResponse,
): Promise<UpstreamError> {
  watchdog.arm(deps.timeouts.idleMs, 'the rest of its error');
  // Before anything is cut off: half a key is still worth hiding.
  const text = redactor.redact(await readTextBounded(response.body, deps.limits.errorBytes));
  return provider.dialect.decodeError(response.status, response.headers, text, deps.clock.now());
}

const firstOfAnswer = 'the first of its answer';

/** Where JSON was asked: the text of the answer. */
function receive(exchange: Exchange, { body }: TransportResponse): Promise<string> {
  const { deps, watchdog } = exchange;
  watchdog.arm(deps.timeouts.firstEventMs, firstOfAnswer);
  return readText(body, deps.limits.bodyBytes, untilWhole(exchange));
}

/** Where JSON was asked: waits for each further piece anew, and for nothing after the end of a stream. */
function untilWhole({ deps, watchdog }: Exchange): (piece: Uint8Array) => boolean {
  const hasEnded = sentinelWatch();
  return (piece) => {
    watchdog.arm(deps.timeouts.idleMs, 'the rest of its answer');
    return hasEnded(piece);
  };
}

/** JSON was asked. A stream is turned into what was asked. */
function whole({ deps, provider, redactor, encoded }: Exchange, received: string): CompleteResponse {
  const text = redactor.redact(received);
  if (looksLikeStream(text)) return foldEvents(text, choicesIn(encoded.payload), provider, deps.limits);
  return { kind: 'result', ...provider.dialect.decodeResult(parseBody(text, deps.limits.depth), provider.quirks) };
}

/** A stream was asked. A JSON body is turned into what was asked. */
async function openStream(
  exchange: Exchange,
  response: TransportResponse,
  release: () => void,
): Promise<CompleteResponse | OpenStream> {
  const { deps, provider, redactor, watchdog } = exchange;
  const source = await peek(response.body);
  if (!source.isStream) {
    const text = redactor.redact(await readText(source, deps.limits.bodyBytes, untilWhole(exchange)));
    const { result, usage } = provider.dialect.decodeResult(parseBody(text, deps.limits.depth), provider.quirks);
    const parts: StreamPart[] = toChunks(result).map((chunk) => ({ kind: 'chunk', chunk }));
    if (usage) parts.push({ kind: 'usage', usage });
    parts.push({ kind: 'done' });
    release();
    return {
      kind: 'stream',
      events: null,
      first: parts,
      watchdog,
      expectedChoices: result.choices.length,
      redactor,
      close: () => undefined,
    };
  }
  const events = eventReader(source, provider, deps.limits);
  const first = await readToFirstToken(events, redactor);
  watchdog.disarm();
  const close = () => {
    release();
    source.cancel();
  };
  const expectedChoices = choicesIn(exchange.encoded.payload);
  return { kind: 'stream', events, first, watchdog, expectedChoices, redactor, close };
}

function parseBody(text: string, maxDepth: number): unknown {
  const start = text.trimStart();
  if (start === '') throw badBody('The provider answered with an empty body.');
  if (start.startsWith('<')) throw badBody('The provider answered with a page of HTML instead of JSON.');
  try {
    return parseJson(text, maxDepth);
  } catch (error) {
    if (error instanceof JsonError) throw badBody(`The provider answered with a body that is ${error.message}.`);
    throw error;
  }
}

/** How many choices the body that was sent asked for. */
function choicesIn({ n }: Record<string, unknown>): number {
  return typeof n === 'number' ? n : 1;
}

const redactors = new WeakMap<Credential, Redactor>();

/** For answers. A credential's further parts, such as a region, are words that an answer may well hold. */
function redactorOf(credential: Credential): Redactor {
  let redactor = redactors.get(credential);
  if (!redactor) {
    redactor = createRedactor(credential.secret === '' ? [] : [credential.secret]);
    redactors.set(credential, redactor);
  }
  return redactor;
}

/** An upstream may put the key it was sent into its error text. */
function clean(error: unknown, credential: Credential): unknown {
  const secrets = [credential.secret, ...Object.values(credential.parts ?? {})].filter((secret) => secret !== '');
  if (!(error instanceof UpstreamError) || secrets.length === 0) return error;
  const message = redact(error.message, secrets);
  const providerCode = error.providerCode === undefined ? undefined : redact(error.providerCode, secrets);
  if (message === error.message && providerCode === error.providerCode) return error;
  return error.with({ message, providerCode });
}
