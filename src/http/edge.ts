import { cleanName } from '../base/clean-text.ts';
import type { Clock } from '../base/clock.ts';
import { GatewayError, isGatewayError } from '../base/errors.ts';
import { idHeader } from '../base/ids.ts';
import { InFlight, type Place } from '../base/in-flight.ts';
import { type Pending, pendingOf } from '../base/pending.ts';
import { StopSwitch } from '../base/stop.ts';
import { abortError, CallAborted } from '../call/abort.ts';
import type { Caller } from '../call/call.ts';
import type { Operation } from '../operations/operation.ts';
import type { OverloadSettings } from '../schema/settings.ts';
import type { Logger, OperationRecord, OperationRecorder } from '../telemetry/record.ts';
import { type Authenticate, type FindHostCaller, type HostCaller, requirePermission } from './authenticate.ts';
import {
  type BodyFailure,
  type BodyLimits,
  type BodyReader,
  bodyFailed,
  checkBody,
  checkQuery,
  readBody,
  refusal,
  unreadable,
} from './body.ts';
import { checkContentType } from './content-type.ts';
import type { AddCors } from './cors.ts';
import { loadShedder } from './overload.ts';
import { respond, respondError } from './respond.ts';
import { createRouter, type Matched } from './router.ts';

/** What an adapter knows of a request beyond the request itself. */
export interface HandleContext extends BodyReader {
  /** The path the gateway is mounted at, without a trailing slash, such as `/v1` or `/api/llm`. Default `/v1`. */
  basePath?: string;
  /**
   * The path that was asked for, without query and as a URL parser would leave it, where the host has it at hand. Default:
   * that of the request's URL, which many hosts only then put together.
   */
  path?: string;
  /**
   * Who asks, as the host app knows it: the caller, who then needs no key; or a function that finds one of the host app's
   * own users, which is asked where the request holds no known key. Default: a key, or the option `authenticate`.
   */
  caller?: HostCaller | FindHostCaller;
  /** The body, where the host has already read and parsed it; the request's own body is then not read. */
  body?: unknown;
  /** Why the host could not read or parse the body, where it has tried; the request is refused for that. */
  bodyFailure?: BodyFailure;
  /**
   * How the host tells that the client has left; the request's signal is then not looked at. Calls back at most once, and
   * no more once the function it returns was called. A signal costs more than a response from memory.
   */
  onLeave?: (callback: () => void) => () => void;
  /** A host's faster Response class, with the constructor of the standard one. */
  Response?: typeof Response;
}

export interface EdgeDeps {
  operations: readonly Operation[];
  authenticate: Authenticate;
  clock: Clock;
  limits: BodyLimits;
  overload: OverloadSettings;
  /** The whole request, from arrival to the last byte. */
  totalMs: number;
  brand: string;
  basePath: string;
  /** null: the host app has cross-origin rules, or wants none. */
  cors: AddCors | null;
  logger: Logger | null;
  /** Takes a record of requests that no operation records itself; null: nobody wants to know. */
  record: OperationRecorder | null;
}

export interface Edge {
  /** Never rejects. */
  handle(request: Request, context?: HandleContext): Promise<Response>;
  /** Stops everything that is in flight, and takes nothing new. */
  close(): void;
}

function itself(error: unknown): unknown {
  return error;
}

