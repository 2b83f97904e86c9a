import { joinBytes } from '../../base/bytes.ts';
import { GatewayError } from '../../base/errors.ts';
import { idHeader } from '../../base/ids.ts';
import type { Ask } from '../../call/ask.ts';
import type { CompleteResponse, ModelResponse, ResponseEnd, StreamedResponse } from '../../call/generation.ts';
import type { Target } from '../../call/plan.ts';
import type { OperationReply } from '../../call/reply.ts';
import type { ReportedEnd, ResponseHead } from '../../call/response-encoder.ts';
import { chunkFolder, toChunks } from '../../formats/chunks.ts';
import { toGatewayError } from '../attempt/failure.ts';
import { noteRefusal } from '../call/refused.ts';
import type { CallRun } from '../call/run.ts';
import { hasLeft } from '../generation/state.ts';
import { StepChain } from '../hooks/step-chain.ts';
import { mayCiteLate, stepsOf, throughSteps } from '../hooks/steps.ts';
import { offersServerTools } from '../server-tools/offer.ts';
import { inBand, shownOf } from './shown.ts';

const encoder = new TextEncoder();
/** The time between the last event and an error that has to arrive by itself. */
const aloneMs = 30;

/**
 * Delivers a response as JSON.
 * @throws GatewayError where the response was cut, or a step refuses it
 */
export async function deliverJson(run: CallRun, ask: Ask, response: ModelResponse): Promise<OperationReply> {
  const { call } = run;
  const complete = response.kind === 'stream' ? await collect(run, response) : response;
  const steps = stepsOf(run, ask);
  const result = steps.length === 0 ? complete.result : await throughSteps(complete.result, new StepChain(steps));
  call.encoder.check?.(result);
  prepareEncoder(run, ask, steps.length === 0);
  // The call ends first: amounts that plugins have left unsettled are on the bill as well.
  run.finish({ outcome: 'ok', status: 200, error: null });
  const body = call.encoder.result(complete.head, result, reportedEnd(run));
  return { status: 200, headers: idHeader(call.id), kind: 'json', body };
}

/** Collects a streamed response, where JSON is delivered. @throws GatewayError where the response was cut */
async function collect(run: CallRun, response: StreamedResponse): Promise<CompleteResponse> {
  const folder = chunkFolder();
  while (response.end === null) for (const chunk of await response.pull()) folder.add(chunk);
  const result = folder.result();
  if (response.end.kind === 'failed') throw toGatewayError(response.end.error, servingTarget(run));
  if (response.end.kind === 'cancelled' || result === null)
    throw new GatewayError('upstream_failed', 'The response was broken off');
  return { kind: 'complete', head: response.head, result };
}

/** Makes a stream of a complete response, where a stream is delivered. */
function streamOf({ head, result }: CompleteResponse): StreamedResponse {
  let end: ResponseEnd | null = null;
  return {
    kind: 'stream',
    head,
    get end() {
      return end;
    },
    async pull() {
      end = { kind: 'complete' };
      const { id, created, model, provider } = head;
      return toChunks(result).map((chunk) => ({ ...chunk, id, created, model, provider }));
    },
    cancel() {
      end ??= { kind: 'cancelled' };
    },
  };
}

/**
 * A stream on its way to the client: pulled, through the steps, encoded, with an honest end. Its states:
 * - `opened`: nothing was delivered
 * - `flowing`: chunks are delivered as they are pulled
 * - `closed`: the end was delivered, or nobody wants it
 */
export class Delivery {
  readonly #run: CallRun;
  readonly #response: StreamedResponse;
  readonly #steps: StepChain;
  #state: 'opened' | 'flowing' | 'closed' = 'opened';
  /** The error that follows by itself. */
  #error: Uint8Array<ArrayBuffer> | null = null;
  readonly #onPulled = (bytes: Uint8Array<ArrayBuffer>) => this.#deliver(bytes);
  readonly #onRefused = (error: unknown) => this.#refuse(error, new Uint8Array(0));

