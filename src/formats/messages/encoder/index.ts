import { cleanText } from '../../../base/text/clean-text.ts';
import { isObject, type Loose } from '../../../base/values.ts';
import { nativeBodyOf, nativeEventsOf, outdatedEventsOf } from '../../../call/native-events.ts';
import { outputDeltasOf } from '../../../call/output-item.ts';
import type { ReportedEnd, ResponseEncoder, ResponseHead } from '../../../call/response-encoder.ts';
import type { ChatResult, FinishReason } from '../../../schema/chat/chat.ts';
import type { ChatChunk } from '../../../schema/chat/chunk.ts';
import type { ErrorBody } from '../../../schema/chat/envelope.ts';
import { deltaOf } from '../../chunks.ts';
import { messagesError } from '../error.ts';
import { BlockBuilder, type BlockSink, blockList } from './blocks.ts';
import { ForwardedEvents, rewritten } from './forwarded.ts';
import { messagesUsage, startUsage } from './usage.ts';

export interface MessagesEncoderOptions {
  /** The brand, which names the metadata field. */
  brand: string;
  /** false: the text of thoughts is not shown. */
  showsThoughts: boolean;
  /** Estimates the tokens of the prompt, for the first event. */
  estimate: () => number;
}

const noObject = 'Provider returned error: the model gave arguments that are no JSON object, for a call of';

/** The fields of a delta that are text. A signature is none. */
const textFields = ['text', 'thinking', 'partial_json'];

/** The Messages wire: messages and events, made of chat results and chunks. Keeps state: one encoder serves one call. */
export function messagesEncoder(options: MessagesEncoderOptions): ResponseEncoder {
  const stream = new MessagesStream(options);
  let isUntouched = false;
  return {
    format: 'messages',
    keepAlive: frame('ping', {}),
    untouched() {
      isUntouched = true;
      stream.forward();
    },
    textFields: ({ name }) => (isUntouched && name === 'content_block_delta' ? textFields : []),
    result(head, result, end) {
      const [only] = result.choices;
      const body = isUntouched && only !== undefined ? nativeBodyOf(only.message) : null;
      return body === null
        ? resultOf(options, head, result, end)
        : { ...body, model: head.model, ...metadataField(options.brand, end) };
    },
    chunk: (chunk) => stream.chunk(chunk),
    debug: (head, upstreamBody) => stream.debug(head, upstreamBody),
    finish: (head, end) => stream.finish(head, end),
    fail: (head, error) => stream.fail(head, error),
  };
}

/** An event of the wire, as text. */
export function frame(type: string, fields: Loose): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
}

/** The fields in which a message tells why it ended. */
function endOf(reason: FinishReason | null, hasCalls: boolean, refusal: string | null): Loose {
  const stop = (stopReason: string, details: Loose | null = null) => ({
    stop_reason: stopReason,
    stop_sequence: null,
    stop_details: details,
  });
  if (reason === 'length') return stop('max_tokens');
  if (reason === 'content_filter' || refusal !== null)
    return stop('refusal', { type: 'refusal', category: null, explanation: refusal });
  // Clients run tools by the reason or by the blocks: the two must say the same.
  return stop(hasCalls ? 'tool_use' : 'end_turn');
}

function metadataField(brand: string, { metadata }: Partial<ReportedEnd>): Loose {
  return metadata === undefined ? {} : { [`${brand}_metadata`]: metadata };
}

function resultOf(
  { brand, showsThoughts }: MessagesEncoderOptions,
  head: ResponseHead,
  result: ChatResult,
  end: ReportedEnd,
): Loose {
  const list = blockList();
  const builder = new BlockBuilder(list, showsThoughts);
  const choice = result.choices.find(({ index }) => index === 0) ?? result.choices[0];
  if (choice !== undefined)
    for (const { delta } of outputDeltasOf(choice.message) ?? [{ delta: deltaOf(choice.message) }]) builder.add(delta);
  builder.finish();
  const tier = typeof result.service_tier === 'string' ? result.service_tier : null;
  return {
    id: head.id,
    type: 'message',
    role: 'assistant',
    model: head.model,
    content: list.blocks,
    ...endOf(choice?.finish_reason ?? null, builder.hasCalls, choice?.message.refusal ?? null),
    container: null,
    usage: messagesUsage(end.usage, tier, builder.ownTools),
    ...metadataField(brand, end),
  };
}

