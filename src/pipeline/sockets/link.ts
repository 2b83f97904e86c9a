import type { Clock } from '../../base/clock.ts';
import { UpstreamError } from '../../base/http/upstream-error.ts';
import { isObject, type Loose } from '../../base/values.ts';
import type { UpstreamSocketSettings } from '../../schema/settings/web-sockets.ts';
import type { Transport, TransportRequest, TransportResponse, UpstreamSocket } from '../../transport/transport.ts';
import { type CanonicalInput, type Continuable, canonicalInput, continuable, newItems } from './continuation.ts';
import { continuingFrame, createFrame, type ErrorFrame, isOfResponse, typeOf } from './frames.ts';
import { type First, Turn } from './turn.ts';

export interface LinkDeps {
  clock: Clock;
  settings: UpstreamSocketSettings;
  /** The most bytes of one frame. */
  frameBytes: number;
  /** Learns that no WebSocket could be opened; requests then go by HTTP. */
  failed(error: unknown): void;
}

interface Latest {
  id: string;
  continuable: Promise<Continuable | null>;
}

/** A request on its way over a connection. */
interface Asked {
  request: TransportRequest;
  /** Its body. */
  payload: Loose;
  input: CanonicalInput;
  /** The transport that opens the connection. */
  plain: Transport;
}

/** The code of a connection that is as old as the provider lets it become. */
const tooOld = 'websocket_connection_limit_reached';

/**
 * One kept connection to a provider, for the requests of one client session at one endpoint with one credential. It
 * serves one response at a time; what comes meanwhile goes by HTTP. It opens at its first request, and again after its
 * life or idle time. Where it cannot be opened, everything goes by HTTP from then on.
 */
export class SocketLink {
  readonly #deps: LinkDeps;
  #socket: UpstreamSocket | null = null;
  #openedAtMs = 0;
  #turn: Turn | null = null;
  /** A request is on its way to its first frame. */
  #isSending = false;
  /** The session has ended. */
  #isOver = false;
  /** No WebSocket can be opened. */
  #isRefused = false;
  /** false: the provider has refused to go on from an earlier response. */
  #goesOn = true;
  /** The latest response of the connection. */
  #latest: Latest | null = null;
  #unanswered = 0;
  #stopTimer: () => void = () => undefined;

  constructor(deps: LinkDeps) {
    this.#deps = deps;
  }

  /** true: nothing is being made on it. */
  get isFree(): boolean {
    return !this.#isSending && this.#turn === null;
  }

  /** Sends a request, which must be one for a stream. @throws as `Transport.send` */
  async send(request: TransportRequest, payload: Loose, plain: Transport): Promise<TransportResponse> {
    if (!this.isFree || this.#isOver || this.#isRefused) return byHttp(request, plain);
    this.#isSending = true;
    this.#stopTimer();
    try {
      const first = await this.#serve({ request, payload, plain, input: canonicalInput(payload.input) });
      if (first !== null) return responseOf(first);
    } finally {
      this.#isSending = false;
      this.#rest();
    }
    return byHttp(request, plain);
  }

  /** Closes the connection, once nothing is being made on it. */
  end(): void {
    this.#isOver = true;
    this.#rest();
  }

  /** @returns null: there is no connection */
  async #serve(asked: Asked): Promise<First | null> {
    const { request, payload, input } = asked;
    const latest = this.#goesOn && payload.previous_response_id === undefined ? this.#latest : null;
    const known = latest === null ? null : await latest.continuable;
    const items = known === null ? null : await newItems(known, input);
    request.signal.throwIfAborted();
    const isKept = latest !== null && this.#latest === latest && !this.#isTooOld();
    if (known === null || items === null || !isKept) return this.#askAll(asked);
    const first = await this.#ask(asked, continuingFrame(payload, known.responseId, items)).catch(ifRepeated(request));
    if (first !== null && (first.kind === 'response' || !isOfContinuation(first.error))) return first;
    // Nothing was made, and nothing is charged: the request is sent once more, with all of its input.
    const code = first?.error.code;
    if (code === tooOld) this.#drop();
    const again = await this.#askAll(asked);
    if (first !== null && code !== tooOld && code !== 'previous_response_not_found' && again?.kind === 'response')
      this.#goesOn = false;
    return again;
  }