  constructor(run: CallRun, ask: Ask, response: ModelResponse) {
    this.#run = run;
    this.#response = response.kind === 'stream' ? response : streamOf(response);
    this.#steps = new StepChain(stepsOf(run, ask));
    prepareEncoder(run, ask, this.#steps.isEmpty);
  }

  /**
   * @returns the next bytes, possibly none; null after the last
   * @throws GatewayError where the response was cut and the option `streams.onCut` says `close`
   */
  next(): Promise<Uint8Array<ArrayBuffer> | null> {
    if (this.#state === 'closed') return this.#takeError();
    const first = this.#state === 'opened' ? this.#debugFrames() : '';
    this.#state = 'flowing';
    const pulled = this.#pullBytes() ?? this.#pull();
    return first === ''
      ? pulled.then(this.#onPulled, this.#onRefused)
      : pulled.then(
          (bytes) => this.#deliver(joinBytes([encoder.encode(first), bytes])),
          (error) => this.#refuse(error, encoder.encode(first)),
        );
  }

  #deliver(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> | null {
    if (!this.#isOpen()) return null;
    return this.#response.end === null ? bytes : this.#close(this.#response.end, bytes);
  }

  /** A step has refused a chunk. */
  #refuse(error: unknown, bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> | null {
    if (!this.#isOpen()) return null;
    this.#response.cancel();
    const end: ResponseEnd = { kind: 'failed', error };
    this.#steps.abandon(end);
    return this.#close(end, bytes);
  }

  async #takeError(): Promise<Uint8Array<ArrayBuffer> | null> {
    const error = this.#error;
    this.#error = null;
    if (error !== null) await new Promise<void>((resolve) => this.#run.deps.clock.after(aloneMs, resolve));
    return error;
  }

  /** Settles the received part: the client has left. */
  stop(): void {
    if (!this.#isOpen()) return;
    this.#state = 'closed';
    this.#response.cancel();
    if (!this.#steps.isEmpty) this.#steps.abandon({ kind: 'cancelled' });
    this.#run.finish({ outcome: 'cancelled', status: 499, error: null });
  }

  /**
   * Settles the received part: the call was stopped while nobody read.
   * @returns the bytes that say so to a client that reads on
   * @throws GatewayError where the option `streams.onCut` says `close`
   */
  cut(error: unknown): Uint8Array<ArrayBuffer> | null {
    if (!this.#isOpen()) return null;
    this.#response.cancel();
    if (!this.#steps.isEmpty) this.#steps.abandon({ kind: 'failed', error });
    return this.#close({ kind: 'failed', error }, new Uint8Array(0), { isLast: true });
  }

  #isOpen(): boolean {
    return this.#state !== 'closed';
  }

  /** Bytes that pass through untouched. @returns undefined: steps see the chunks, or the upstream's events are no chunks */
  #pullBytes(): Promise<Uint8Array<ArrayBuffer>> | undefined {
    return this.#steps.isEmpty ? this.#response.pullBytes?.(this.#run.call.encoder) : undefined;
  }

  async #pull(): Promise<Uint8Array<ArrayBuffer>> {
    const { encoder: toClient } = this.#run.call;
    const pulled = await this.#response.pull();
    let chunks = this.#steps.isEmpty ? pulled : await this.#steps.push(pulled);
    const { end } = this.#response;
    if (end !== null && !this.#steps.isEmpty) chunks = [...chunks, ...(await this.#steps.end(end))];
    let text = '';
    for (const chunk of chunks) text += toClient.chunk(chunk);
    return encoder.encode(text);
  }

  /** @param isLast  true: nothing is read behind these bytes */
  #close(end: ResponseEnd, bytes: Uint8Array<ArrayBuffer>, { isLast = false } = {}): Uint8Array<ArrayBuffer> | null {
    this.#state = 'closed';
    const run = this.#run;
    const { encoder: toClient } = run.call;
    const { head } = this.#response;
    if (end.kind === 'complete') {
      run.finish({ outcome: 'ok', status: 200, error: null });
      return joinBytes([bytes, encoder.encode(toClient.finish(head, reportedEnd(run)))]);
    }
    if (end.kind === 'cancelled' || hasLeft(end.error)) {
      run.finish({ outcome: 'cancelled', status: 499, error: null });
      return null;
    }
    const target = servingTarget(run);
    const shown = shownOf(run, end.error, target);
    run.finish({ outcome: 'cut', status: shown.status, error: { type: shown.errorType, message: shown.message } });
    if (run.deps.streams.onCut === 'close') throw shown;
    const error = encoder.encode(toClient.fail(head, inBand(run, end.error, shown), reportedEnd(run)));
    if (toClient.failsAlone !== true || isLast) return joinBytes([bytes, error]);
    this.#error = error;
    return bytes;
  }

  #debugFrames(): string {
    const { call, journal } = this.#run;
    return journal
      .takeSentBodies()
      .map((body) => call.encoder.debug(this.#response.head, body))
      .join('');
  }
}

function reportedEnd(run: CallRun): ReportedEnd {
  const metadata = run.metadata();
  return metadata === undefined ? { usage: run.usage() } : { usage: run.usage(), metadata };
}

/**
 * Tells the encoder what it cannot know by itself.
 * @param isUnseen  true: no step looks at the response
 */
function prepareEncoder(run: CallRun, ask: Ask, isUnseen: boolean): void {
  const { encoder } = run.call;
  if (isUnseen && encoder.untouched !== undefined && isOneGeneration(run, ask)) encoder.untouched();
  if (mayCiteLate(run, ask)) encoder.expectCitations?.();
  if (encoder.served === undefined) return;
  const serving = run.generations.findLast(({ target }) => target !== null);
  if (serving !== undefined) encoder.served(serving.sentRequest);
}

/** true: the response is that of one generation: no plugin asks again, and no tool of the gateway's is called. */
function isOneGeneration({ generations, hooks }: CallRun, { request }: Ask): boolean {
  return generations.length === 1 && !hooks.some((one) => one.hooks.wrap !== undefined) && !offersServerTools(request);
}

/** Returns the target that served the client; null: none did. */
function servingTarget({ generations }: CallRun): Target | null {
  return generations.findLast(({ target }) => target !== null)?.target ?? null;
}

/**
 * Returns the frames for a client that has been sent a keep-alive comment, when no target could serve.
 * @returns null: nobody is there to read them
 * @throws GatewayError where the option `streams.onCut` says `close`
 */
export function failureFrames(run: CallRun, error: unknown): string | null {
  if (hasLeft(error)) return null;
  noteRefusal(run, error);
  const { call, deps, generations } = run;
  const first = generations.at(-1)?.plan?.targets[0] ?? null;
  const shown = shownOf(run, error, first);
  if (deps.streams.onCut === 'close') throw shown;
  const head: ResponseHead = {
    id: call.id,
    created: call.created,
    model: first?.endpoint.modelSlug ?? call.ask.request.model ?? '',
    provider: first?.providerName ?? '',
  };
  const metadata = run.metadata();
  return call.encoder.fail(head, inBand(run, error, shown), metadata === undefined ? {} : { metadata });
}
