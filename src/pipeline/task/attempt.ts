import type { StopSignal } from '../../base/async/stop.ts';
import { writeForm } from '../../base/http/form-parts.ts';
import type { Redactor } from '../../base/secrets.ts';
import type { Call } from '../../call/call.ts';
import { endpointName } from '../../call/model.ts';
import type { Target } from '../../call/plan.ts';
import type { AttemptTrace } from '../../call/trace.ts';
import { reportedIn } from '../../dialects/tasks/events.ts';
import type { Credential, Provider } from '../../providers/provider.ts';
import { keyRefOf } from '../../routing/key-ring.ts';
import type { FollowedAttempt, SafeFollower } from '../../telemetry/follow.ts';
import type { AttemptParameters } from '../../telemetry/parameters.ts';
import type { TransportResponse } from '../../transport/transport.ts';
import type { AttemptContext, WireRequest } from '../attempt/context.ts';
import { type ExchangeObserver, exchange, type Work } from '../attempt/exchange.ts';
import { observeFailure } from '../attempt/observe.ts';
import { type Sent, urlOf } from '../attempt/outgoing.ts';
import { readJson } from '../attempt/response.ts';
import { attemptTrace, shownDropped } from '../attempt/trace.ts';
import { requestIdIn } from '../attempt/traced.ts';
import type { AttemptDeps, ExecuteDeps } from '../deps.ts';
import { costOfLost, type Served, servedOf } from './cost.ts';
import { OpenTask } from './open.ts';
import type { TaskBatch } from './task.ts';

/** The most requests of one attempt that are in flight at once. */
const batchesAtOnce = 4;

/** The parts of an attempt beside its target. */
export interface TaskAttemptInput {
  readonly signal: StopSignal;
  readonly time: Call['time'];
  readonly follower: SafeFollower | null;
  readonly parameters: AttemptParameters;
  /** true: the response is streamed to the client. */
  readonly isStream: boolean;
}

type Deps = AttemptDeps & Pick<ExecuteDeps, 'health'>;

/** The gain of an attempt: the use of what was taken, or a response whose rest is still to be read. */
export interface TaskMade {
  readonly served: readonly Served[];
  readonly open: OpenTask | null;
}

/**
 * Makes one attempt at one target: sends all requests, some at once. A single request whose response is streamed to the
 * client is opened. After the first failure no further one begins, and those in flight are waited for: what they bring is
 * kept, and paid for. The log gets one trace for all.
 * @param served  is given the use of each request that was served
 * @throws UpstreamError; the reason of the signal after an abort
 */
export async function attemptTask(
  deps: Deps,
  input: TaskAttemptInput,
  target: Target,
  batches: readonly TaskBatch[],
  log: AttemptTrace[],
  served: Served[],
): Promise<OpenTask | null> {
  const attempt = new TaskAttempt(deps, input, target);
  const before = served.length;
  const [only] = batches;
  if (batches.length === 1 && only?.decoder !== undefined) {
    try {
      const opened = await attempt.open(only);
      attempt.ended(log, null, 0);
      if (opened instanceof OpenTask) return opened;
      served.push(opened);
      return null;
    } catch (error) {
      attempt.ended(log, error, 0);
      throw error;
    }
  }
  let next = 0;
  let failure: { error: unknown } | null = null;
  const worker = async () => {
    while (failure === null && next < batches.length) {
      const batch = batches[next++] as TaskBatch;
      try {
        served.push(await attempt.send(batch));
      } catch (error) {
        failure ??= { error };
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(batchesAtOnce, batches.length) }, worker));
  const failed = failure as { error: unknown } | null;
  if (failed === null) {
    attempt.ended(log, null, 0);
    return null;
  }
  // What was served before the failure is on the bill of the attempt that failed.
  const paidNanoUsd = served.slice(before).reduce((sum, { cost }) => sum + (cost?.totalNanoUsd ?? 0), 0);
  attempt.ended(log, failed.error, paidNanoUsd);
  throw failed.error;
}

/** The requests of one attempt, and what is known of them. */
class TaskAttempt {
  readonly #deps: Deps;
  readonly #input: TaskAttemptInput;
  readonly #target: Target;
  readonly #startedAtMs: number;
  /** The cost of requests that brought nothing, integer nano-USD. */
  #lostNanoUsd = 0;
  #upstreamRequestId: string | null = null;
  #followed: FollowedAttempt | undefined;
  #hasBegun = false;
  readonly #dropped = new Set<string>();

  constructor(deps: Deps, input: TaskAttemptInput, target: Target) {
    this.#deps = deps;
    this.#input = input;
    this.#target = target;
    this.#startedAtMs = input.time.now();
  }

  /** Sends one request, and takes its response. */
  send(batch: TaskBatch): Promise<Served> {
    return this.#once(batch, (context, response, release) => this.#taken(batch, context, response, release));
  }

