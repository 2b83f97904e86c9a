import { createCohort } from '../base/async/cohort.ts';
import { InFlight } from '../base/async/in-flight.ts';
import { nextTurn } from '../base/async/next-turn.ts';
import { type Pending, pendingOf } from '../base/async/pending.ts';
import { tell } from '../base/async/tell.ts';
import { type Clock, SteadyClock } from '../base/clock.ts';
import { causeOf, GatewayError, isGatewayError } from '../base/errors.ts';
import { idHeader } from '../base/ids.ts';
import { refusal } from '../base/refusal.ts';
import { cleanName } from '../base/text/clean-text.ts';
import { abortError, CallAborted } from '../call/abort.ts';
import type { Caller } from '../call/call.ts';
import type { WireFormat } from '../call/native.ts';
import type { OperationReply } from '../call/reply.ts';
import { type ListedOperation, type Operation, type OperationInput, wholeOf } from '../operations/operation.ts';
import type { OverloadSettings } from '../schema/settings/settings.ts';
import type { Logger, OperationRecord, OperationRecorder } from '../telemetry/record.ts';
import type { Inflater } from '../transport/inflate.ts';
import { argumentsOf } from './arguments.ts';
import { type Authenticate, RefusedKey, requirePermission } from './authenticate.ts';
import {
  type BodyLimits,
  bodyFailed,
  checkBody,
  checkQuery,
  isText,
  longBody,
  parseBody,
  readBody,
  unreadable,
} from './body.ts';
import { checkContentType, isForm } from './content-type.ts';
import { checkHandled, type HandleContext } from './context.ts';
import type { AddCors } from './cors.ts';
import type { CheckSite } from './cross-site.ts';
import { envelopes } from './envelopes.ts';
import { parseForm } from './form.ts';
import { namedCaller } from './host-caller.ts';
import { loadShedder } from './overload.ts';
import { type Place, placeOf } from './place.ts';
import { respond, respondError } from './respond.ts';
import { createRouter, findSocket, type Matched } from './router.ts';
import { type Leaving, Watch } from './watch.ts';
import { wireOf } from './wire.ts';

export interface EdgeDeps {
  operations: readonly ListedOperation[];
  authenticate: Authenticate;
  clock: Clock;
  limits: BodyLimits;
  /** Inflates compressed bodies, as the runtime can. */
  inflater: Inflater;
  overload: OverloadSettings;
  /** The time limit of a whole request, from arrival to the last byte. */
  totalMs: number;
  brand: string;
  basePath: string;
  /** null: the host app has cross-origin rules, or wants none. */
  cors: AddCors | null;
  checkSite: CheckSite;
  logger: Logger | null;
  /** Takes a record of requests that no operation records itself; null: there is no recorder. */
  record: OperationRecorder | null;
}

export interface Edge {
  /** Rejects only with a GatewayError for a wrong argument. */
  handle(request: Request, context?: HandleContext): Promise<Response>;
  /**
   * Authenticates the handshake of a WebSocket: path, key, permission and origin are checked as for a request that the
   * connection will carry. @param check  throws a GatewayError where the caller may have no connection now
   * @returns the caller; or the response that refuses the handshake
   */
  admit: Admit;
  /** Like `handle`, for a request that came over a WebSocket. @param connection  the number of the WebSocket */
  handleOver(connection: number, request: Request, context: HandleContext): Promise<Response>;
  /**
   * Like `handle`, for a caller in the same process.
   * @param client  what tells that it leaves, see `leavingOf`
   * @param caller  as whom it asks; undefined: a key tells
   */
  handleFrom(client: Leaving | null, request: Request, caller?: Caller): Promise<Response>;
  /**
   * Runs an operation for the host app itself: without HTTP, with the same checks and records.
   * @param given  path parameters, and fields of the body or of the query, in one object; see `argumentsOf`
   * @returns the body of the response, as a copy that the host app may change
   * @throws the GatewayError of which a response would tell
   */
  call(operation: ListedOperation, given: unknown, caller: Caller): Promise<unknown>;
  /**
   * As `call`, for an operation that may stream, with the headers and the signal of a request.
   * @returns the reply itself: a stream has to be read to its end or cancelled
   * @throws the GatewayError of which a response would tell; with the reason of the signal, once that is aborted
   */
  ask(operation: ListedOperation, given: unknown, caller: Caller, of: AskedWith): Promise<OperationReply>;
  /** The number of requests that have not ended. */
  inFlight(): number;
  /** Stops all requests in flight, and accepts no new ones. */
  close(): void;
}