/** The outermost layer: every request comes in here, and every error becomes a response here. */
export function createEdge(deps: EdgeDeps): Edge {
  const { clock, brand, cors, logger } = deps;
  const find = createRouter(deps.operations);
  const timeoutHeaders = [...new Set([`x-${brand}-timeout-ms`, 'x-service-timeout-ms'])];
  /** The requests that are in flight. */
  const open = new InFlight<Watch>();
  const shedLoad = loadShedder({ ...deps.overload, clock, inFlight: () => open.size });
  let closing = false;

  async function handle(request: Request, context: HandleContext = {}): Promise<Response> {
    const ResponseOf = context.Response ?? Response;
    let caller: Caller | null = null;
    let isHead = request.method === 'HEAD';
    let found: Matched | null = null;
    let isRunning = false;
    const receivedAtMs = clock.now();
    const note = (error: GatewayError | null, status: number, id: string | null) =>
      deps.record?.(recordOf(request.method, found, id, caller, isRunning, status, error, receivedAtMs, clock.now()));
    try {
      if (closing) throw new GatewayError('unavailable', 'The gateway is shutting down', { retryAfterMs: 1000 });
      const basePath = context.basePath ?? deps.basePath;
      const route = find(request.method, pathBelow(context.path ?? pathOf(request.url), basePath));
      if ('allow' in route) return new ResponseOf(null, { status: 204, headers: { allow: route.allow } });
      found = route;
      isHead = route.isHead;
      shedLoad?.(route.operation, receivedAtMs);
      const watch = new Watch(open, clock, allowedMs(request.headers), request, context.onLeave);
      try {
        const authenticated = deps.authenticate(request, context.caller);
        caller =
          authenticated instanceof Promise
            ? await watch.unlessStopped(pendingOf(authenticated), itself)
            : authenticated;
        const authenticatedAtMs = clock.now();
        const { operation, params } = route;
        requirePermission(caller, operation.permissions);
        const query = operation.query ? checkQuery(request.url, operation.query()) : null;
        const body =
          operation.body === null
            ? null
            : checkBody(await bodyOf(request, operation, context, watch), operation, deps.limits, request.headers);
        isRunning = true;
        const reply = await operation.run({
          body,
          query,
          params,
          basePath,
          caller,
          headers: request.headers,
          signal: watch.signal,
          receivedAtMs,
          authenticatedAtMs,
        });
        // A stream says itself when it has ended.
        if (reply.kind === 'stream') reply.body.onEnd((end) => (end === 'cancelled' ? watch.left() : watch.ended()));
        else watch.ended();
        if (!operation.recordsItself) note(null, reply.status, null);
        return respond(reply, isHead, ResponseOf);
      } catch (error) {
        watch.ended();
        throw error;
      }
    } catch (error) {
      const known = shown(error, request);
      // What ran has an id already.
      const id = isRunning ? null : (found?.operation.generationId?.(receivedAtMs) ?? null);
      if (!isRunning || !found?.operation.recordsItself) note(known, known.status, id);
      const named = id === null ? known : known.with({ headers: idHeader(id) });
      return respondError(named, caller, brand, isHead, ResponseOf);
    }
  }

  /** The body, read by the host or here. */
  function bodyOf(request: Request, operation: Operation, context: HandleContext, watch: Watch): unknown {
    const { body, bodyFailure } = context;
    if (bodyFailure !== undefined) throw bodyFailed(bodyFailure);
    checkContentType(
      request,
      operation,
      body !== undefined && typeof body !== 'string' && !(body instanceof Uint8Array),
    );
    if (body !== undefined) return body;
    return watch.unlessStopped(readBody(request, deps.limits, context), unreadable);
  }

  /** The caller may ask for less time than the gateway gives. @throws GatewayError invalid_request (400) for no time */
  function allowedMs(headers: Headers): number {
    let ms = deps.totalMs;
    for (const name of timeoutHeaders) {
      const asked = headers.get(name);
      if (asked === null) continue;
      if (!/^\d+(?:\.\d+)?$/.test(asked) || Number(asked) === 0)
        throw refusal('invalid_request', [{ path: name, message: 'expected milliseconds, more than 0' }]);
      ms = Math.min(Number(asked), ms);
    }
    return ms;
  }

  /** The error as the caller may see it. An unexpected error is logged, and shown as a bare 500. */
  function shown(error: unknown, request: Request): GatewayError {
    if (error instanceof CallAborted) return abortError(error);
    if (isGatewayError(error) && error.kind !== 'internal') return error;
    try {
      logger?.error(
        { error: causeOf(error), method: request.method, path: cleanName(new URL(request.url).pathname) },
        'unexpected error',
      );
    } catch {
      // Telemetry fails open.
    }
    if (isGatewayError(error)) return error;
    return new GatewayError('internal', 'Something went wrong inside the gateway', { cause: error });
  }

  return {
    handle: cors === null ? handle : async (request, context) => cors(request, await handle(request, context)),
    close() {
      closing = true;
      for (const watch of open.all()) watch.stop('closing');
    },
  };
}

