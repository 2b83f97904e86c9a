import type { Clock } from '../../../base/clock.ts';
import { doneFrame } from '../../../base/http/sse.ts';
import { isObject, type Loose } from '../../../base/values.ts';
import type { Native } from '../../../call/native.ts';
import { type OutputDelta, outputDeltasOf } from '../../../call/output-item.ts';
import type { ReportedEnd, ResponseEncoder, ResponseHead } from '../../../call/response-encoder.ts';
import type { AssistantMessage, ChatResult, FinishReason } from '../../../schema/chat/chat.ts';
import type { ChatChunk, ChunkDelta } from '../../../schema/chat/chunk.ts';
import type { ErrorBody, ServiceMetadata } from '../../../schema/chat/envelope.ts';
import { type LateCitations, OutputBuilder } from './builder.ts';
import { type ResponseFailure, responseFailure } from './error.ts';
import { type EventSink, EventWriter, nowhere } from './events.ts';
import { itemIds } from './ids.ts';
import {
  echoOf,
  type HeldFields,
  headOf,
  heldFields,
  incompleteReason,
  inProgress,
  type Kept,
  lostFields,
  notKept,
  type ResponseState,
  type ResponsesBody,
  tailOf,
} from './response.ts';

export { type Kept, keptFields, lostFields, notKept } from './response.ts';

export interface ResponsesEncoderOptions {
  /** The brand, which names the metadata field and the keep-alive comment. */
  brand: string;
  /** The caller's body: a response repeats some of its fields. */
  request: ResponsesBody;
  /** The forms in which calls of chat functions come back. */
  callForms: Native['callForms'];
  /** The clock, for `completed_at`. */
  clock: Pick<Clock, 'now'>;
  /** false: what the specification demands, and is not known, is left out instead of null. */
  isWhole: boolean;
  /** Keeps the response, or adds it to a conversation; null, or absent: nobody does. */
  keeper?: ResponseKeeper | null;
}

/** Keeps the response that is written. */
export interface ResponseKeeper {
  /** The wishes of the request. */
  readonly wanted: Kept;
  /**
   * Takes the last event of a stream, which waits until it is known what becomes of the response. It is not called for
   * a response that failed: none of these is kept.
   * @param write  writes the response
   * @param frame  writes the last frames of the stream, of a response as `write` has written it; to be called once
   */
  hold(write: (kept: Kept) => string, frame: (json: string) => string): void;
}

/**
 * The Responses wire: objects and events, made of chat results and chunks. Keeps state: one encoder serves one call.
 */
export function responsesEncoder(options: ResponsesEncoderOptions): ResponseEncoder {
  let held: HeldFields = {};
  const wanted = options.keeper?.wanted ?? notKept;
  const echo = (kept = wanted) => echoOf(options, held, kept);
  const late = { ofGateway: false, ofChat: citesByTools(options.request) };
  const stream = new ResponsesStream(options, late, echo);
  return {
    format: 'responses',
    keepAlive: `: ${options.brand.toUpperCase()} PROCESSING\n\n`,
    expectCitations() {
      late.ofGateway = true;
    },
    served(request) {
      held = heldFields(request);
    },
    result(head, result, end) {
      const encoded: Loose = encodeResult(options, late, head, result, end);
      return { ...encoded, ...(encoded.status === 'failed' ? echo(notKept) : echo()) };
    },
    chunk: (chunk) => stream.chunk(chunk),
    debug: (head, upstreamBody) => stream.debug(head, upstreamBody),
    finish: (head, end) => stream.finish(head, end),
    fail: (head, error, end) => stream.fail(head, error, end),
    // Agents shorten the conversation after the code `context_length_exceeded`, which only a stream has as a text.
    failsInStream: ({ errorType }) => errorType === 'context_length_exceeded',
  };
}

function encodeResult(
  options: ResponsesEncoderOptions,
  late: LateCitations,
  head: ResponseHead,
  result: ChatResult,
  end: ReportedEnd,
) {
  const builder = newBuilder(nowhere, options, late, head);
  const choice = result.choices.find(({ index }) => index === 0) ?? result.choices[0];
  const reason = choice?.finish_reason ?? null;
  if (choice !== undefined) {
    const { message, logprobs } = choice;
    const whole = (): OutputDelta => ({ delta: deltaOf(message), logprobs: logprobs?.content ?? null });
    const deltas = outputDeltasOf(message) ?? [whole()];
    for (const { delta, logprobs: tokens } of deltas) builder.add(delta, tokens);
  }
  const tier = typeof result.service_tier === 'string' ? result.service_tier : null;
  const state = endState(options, reason, choice?.error, end, tier);
  endItems(builder, reason, state);
  return {
    ...headOf(head, state),
    output: builder.output,
    ...tailOf(state, options),
  };
}

function newBuilder(
  sink: EventSink,
  { callForms }: ResponsesEncoderOptions,
  lateCitations: LateCitations,
  head: ResponseHead,
) {
  return new OutputBuilder(sink, { ids: itemIds(head.id), callForms, lateCitations });
}

/** true: a web search of the request, whoever makes it, may add citations when the text has ended. */
function citesByTools({ tools }: ResponsesBody): boolean {
  return Array.isArray(tools) && tools.some(({ type }) => typeof type === 'string' && type.includes('web_search'));
}