/** The parts of a request in process that are not its argument. */
export interface AskedWith {
  /** Headers, as those of a request. */
  headers: Headers;
  /** Its abort stops the call. */
  signal?: AbortSignal | undefined;
}

/** Authenticates a handshake; see `Edge`. */
export type Admit = (
  request: Request,
  context: HandleContext,
  check: (caller: Caller) => void,
) => Promise<Caller | Response>;

/** The caller of public operations. */
const anybody = namedCaller({ permissions: [], workspaceId: 'default' }, 'caller');

function itself(error: unknown): unknown {
  return error;
}

function shuttingDown(): GatewayError {
  return new GatewayError('unavailable', 'The gateway is shutting down', { retryAfterMs: 1000 });
}

/** The outermost layer: every request comes in here, and every error becomes a response here. */
export function createEdge(deps: EdgeDeps): Edge {
  const { clock, brand, cors, logger } = deps;
  const find = createRouter(deps.operations);
  const timeoutHeaders = [...new Set([`x-${brand}-timeout-ms`, 'x-service-timeout-ms'])];
  /** The requests that are in flight. */
  const open = new InFlight<Watch>();
  /** Runs requests in step once their body has arrived. */
  const inStep = createCohort();
  const shedLoad = loadShedder({ ...deps.overload, clock, inFlight: () => open.size });
  let closing = false;

  async function handle(
    request: Request,
    context: HandleContext,
    host: ReturnType<typeof checkHandled>,
    /** Takes the caller of a handshake, instead of its operation; null: the request is no handshake. */
    admitted: ((caller: Caller) => void) | null = null,
    connection?: number,
    client: Leaving | null = request,
  ): Promise<Response> {
    const ResponseOf = context.Response ?? Response;
    let caller: Caller | null = null;
    let isHead = request.method === 'HEAD';
    let found: Matched | null = null;
    let place: Place = nowhere;
    let isRunning = false;
    const time = new SteadyClock(clock);
    const receivedAtMs = time.now();
    const wire = (): WireFormat => {
      const declared = found === null ? 'asked' : (found.operation.wire ?? 'chat');
      return declared === 'asked' ? wireOf(place, request) : declared;
    };
    const note = (error: GatewayError | null, status: number, id: string | null) =>
      deps.record?.(recordOf(request.method, found, id, caller, isRunning, status, error, receivedAtMs, time.now()));
    try {
      if (closing) throw shuttingDown();
      const basePath = context.basePath ?? deps.basePath;
      const asked = context.path ?? pathOf(request.url);
      place = { path: asked, isBeta: false };
      place = placeOf(request.method, asked, basePath);
      const { path } = place;
      const route = admitted === null ? find(request.method, path, request) : findSocket(find, path, request);
      if ('allow' in route) return new ResponseOf(null, { status: 204, headers: { allow: route.allow } });
      found = route;
      isHead = route.isHead;
      shedLoad?.(route.operation);
      const { onLeave } = context;
      const watch = new Watch(open, clock, allowedMs(request.headers), onLeave ? null : client, onLeave);
      try {
        const { operation: listed, params } = route;
        const authenticated = listed.isPublic ? anybody : deps.authenticate(request, host);
        caller =
          authenticated instanceof Promise
            ? await watch.unlessStopped(pendingOf(authenticated), itself)
            : authenticated;
        const authenticatedAtMs = time.now();
        if (!listed.isPublic) requirePermission(caller, listed.permissions);
        deps.checkSite(request, caller, admitted !== null);
        if (admitted !== null) {
          admitted(caller);
          watch.ended();
          return new ResponseOf(null);
        }
        const whole = wholeOf(listed);
        const operation = whole instanceof Promise ? await watch.unlessStopped(pendingOf(whole), itself) : whole;
        const query = operation.query ? checkQuery(request.url, operation.query()) : null;
        const { body, isLong } =
          operation.body === null ? noBody : await checkedBody(request, operation, context, watch);
        const input = {
          body,
          isLong,
          query,
          params,
          basePath,
          wire: wire(),
          caller,
          headers: request.headers,
          connection,
          signal: watch.signal,
          time,
          receivedAtMs,
          authenticatedAtMs,
        };
        const reply = await runWatched(operation, input, watch, () => {
          isRunning = true;
        });
        if (!operation.recordsItself) note(null, reply.status, null);
        return respond(named(reply, wire(), time), isHead, ResponseOf);
      } catch (error) {
        watch.ended();
        throw error;
      }
    } catch (error) {
      const known = shown(error, request.method, () => new URL(request.url).pathname);
      // An operation that ran has an id already.
      const id = isRunning ? null : (found?.operation.generationId?.(receivedAtMs) ?? null);
      if (!isRunning || !found?.operation.recordsItself) note(known, known.status, id);
      const withId = id === null ? known : known.with({ headers: idHeader(id) });
      return respondError(withId, caller, { brand, wire: wire(), nowMs: time.now() }, isHead, ResponseOf);
    }
  }

  async function call(operation: ListedOperation, given: unknown, caller: Caller): Promise<unknown> {
    const { body } = await ask(operation, given, caller, { headers: new Headers() });
    // A copy, because parts of the body are in use here, such as the permissions of a key.
    return structuredClone(body);
  }

  async function ask(listed: ListedOperation, given: unknown, caller: Caller, of: AskedWith): Promise<OperationReply> {
    const { headers, signal } = of;
    const time = new SteadyClock(clock);
    const receivedAtMs = time.now();
    let isRunning = false;
    const note = (error: GatewayError | null, status: number, id: string | null) => {
      const found = { operation: listed, params: {}, isHead: false };
      deps.record?.(recordOf(listed.method, found, id, caller, isRunning, status, error, receivedAtMs, time.now()));
    };
    try {
      if (closing) throw shuttingDown();
      shedLoad?.(listed);
      requirePermission(caller, listed.permissions);
      const whole = wholeOf(listed);
      const operation = whole instanceof Promise ? await whole : whole;
      const { params, query, body, isLong } = argumentsOf(operation, given, deps.limits, headers);
      const watch = new Watch(open, clock, allowedMs(headers), signal ? { signal } : null);
      try {
        const input = {
          body,
          isLong,
          query,
          params,
          basePath: deps.basePath,
          wire: operation.wire === 'asked' ? 'chat' : (operation.wire ?? 'chat'),
          caller,
          headers,
          signal: watch.signal,
          time,
          receivedAtMs,
          authenticatedAtMs: receivedAtMs,
        };
        const reply = await runWatched(operation, input, watch, () => {
          isRunning = true;
        });
        if (!operation.recordsItself) note(null, reply.status, null);
        return reply;
      } catch (error) {
        watch.ended();
        throw error;
      }
    } catch (error) {
      const known = shown(error, listed.method, () => listed.path);
      // An operation that ran has an id already.
      const id = isRunning ? null : (listed.generationId?.(receivedAtMs) ?? null);
      if (!isRunning || !listed.recordsItself) note(known, known.status, id);
      if (signal?.aborted) throw signal.reason;
      throw id === null ? known : known.with({ headers: idHeader(id) });
    }
  }

  /**
   * Reads, parses and checks the body. `handle` would hold what was read for as long as the operation runs: see "What a
   * waiting request holds" in docs/performance.md.
   */
  async function checkedBody(
    request: Request,
    operation: Operation,
    context: HandleContext,
    watch: Watch,
  ): Promise<{ body: unknown; isLong: boolean }> {
    const given = await bodyOf(request, operation, context, watch);
    const parsed = isForm(request, operation)
      ? await parseForm(given, request.headers, operation.form ?? {}, deps.limits)
      : parseBody(orEmpty(operation, given), deps.limits, operation.keepDigits);
    const isLong = parsed.length > longBody;
    if (isLong) await nextTurn();
    const body = checkBody(parsed.value, operation, request.headers);
    if (isLong) await nextTurn();
    return { body, isLong };
  }

  /** Reads the body, in step with those of other requests in flight. */
  function bodyOf(request: Request, operation: Operation, context: HandleContext, watch: Watch): Promise<unknown> {
    const { body, bodyFailure } = context;
    if (bodyFailure !== undefined) throw bodyFailed(bodyFailure);
    checkContentType(request, operation, body !== undefined && !isText(body) && !(body instanceof ArrayBuffer));
    const read: Pending<unknown> =
      body === undefined
        ? readBody(request, deps.limits, context, deps.inflater, isForm(request, operation))
        : (done) => done(body instanceof ArrayBuffer ? new Uint8Array(body) : body);
    return watch.unlessStopped(
      (done, failed) => read((value) => inStep(() => done(value), failed, open.size === 1), failed),
      unreadable,
    );
  }

  /**
   * The time of a request: a caller may ask for less time than the gateway gives. @throws GatewayError invalid_request
   * (400) for no time
   */
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
  function shown(error: unknown, method: string, pathname: () => string): GatewayError {
    if (error instanceof CallAborted) return abortError(error);
    if (isGatewayError(error) && error.kind !== 'internal') return error;
    const whose = isGatewayError(error) ? error.metadata : {};
    tell(() =>
      logger?.error({ error: causeOf(error), ...whose, method, path: cleanName(pathname()) }, 'unexpected error'),
    );
    if (isGatewayError(error)) return error;
    return new GatewayError('internal', 'Something went wrong inside the gateway', { cause: error });
  }

  const answer: typeof handle =
    cors === null ? handle : async (request, ...more) => cors(request, await handle(request, ...more));

  return {
    async handle(request, context = {}) {
      return answer(request, context, checkHandled(request, context));
    },
    async admit(request, context, check) {
      const found: Caller[] = [];
      const response = await answer(request, context, checkHandled(request, context), (caller) => {
        check(caller);
        found.push(caller);
      });
      return found[0] ?? response;
    },
    handleOver: (connection, request, context) =>
      answer(request, context, checkHandled(request, context), null, connection),
    handleFrom: (client, request, caller) => answer(request, {}, caller, null, undefined, client),
    call,
    ask,
    inFlight: () => open.size,
    close() {
      closing = true;
      for (const watch of open.all()) watch.stop('closing');
    },
  };
}

