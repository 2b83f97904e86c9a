import { joinBytes, utf8Length } from '../base/bytes.ts';
import { GatewayError, isGatewayError } from '../base/errors.ts';
import { UpstreamError } from '../base/upstream-error.ts';
import { abortError, CallAborted } from '../call/abort.ts';
import type { Call } from '../call/call.ts';
import type { Plan, Target } from '../call/plan.ts';
import type { ResponseHead, StreamEnd } from '../call/response-encoder.ts';
import { chunkWithoutReasoning, hidesReasoning } from '../convert/reasoning.ts';
import { describeRoute } from '../routing/describe.ts';
import type { Usage } from '../schema/chat.ts';
import type { ChunkDelta } from '../schema/chunk.ts';
import type { ServiceMetadata } from '../schema/envelope.ts';
import type { OpenStream } from './attempt.ts';
import type { PipelineDeps } from './deps.ts';
import { badStream, choiceWatch } from './events.ts';
import type { Executed } from './execute.ts';
import { kindOf, messageOf } from './failure.ts';
import { createLane, type Lane } from './lanes.ts';
import type { Settle } from './settle.ts';

const encoder = new TextEncoder();
const nothing = new Uint8Array(0);

/** How long a stream that is whole may keep its upstream waiting for usage or the sentinel. */
const trailingUsageTimeoutMs = 5000;
/** How much of an upstream is read after its end, so that its connection can be used again. */
const drainBytes = 16 * 1024;

/** An opened stream on its way to the client. */
export interface Relay {
  /** The next bytes, possibly none; null after the last. Never rejects. */
  next(): Promise<Uint8Array<ArrayBuffer> | null>;
  /** The client has left, or the call's time is up: settles what was received. */
  stop(): void;
}