/** @param error  the error of the choice, where the provider reported one after partial output */
function endState(
  { clock }: ResponsesEncoderOptions,
  reason: FinishReason | null,
  error: ErrorBody['error'] | undefined,
  end: ReportedEnd,
  serviceTier: string | null,
): ResponseState {
  const base = { ...inProgress, serviceTier, end };
  if (reason === 'error')
    return { ...base, status: 'failed', failure: responseFailure(error ?? { code: 502, message: unnamedError }) };
  const why = incompleteReason(reason);
  if (why !== null) return { ...base, status: 'incomplete', incompleteReason: why };
  return { ...base, status: 'completed', completedAt: Math.floor(clock.now() / 1000) };
}

function endItems(builder: OutputBuilder, reason: FinishReason | null, { status }: ResponseState): void {
  if (status === 'failed') builder.abandon();
  else builder.finish(reason);
}

/** The state of a response for which fields of its request had no effect: the metadata says so. */
function without(state: ResponseState, fields: readonly string[]): ResponseState {
  const { metadata } = state.end;
  if (metadata === undefined || fields.length === 0) return state;
  return { ...state, end: { ...state.end, metadata: withDropped(metadata, fields) } };
}

/** Adds fields to those that had no effect. */
export function withDropped(metadata: ServiceMetadata, fields: readonly string[]): ServiceMetadata {
  return { ...metadata, dropped: [...(metadata.dropped ?? []), ...fields] };
}

const unnamedError = 'Provider returned error: the response was broken off';

/** The events of one response. Its states: `null`, nothing was said; then open; then closed. */
class ResponsesStream {
  readonly #options: ResponsesEncoderOptions;
  readonly #late: LateCitations;
  readonly #echoed: (kept?: Kept) => Loose;
  readonly #writer = new EventWriter();
  #builder: OutputBuilder | null = null;
  #reason: FinishReason | null = null;
  #serviceTier: string | null = null;
  #error: ErrorBody['error'] | undefined;
  #echo = '';

  constructor(options: ResponsesEncoderOptions, late: LateCitations, echoed: (kept?: Kept) => Loose) {
    this.#options = options;
    this.#echoed = echoed;
    this.#late = late;
  }

  chunk(chunk: ChatChunk): string {
    if (typeof chunk.service_tier === 'string') this.#serviceTier = chunk.service_tier;
    const { id, created, model, provider = '' } = chunk;
    const builder = this.#builder ?? this.#open({ id, created, model, provider });
    for (const { index, delta, logprobs, finish_reason: reason, error } of chunk.choices) {
      if (index !== 0) continue;
      builder.add(delta, logprobs?.content);
      if (reason !== null) this.#reason = reason;
      if (isObject(error)) this.#error = error as ErrorBody['error'];
    }
    return this.#writer.take();
  }

  debug(head: ResponseHead, upstreamBody: Loose): string {
    this.#builder ?? this.#open(head);
    this.#writer.emit('response.debug', { debug: { echo_upstream_body: upstreamBody } });
    return this.#writer.take();
  }

  finish(head: ResponseHead, end: ReportedEnd): string {
    const builder = this.#builder ?? this.#open(head);
    const state = endState(this.#options, this.#reason, this.#error, end, this.#serviceTier);
    endItems(builder, this.#reason, state);
    return this.#close(head, state, builder);
  }

  fail(head: ResponseHead, error: ErrorBody['error'], end: Partial<ReportedEnd>): string {
    const builder = this.#builder ?? this.#open(head);
    builder.abandon();
    const failure: ResponseFailure = responseFailure(error);
    const state: ResponseState = { ...inProgress, status: 'failed', serviceTier: this.#serviceTier, failure, end };
    return this.#close(head, state, builder);
  }

  #open(head: ResponseHead): OutputBuilder {
    this.#builder = newBuilder(this.#writer, this.#options, this.#late, head);
    this.#repeat();
    const json = this.#json(head, { ...inProgress, serviceTier: this.#serviceTier }, '[]');
    this.#writer.response('response.created', json);
    this.#writer.response('response.in_progress', json);
    return this.#builder;
  }

  #close(head: ResponseHead, state: ResponseState, builder: OutputBuilder): string {
    const { keeper } = this.#options;
    const output = builder.outputJson();
    const last = (json: string) => {
      this.#writer.response(`response.${state.status}`, json);
      return this.#writer.take() + doneFrame;
    };
    if (!keeper) return last(this.#json(head, state, output));
    const write = (kept: Kept) => {
      this.#repeat(kept);
      return this.#json(head, without(state, lostFields(keeper.wanted, kept)), output);
    };
    if (state.status === 'failed') return last(write(notKept));
    const before = this.#writer.take();
    keeper.hold(write, last);
    return before;
  }

  /** Serialises the repeated request, which may be large, once for all events. */
  #repeat(kept?: Kept): void {
    this.#echo = JSON.stringify(this.#echoed(kept)).slice(1);
  }

  #json(head: ResponseHead, state: ResponseState, output: string): string {
    const before = JSON.stringify(headOf(head, state)).slice(0, -1);
    const after = JSON.stringify(tailOf(state, this.#options)).slice(1, -1);
    return `${before},"output":${output}${after === '' ? '' : ','}${after},${this.#echo}`;
  }
}

/** Returns a complete message as one delta. */
function deltaOf(message: AssistantMessage): ChunkDelta {
  const { content, tool_calls: calls, ...fields } = message;
  return {
    ...fields,
    content: textOf(content),
    ...(calls ? { tool_calls: calls.map((call, index) => ({ ...call, index })) } : {}),
  } as ChunkDelta;
}

function textOf(content: AssistantMessage['content']): string {
  if (!Array.isArray(content)) return (content as string | null | undefined) ?? '';
  return content.map((part) => (isObject(part) && typeof part.text === 'string' ? part.text : '')).join('');
}