/** A request that is in flight: one signal for all that may stop it, the client, the clock, the gateway. */
class Watch {
  /** Aborted when the request is stopped. */
  readonly signal = new StopSwitch();
  readonly #open: InFlight<Watch>;
  readonly #place: Place<Watch>;
  readonly #request: Request;
  readonly #hasHost: boolean;
  readonly #stopListening: () => void;
  readonly #stopClock: () => void;
  #waiting: ((reason: CallAborted) => void) | null = null;

  constructor(
    open: InFlight<Watch>,
    clock: Clock,
    allowedMs: number,
    request: Request,
    onLeave: HandleContext['onLeave'],
  ) {
    this.#open = open;
    this.#request = request;
    this.#hasHost = onLeave !== undefined;
    const leave = () => this.abort();
    this.#stopListening = onLeave ? onLeave(leave) : onSignal(request.signal, leave);
    this.#stopClock = clock.after(allowedMs, () => this.stop('deadline'));
    this.#place = open.add(this);
  }

  stop(why: CallAborted['why'], cause?: unknown): void {
    const reason = new CallAborted(why, cause);
    this.signal.abort(reason);
    this.#waiting?.(reason);
  }

  /** The client has left. */
  abort(): void {
    this.stop('client_left', this.#hasHost ? undefined : this.#request.signal.reason);
  }

  /** The client has left a stream, which is its end. */
  left(): void {
    this.abort();
    this.ended();
  }

  /** The request has ended. */
  ended(): void {
    this.#stopClock();
    this.#stopListening();
    this.#open.delete(this.#place);
  }

  /** Waits for one thing, no longer than until the request is stopped. A slot: a listener measured more than its work. */
  unlessStopped<T>(pending: Pending<T>, failed: (error: unknown) => unknown): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.signal.aborted) return reject(this.signal.reason);
      this.#waiting = reject;
      pending(
        (value) => {
          this.#waiting = null;
          resolve(value);
        },
        (error) => {
          this.#waiting = null;
          reject(failed(error));
        },
      );
    });
  }
}

/** The record of a request that was refused before its operation ran, or of an operation that records nothing itself. */
function recordOf(
  method: string,
  found: Matched | null,
  id: string | null,
  caller: Caller | null,
  hasRun: boolean,
  status: number,
  error: GatewayError | null,
  receivedAtMs: number,
  nowMs: number,
): OperationRecord {
  return {
    kind: hasRun ? 'operation' : 'refusal',
    operation: found?.operation.name ?? null,
    id,
    method: cleanName(method, 20),
    path: found?.operation.path ?? null,
    workspaceId: caller?.workspaceId ?? null,
    apiKeyHash: caller?.apiKeyHash ?? null,
    userId: caller?.userId ? cleanName(caller.userId) : null,
    status,
    error: error && { type: error.errorType, message: error.message },
    receivedAtMs,
    totalMs: nowMs - receivedAtMs,
  };
}

/** @returns what stops listening */
function onSignal(signal: AbortSignal, leave: () => void): () => void {
  if (signal.aborted) leave();
  else signal.addEventListener('abort', leave, { once: true });
  return () => signal.removeEventListener('abort', leave);
}

/** Of an error that says nothing, why it came to it. */
function causeOf(error: unknown): unknown {
  return isGatewayError(error) ? (error.cause ?? error) : error;
}

/** The path of a URL, without query. */
function pathOf(url: string): string {
  // It starts at the first slash after the authority.
  const start = url.indexOf('/', url.indexOf('//') + 2);
  const query = url.search(/[?#]/);
  return start < 0 || (query >= 0 && query < start) ? '/' : url.slice(start, query < 0 ? undefined : query);
}

/** The path below the mount. @throws GatewayError not_found (404) outside of it */
function pathBelow(path: string, basePath: string): string {
  if (basePath === '' || basePath === '/') return path;
  if (path.startsWith(basePath) && (path.length === basePath.length || path[basePath.length] === '/')) {
    return path.slice(basePath.length) || '/';
  }
  throw new GatewayError('not_found', `There is nothing at this path; the gateway is mounted at ${basePath}`);
}