/** Relays the stream of the try that serves: encoded for the client, metered, closed honestly, settled once. */
export function relay(deps: PipelineDeps, call: Call, plan: Plan, executed: Executed, settle: Settle): Relay {
  const { attempted, served, sentBodies } = executed;
  const stream = attempted as OpenStream;
  const { events, watchdog } = stream;
  const target = plan.targets[served] as Target;
  const { wire } = call;
  const head: ResponseHead = {
    id: call.id,
    created: call.created,
    model: target.endpoint.modelSlug,
    provider: target.providerName,
  };
  const firstMs = deps.clock.now() - call.receivedAtMs;
  const choices = choiceWatch(stream.expectedChoices);
  let usage: Usage | null = null;
  let textBytes = 0;
  /** Set once nothing more of the upstream counts. */
  let ending: { error: UpstreamError | null } | null = null;
  /** When the last choice was finished. */
  let wholeAtMs: number | null = null;
  let started = false;
  let closed = false;

  const lane: Lane = createLane({
    events,
    wire,
    head,
    passthrough: target.lane === 'passthrough' && wire.chunksAreChat,
    steps: hidesReasoning(call.request) ? [chunkWithoutReasoning] : [],
    redactor: stream.redactor,
    sink: {
      chunk(chunk) {
        choices.see(chunk);
        for (const choice of chunk.choices) textBytes += sizeOf(choice.delta);
      },
      usage(part) {
        usage = part.usage;
      },
      text(bytes) {
        textBytes += bytes;
      },
      end(part) {
        ending = { error: part.kind === 'error' ? part.error : null };
      },
    },
  });

  async function next(): Promise<Uint8Array<ArrayBuffer> | null> {
    if (closed) return null;
    try {
      if (!started) return first();
      const piece = events === null || ending !== null ? null : await read();
      if (closed) return null;
      const bytes = piece === null ? lane.flush() : lane.push(piece);
      return piece === null || ending !== null ? close(bytes) : bytes;
    } catch (error) {
      return fail(error);
    }
  }

  function first(): Uint8Array<ArrayBuffer> {
    started = true;
    const shown = sentBodies.map((body) => wire.debug(head, body)).join('');
    const bytes = lane.parts(stream.first);
    // Not to be kept for as long as the stream is open.
    stream.first = [];
    sentBodies.length = 0;
    const all = shown === '' ? bytes : joinBytes([encoder.encode(shown), bytes]);
    return ending === null ? all : close(all);
  }

  async function read(): Promise<Uint8Array | null> {
    watchdog.arm(Math.min(trailingUsageLeftMs(), deps.timeouts.idleMs), 'the next event');
    const piece = await (events as NonNullable<typeof events>).source.read();
    watchdog.disarm();
    return piece;
  }

  /** From the end of the answer, not from the latest piece: what comes after it may go on for ever. */
  function trailingUsageLeftMs(): number {
    if (!choices.isWhole()) {
      wholeAtMs = null;
      return Number.POSITIVE_INFINITY;
    }
    const nowMs = deps.clock.now();
    wholeAtMs ??= nowMs;
    const leftMs = wholeAtMs + trailingUsageTimeoutMs - nowMs;
    if (leftMs <= 0) throw badStream('The provider did not end its answer.');
    return leftMs;
  }

  /** The upstream has ended, by itself or with a sentinel: is what came the whole answer? */
  function close(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
    const error = ending?.error;
    const saidDone = ending !== null && !error;
    const whole = saidDone ? choices.isClosed() : choices.isWhole();
    if (!whole) return joinBytes([bytes, fail(error ?? badStream('The provider broke off its answer.')) ?? nothing]);
    return joinBytes([bytes, finish()]);
  }

  function finish(): Uint8Array<ArrayBuffer> {
    closed = true;
    const receipt = settle({ outcome: 'ok', status: 200, served, usage, output: textBytes, firstMs });
    letGo();
    return encoder.encode(wire.finish(head, end(receipt.usage)));
  }

  function fail(error: unknown): Uint8Array<ArrayBuffer> | null {
    if (closed) return null;
    // The answer is whole; what broke is only the way its end was told.
    if (choices.isWhole() && error instanceof UpstreamError) return finish();
    closed = true;
    stream.close();
    if (error instanceof CallAborted && error.why === 'client_left') {
      settle({ outcome: 'cancelled', status: 499, served, usage, output: textBytes, firstMs });
      return null;
    }
    const shown = inBand(error, target);
    const isProvidersFault = error instanceof UpstreamError;
    const receipt = settle({
      outcome: 'cut',
      status: shown.code,
      served,
      usage,
      output: textBytes,
      firstMs,
      isProvidersFault,
    });
    return encoder.encode(wire.fail(head, shown, end(receipt.usage)));
  }

  function end(ended: Usage): StreamEnd {
    return call.wantsMetadata ? { usage: ended, metadata: metadata() } : { usage: ended };
  }

  function metadata(): ServiceMetadata {
    return describeRoute(plan, call.trace, served, deps.region);
  }

  /** Reads what little an upstream sends after its end: a connection that was read to its end can be used again. */
  function letGo(): void {
    if (events === null) {
      stream.close();
      return;
    }
    const { source } = events;
    const stop = deps.clock.after(1000, () => stream.close());
    void (async () => {
      for (let left = drainBytes; left > 0; ) {
        const piece = await source.read();
        if (piece === null) break;
        left -= piece.length;
      }
    })()
      // The answer is whole: how its connection ends concerns nobody.
      .catch(() => undefined)
      .finally(() => {
        stop();
        stream.close();
      });
  }

  function stop(): void {
    if (closed) return;
    closed = true;
    stream.close();
    settle({ outcome: 'cancelled', status: 499, served, usage, output: textBytes, firstMs });
  }

  return { next, stop };
}

/** The error object of a stream that broke after its first event. */
export function inBand(
  error: unknown,
  target: Target,
): { code: number; message: string; metadata: { error_type: string; provider_code?: string } } {
  const shown = asGatewayError(error, target);
  const providerCode = error instanceof UpstreamError && error.fault !== 'operator' ? error.providerCode : undefined;
  return {
    code: shown.status,
    message: shown.message,
    metadata: { error_type: shown.errorType, ...(providerCode === undefined ? {} : { provider_code: providerCode }) },
  };
}

function asGatewayError(error: unknown, { providerName, isByok }: Target): GatewayError {
  if (isGatewayError(error)) return error;
  if (error instanceof UpstreamError)
    return new GatewayError(kindOf(error), messageOf(error, providerName, isByok), { errorType: error.errorType });
  if (error instanceof CallAborted) return abortError(error);
  return new GatewayError('internal', 'Something went wrong inside the gateway', { cause: error });
}

/** Fields of a delta that are output: what else stands in it says how to read it. */
const outputFields = ['content', 'reasoning', 'refusal'] as const;

/** How much output is in a delta: bytes, as on the passthrough lane; a script of three bytes a character has more tokens in it. */
function sizeOf(delta: ChunkDelta): number {
  let size = 0;
  for (const field of outputFields) size += utf8Length(delta[field] ?? '');
  for (const call of delta.tool_calls ?? [])
    size += utf8Length(call.function?.name ?? '') + utf8Length(call.function?.arguments ?? '');
  return size;
}