/** The events of one response. Nothing was said; then open; then closed. */
class MessagesStream {
  readonly #options: MessagesEncoderOptions;
  readonly #sink: BlockSink;
  #text = '';
  #builder: BlockBuilder | null = null;
  #forwarded: ForwardedEvents | null = null;
  #reason: FinishReason | null = null;
  #refusal = '';
  #serviceTier: string | null = null;
  #error: ErrorBody['error'] | null = null;

  constructor(options: MessagesEncoderOptions) {
    this.#options = options;
    this.#sink = {
      start: (index, block) => this.#emit('content_block_start', { index, content_block: block }),
      delta: (index, delta) => this.#emit('content_block_delta', { index, delta }),
      stop: (index) => this.#emit('content_block_stop', { index }),
    };
  }

  /** The events of an upstream of this wire go on as they are, where they come. */
  forward(): void {
    this.#forwarded = new ForwardedEvents();
  }

  chunk(chunk: ChatChunk): string {
    const forwarded = this.#builder === null ? this.#forwarded : null;
    const events = forwarded === null ? null : nativeEventsOf(chunk);
    if (forwarded !== null && events !== null) return forwarded.take(chunk.model, events);
    if (forwarded?.hasBegun === true)
      return forwarded.take(chunk.model, rewritten(outdatedEventsOf(chunk) ?? [], chunk.choices[0]?.delta ?? {}));
    if (typeof chunk.service_tier === 'string') this.#serviceTier = chunk.service_tier;
    const { id, created, model, provider = '' } = chunk;
    const builder = this.#builder ?? this.#open({ id, created, model, provider });
    for (const { index, delta, finish_reason: reason, error } of chunk.choices) {
      if (index !== 0) continue;
      builder.add(delta);
      if (typeof delta.refusal === 'string') this.#refusal += delta.refusal;
      if (reason !== null) this.#reason = reason;
      if (isObject(error)) this.#error = error as unknown as ErrorBody['error'];
    }
    return this.#take();
  }

  debug(head: ResponseHead, upstreamBody: Loose): string {
    // Clients pass over an event that they do not know; the message begins behind it.
    return head.id === '' ? '' : frame('debug', { debug: { echo_upstream_body: upstreamBody } });
  }

  finish(head: ResponseHead, end: ReportedEnd): string {
    if (this.#forwarded?.hasBegun === true) return this.#forwarded.end(metadataField(this.#options.brand, end));
    const builder = this.#builder ?? this.#open(head);
    if (this.#reason === 'error' || this.#error !== null)
      return this.fail(
        head,
        this.#error ?? { code: 502, message: 'Provider returned error: the response was broken off' },
      );
    const broken = this.#reason === 'length' || this.#reason === 'content_filter' ? null : builder.brokenCall();
    if (broken !== null) return this.fail(head, { code: 502, message: `${noObject} ${cleanText(broken, 64)}` });
    builder.finish();
    this.#emit('message_delta', {
      delta: { ...endOf(this.#reason, builder.hasCalls, this.#refusal || null), container: null },
      usage: messagesUsage(end.usage, this.#serviceTier, builder.ownTools),
      ...metadataField(this.#options.brand, end),
    });
    this.#emit('message_stop', {});
    return this.#take();
  }

  /** Blocks that are open stay open: a client must not take half a call for a whole one. */
  fail({ id }: ResponseHead, { code, message, metadata }: ErrorBody['error']): string {
    const status = typeof code === 'number' ? code : 502;
    this.#emit('error', { error: messagesError(status, message, metadata ?? {}), request_id: id });
    return this.#take();
  }

  #open(head: ResponseHead): BlockBuilder {
    this.#builder = new BlockBuilder(this.#sink, this.#options.showsThoughts);
    const message = {
      id: head.id,
      type: 'message',
      role: 'assistant',
      model: head.model,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      stop_details: null,
      container: null,
      usage: startUsage(this.#options.estimate()),
    };
    this.#emit('message_start', { message });
    return this.#builder;
  }

  #emit(type: string, fields: Loose): void {
    this.#text += frame(type, fields);
  }

  #take(): string {
    const text = this.#text;
    this.#text = '';
    return text;
  }
}