/** Prepares and runs an operation, and ends the watch with the reply. @param begins  called before the operation runs */
async function runWatched(
  operation: Operation,
  input: OperationInput,
  watch: Watch,
  begins: () => void,
): Promise<OperationReply> {
  const prepared = operation.prepare === undefined ? input : await operation.prepare(input);
  begins();
  const reply = await operation.run(prepared);
  // A stream tells itself when it has ended.
  if (reply.kind === 'stream') reply.body.onEnd((end) => (end === 'cancelled' ? watch.left() : watch.ended()));
  else watch.ended();
  return reply;
}

const noBody = { body: null, isLong: false } as const;

/** The body that was read; `{}` where it is empty and may be. */
function orEmpty({ isBodyOptional }: Operation, body: unknown): unknown {
  return isBodyOptional === true && isText(body) && body.length === 0 ? '{}' : body;
}

/**
 * The record of a request that was refused before its operation ran, or of an operation that records nothing itself.
 */
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
    apiKeyHash: caller?.apiKeyHash ?? (error?.cause instanceof RefusedKey ? error.cause.hash : null),
    userId: caller?.userId ? cleanName(caller.userId) : null,
    tags: caller?.tags ?? [],
    status,
    error: error && { type: error.errorType, message: error.message },
    receivedAtMs,
    totalMs: nowMs - receivedAtMs,
  };
}

/** The path of a URL, without query. */
function pathOf(url: string): string {
  // It starts at the first slash after the authority.
  const start = url.indexOf('/', url.indexOf('//') + 2);
  const query = url.search(/[?#]/);
  return start < 0 || (query >= 0 && query < start) ? '/' : url.slice(start, query < 0 ? undefined : query);
}

/** The place of a request that was refused before its path was read. */
const nowhere: Place = { path: '', isBeta: false };

/** The reply with its headers under the names of the wire format. */
function named(reply: OperationReply, wire: WireFormat, time: Pick<Clock, 'now'>): OperationReply {
  const rename = envelopes[wire].headers;
  if (rename === undefined || reply.headers === undefined) return reply;
  return { ...reply, headers: rename(reply.headers, time.now()) };
}