  /** Sends one request, and opens its response; takes it where it is no stream. */
  open(batch: TaskBatch): Promise<Served | OpenTask> {
    const decoder = batch.decoder as NonNullable<TaskBatch['decoder']>;
    return this.#once(batch, async (context, response, release) => {
      const opened = await OpenTask.read(context, response, batch, decoder(response.headers), release);
      return opened instanceof OpenTask ? opened : this.#taken(batch, context, opened, release);
    });
  }

  async #taken(
    batch: TaskBatch,
    context: AttemptContext,
    response: TransportResponse,
    release: () => void,
  ): Promise<Served> {
    const body = await readJson(context, response, batch.results ?? 1);
    release();
    const reported = reportedIn(body);
    if (reported !== null) throw reported;
    return servedOf(this.#target, batch, batch.take(body, response.headers));
  }

  /** Makes an exchange; a second one where only the key had come to its end. */
  async #once<Made>(batch: TaskBatch, read: Work<Made>['read']): Promise<Made> {
    const isStream = batch.decoder !== undefined;
    const first = new BatchObserver<Made>(this, batch);
    const work = (isRenewed: boolean): Work<Made> => ({
      isStream,
      signal: this.#input.signal,
      isRenewed,
      encode: (provider, credential) => this.#encoded(batch, provider, credential),
      read,
    });
    try {
      return await exchange(this.#deps, work(false), this.#target, first);
    } catch (error) {
      if (!first.isRenewed) throw error;
      return await exchange(this.#deps, work(true), this.#target, new BatchObserver<Made>(this, batch));
    }
  }

  #encoded(batch: TaskBatch, provider: Provider, credential: Credential): WireRequest {
    const encoded = batch.encode();
    for (const name of encoded.dropped) this.#dropped.add(name);
    const isStream = batch.decoder !== undefined;
    const headers = { ...this.#begins(urlOf(provider, credential, encoded.path), isStream), ...encoded.headers };
    const { body } = encoded;
    if (typeof body === 'string') return { ...encoded, body, headers, choices: 1 };
    const { bytes, contentType } = writeForm(body);
    return { ...encoded, body: bytes, headers: { ...headers, 'content-type': contentType }, choices: 1 };
  }

  /** Tells the follower of the call, once. @returns further headers for the provider */
  #begins(url: string, streamed: boolean): Readonly<Record<string, string>> | undefined {
    const { follower, parameters } = this.#input;
    if (!this.#hasBegun && follower !== null) {
      this.#hasBegun = true;
      const { endpoint, credential } = this.#target;
      this.#followed = follower.attempt({
        providerSlug: endpoint.providerSlug,
        endpoint: endpointName(endpoint),
        model: endpoint.modelSlug,
        url,
        streamed,
        key: keyRefOf(credential)?.key ?? null,
        startedAtMs: this.#startedAtMs,
        parameters,
      });
    }
    return this.#followed?.headers;
  }

  noteRequestId(id: string | null): void {
    this.#upstreamRequestId ??= id;
  }

  /** Notes the cost of a request that brought nothing. */
  lost(error: unknown, batch: TaskBatch, isOnItsWay: boolean): void {
    this.#lostNanoUsd += costOfLost(this.#target, batch, error, isOnItsWay);
  }

  /** Adds the attempt to the log, and tells the health of the endpoint about its failure. */
  ended(log: AttemptTrace[], error: unknown, paidNanoUsd: number): void {
    if (error !== null) observeFailure(this.#deps, this.#target, error);
    const trace = attemptTrace(this.#target, error, this.#input.signal.aborted, {
      startedAtMs: this.#startedAtMs,
      decidedAtMs: this.#input.time.now(),
      costNanoUsd: paidNanoUsd + this.#lostNanoUsd,
      dropped: shownDropped([...this.#dropped]),
      upstreamRequestId: this.#upstreamRequestId,
    });
    log.push(trace);
    if (this.#followed !== undefined) this.#input.follower?.decided(this.#followed, trace);
  }
}

/** Watches one request of an attempt. */
class BatchObserver<Made> implements ExchangeObserver<Made> {
  /** true: the provider refused a key that has come to its end, and there is a new one. */
  isRenewed = false;
  readonly #attempt: TaskAttempt;
  readonly #batch: TaskBatch;
  #sent: Sent | null = null;

  constructor(attempt: TaskAttempt, batch: TaskBatch) {
    this.#attempt = attempt;
    this.#batch = batch;
  }

  sends(sent: Sent): void {
    this.#sent = sent;
  }

  responded(headers: Readonly<Record<string, string>>, redactor: Redactor): void {
    this.#attempt.noteRequestId(requestIdIn(headers, redactor));
  }

  succeeded(): void {}

  failed(error: unknown, isRenewed: boolean): void {
    this.isRenewed = isRenewed;
    if (!isRenewed) this.#attempt.lost(error, this.#batch, this.#sent?.isOnItsWay === true);
  }
}