  /** Asks with the whole input; once more where the connection turns out to be at its end. */
  async #askAll(asked: Asked): Promise<First | null> {
    const frame = createFrame(asked.payload);
    const wasOpen = this.#socket !== null && !this.#isTooOld();
    if (!(await this.#open(asked))) return null;
    const asking = this.#ask(asked, frame);
    const first = await (wasOpen ? asking.catch(ifRepeated(asked.request)) : asking);
    if (first !== null && (first.kind === 'response' || first.error.code !== tooOld)) return first;
    this.#drop();
    return (await this.#open(asked)) ? this.#ask(asked, frame) : null;
  }

  #isTooOld(): boolean {
    return this.#deps.clock.monotonic() - this.#openedAtMs >= this.#deps.settings.lifeMs;
  }

  /** Opens the connection, where it is not open or too old. @returns false: it cannot be opened */
  async #open({ request: { url, headers, signal, limits }, plain }: Asked): Promise<boolean> {
    const { clock, settings, frameBytes } = this.#deps;
    if (this.#socket !== null && !this.#isTooOld()) return true;
    this.#close();
    const stop = new AbortController();
    const onAbort = () => stop.abort(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    const cancel = clock.after(settings.handshakeMs, () => stop.abort(closed('the handshake took too long')));
    try {
      let isClosed = false;
      const socket = await plain.connect?.(
        { url, headers: ofHandshake(headers), signal: stop.signal, limits: { ...limits, frameBytes } },
        {
          frame: (text) => this.#frame(text),
          pong: () => {
            this.#unanswered = 0;
          },
          closed: (error) => {
            isClosed = true;
            if (this.#socket !== null && this.#socket === socket) this.#closed(error);
          },
        },
      );
      if (socket === undefined || isClosed) throw closed('the provider closed the WebSocket at once');
      if (signal.aborted) {
        socket.close(false);
        throw signal.reason;
      }
      this.#socket = socket;
      this.#openedAtMs = clock.monotonic();
      return true;
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      this.#isRefused = true;
      this.#deps.failed(error);
      return false;
    } finally {
      cancel();
      signal.removeEventListener('abort', onAbort);
    }
  }

  #ask({ request, input }: Asked, text: string): Promise<First> {
    const socket = this.#socket;
    if (socket === null) return Promise.reject(closed('the provider closed the WebSocket'));
    const turn = new Turn(request, this.#latest?.id ?? null, {
      pause: () => socket.pause(),
      resume: () => socket.resume(),
      drop: () => this.#drop(),
      ended: (response) => {
        const id = isObject(response) ? response.id : null;
        this.#latest =
          typeof id === 'string' ? { id, continuable: continuable(input, response).catch(() => null) } : null;
        this.#turn = null;
        this.#rest();
      },
    });
    this.#turn = turn;
    request.sending?.();
    socket.resume();
    socket.send(text);
    return turn.first;
  }

  #frame(text: string): void {
    if (this.#turn !== null) this.#turn.frame(text);
    // Nobody has asked for it, and the next response must not begin with it.
    else if (isOfResponse(typeOf(text))) this.#drop();
  }

  /** Waits for the next request, unless one is being served. */
  #rest(): void {
    if (!this.isFree) return;
    this.#stopTimer();
    if (this.#isOver) this.#close();
    else if (this.#socket !== null) this.#watch(this.#deps.settings.idleMs);
  }

  /** Pings while nothing is asked, and closes after the idle time, or where no ping is answered. */
  #watch(leftMs: number): void {
    const { clock, settings } = this.#deps;
    const ms = Math.min(settings.pingMs, leftMs);
    this.#stopTimer = clock.after(
      ms,
      () => {
        if (leftMs <= ms || this.#unanswered >= 2) return this.#close();
        this.#unanswered++;
        this.#socket?.ping();
        this.#watch(leftMs - ms);
      },
      { isIdle: true },
    );
  }

  #closed(error: unknown): void {
    this.#forget();
    this.#turn?.closed(error);
  }

  #close(): void {
    const socket = this.#socket;
    this.#forget();
    socket?.close(true);
  }

  /** Closes the connection at once. */
  #drop(): void {
    const socket = this.#socket;
    this.#forget();
    socket?.close(false);
  }

  #forget(): void {
    this.#stopTimer();
    this.#socket = null;
    this.#latest = null;
    this.#unanswered = 0;
  }
}

/** Sends a request by HTTP. */
export function byHttp(request: TransportRequest, plain: Transport): Promise<TransportResponse> {
  if (plain.reportsSending !== true) request.sending?.();
  return plain.send(request);
}

function responseOf(first: First): TransportResponse {
  if (first.kind === 'response')
    return { status: 200, headers: { 'content-type': 'text/event-stream' }, body: first.body };
  const { status, headers, body } = first.error;
  let left: Uint8Array | null = new TextEncoder().encode(body);
  const take = () => {
    const bytes = left;
    left = null;
    return bytes;
  };
  return { status, headers, body: { read: async () => take(), cancel: () => void take() } };
}

/**
 * As by HTTP: a kept connection may die in the moment in which it is used. Where not one frame came back, the request is
 * sent once more, unless it must not be paid for twice. @returns null: it may be sent again
 */
function ifRepeated({ mayRepeat, signal }: TransportRequest): (error: unknown) => null {
  return (error) => {
    const isNetwork = error instanceof UpstreamError && error.reason === 'network';
    if (!isNetwork || mayRepeat === false || signal.aborted) throw error;
    return null;
  };
}

function closed(message: string): UpstreamError {
  return new UpstreamError(message, { reason: 'network', status: 502, isUnsent: true, failure: message });
}

/** Tells whether a refusal may be due to the earlier response: the provider has forgotten it, or takes no such request. */
function isOfContinuation({ status }: ErrorFrame): boolean {
  return status === 400 || status === 404 || status === 422;
}

/** Headers of one request, which a connection for many does not have. */
const ofRequest = /^(?:content-|accept(?:-encoding)?$|traceparent$|tracestate$|baggage$)/;

/** The headers of a request that belong to its connection. */
export function ofHandshake(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !ofRequest.test(name.toLowerCase())));
}
