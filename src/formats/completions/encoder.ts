import { GatewayError } from '../../base/errors.ts';
import { doneFrame, encodeEvent } from '../../base/http/sse.ts';
import { isObject, type Loose } from '../../base/values.ts';
import type { ReportedEnd, ResponseEncoder, ResponseHead } from '../../call/response-encoder.ts';
import type { ChatResult, FinishReason, Logprobs } from '../../schema/chat/chat.ts';
import type { ChatChunk } from '../../schema/chat/chunk.ts';
import type { ErrorBody } from '../../schema/chat/envelope.ts';
import { textLogprobs } from './logprobs.ts';

/** The place of a response among those of one request, as its encoder asks for it. */
export interface JoinedPart {
  /** `gen-…`, as the client sees it in each of them. */
  readonly id: string;
  /** The number of its prompt. */
  readonly prompt: number;
  /** The number of its texts. */
  readonly texts: number;
  /** The place of its first text among those of all prompts. */
  readonly firstIndex: number;
  /** Notes that there is something of it. */
  begins(): void;
  /** Takes its end. @returns the fields of the end of all; null: others have not ended */
  ended(head: ResponseHead, end: ReportedEnd): Loose | null;
  /** Notes that it has failed. */
  failed(): void;
}

export interface CompletionsEncoderOptions {
  /** The brand, which names the metadata field and the keep-alive comment. */
  brand: string;
  /** The text that stands before each completion; '': none. Asked when the first one begins. */
  echo: () => string;
  /** The place of the response among those of one request; absent: it is the only one. */
  joined?: JoinedPart | undefined;
}

/** The parts of a message, or of a delta, that decide about its text. */
interface Said {
  content?: unknown;
  refusal?: string | null | undefined;
  tool_calls?: readonly unknown[] | undefined;
  images?: readonly unknown[] | undefined;
  audio?: unknown;
}

/** The text completion wire, made of chat results and chunks. Keeps state: one encoder serves one call. */
export function completionsEncoder(options: CompletionsEncoderOptions): ResponseEncoder {
  const stream = new TextStream(options);
  return {
    format: 'completions',
    keepAlive: `: ${options.brand.toUpperCase()} PROCESSING\n\n`,
    check(result) {
      for (const choice of result.choices) {
        const text = new ChoiceText(choice.index, '');
        text.add(choice.message, null);
        text.end(choice.finish_reason, choice.native_finish_reason, choice.error);
        if (text.fault !== null) throw new GatewayError('upstream_failed', text.fault.message);
      }
    },
    result: (head, result, end) => resultOf(options, head, result, end),
    chunk: (chunk) => stream.chunk(chunk),
    debug: (head, upstreamBody) => stream.write(head, { choices: [], debug: { echo_upstream_body: upstreamBody } }),
    finish: (head, end) => stream.finish(head, end),
    fail: (head, error, end) => stream.fail(head, error, end),
  };
}

function resultOf(
  { brand, echo, joined }: CompletionsEncoderOptions,
  head: ResponseHead,
  result: ChatResult,
  end: ReportedEnd,
): Loose {
  const own = result.choices.filter(({ index }) => isOwn(index, joined));
  const choices = own.map(({ index, message, logprobs, finish_reason: reason, native_finish_reason: word }) => {
    const text = new ChoiceText(index + (joined?.firstIndex ?? 0), echo());
    const said = text.add(message, logprobs);
    text.end(reason, word);
    const begun = text.opening() + said.text;
    return { ...text.last(), text: begun, logprobs: said.logprobs };
  });
  const fields = joined === undefined ? endFields(brand, end) : joined.ended(head, end);
  return { ...headOf(head, joined), ...tierOf(result), choices, ...fields };
}

/** false: a provider made more texts than were asked for, and their places are those of another prompt. */
function isOwn(index: number, joined: JoinedPart | undefined): boolean {
  return joined === undefined || index < joined.texts;
}

function headOf({ id, created, model, provider }: ResponseHead, joined: JoinedPart | undefined): Loose {
  return { id: joined?.id ?? id, object: 'text_completion', created, model, provider };
}

function tierOf(said: Pick<ChatChunk, 'service_tier'> & { system_fingerprint?: string | null | undefined }): Loose {
  const { system_fingerprint: fingerprint, service_tier: tier } = said;
  return {
    ...(typeof fingerprint === 'string' ? { system_fingerprint: fingerprint } : {}),
    ...(typeof tier === 'string' ? { service_tier: tier } : {}),
  };
}

function endFields(brand: string, { usage, metadata }: Partial<ReportedEnd>): Loose {
  return { ...(usage ? { usage } : {}), ...(metadata === undefined ? {} : { [`${brand}_metadata`]: metadata }) };
}

/**
 * The events of one response. The reasons why its texts ended come with its last event alone, so that no text that breaks
 * off has one.
 */
class TextStream {
  readonly #options: CompletionsEncoderOptions;
  readonly #choices = new Map<number, ChoiceText>();

  constructor(options: CompletionsEncoderOptions) {
    this.#options = options;
  }

  chunk(chunk: ChatChunk): string {
    this.#options.joined?.begins();
    const choices: Loose[] = [];
    for (const { index, delta, logprobs, finish_reason: reason, native_finish_reason: word, error } of chunk.choices) {
      if (!isOwn(index, this.#options.joined)) continue;
      const choice = this.#choice(index);
      const said = choice.add(delta, logprobs);
      choice.end(reason, word, error);
      if (said.text !== '' || said.logprobs !== null)
        choices.push({
          index: choice.index,
          text: choice.opening() + said.text,
          logprobs: said.logprobs,
          finish_reason: null,
        });
    }
    if (choices.length === 0) return '';
    const { id, created, model, provider = '' } = chunk;
    return this.write({ id, created, model, provider }, { ...tierOf(chunk), choices });
  }

  finish(head: ResponseHead, end: ReportedEnd): string {
    if (this.#choices.size === 0) this.#choice(0);
    const all = [...this.#choices.values()].sort((one, other) => one.index - other.index);
    const fault = all.find((one) => one.fault !== null)?.fault;
    if (fault) return this.fail(head, fault, end);
    const choices = all.map((one) => one.last());
    const { brand, joined } = this.#options;
    if (joined === undefined) return this.write(head, { choices, ...endFields(brand, end) }) + doneFrame;
    const last = joined.ended(head, end);
    return this.write(head, { choices, ...last }) + (last === null ? '' : doneFrame);
  }

  /**
   * Writes the error without `choices` and without the sentinel: clients that look for a choice first would otherwise
   * take the event for an empty one, and the response for complete.
   */
  fail(head: ResponseHead, error: ErrorBody['error'], end: Partial<ReportedEnd>): string {
    const { brand, joined } = this.#options;
    if (joined === undefined) return this.write(head, { error, ...endFields(brand, end) });
    joined.failed();
    // The others are stopped after this: nobody knows yet what all of them have used.
    return this.write(head, { error: { ...error, metadata: { ...error.metadata, prompt: joined.prompt } } });
  }

  /** Writes an event with the head of its response. */
  write(head: ResponseHead, fields: Loose): string {
    return encodeEvent(JSON.stringify({ ...headOf(head, this.#options.joined), ...fields }));
  }

  #choice(index: number): ChoiceText {
    let choice = this.#choices.get(index);
    if (choice === undefined) {
      choice = new ChoiceText(index + (this.#options.joined?.firstIndex ?? 0), this.#options.echo());
      this.#choices.set(index, choice);
    }
    return choice;
  }
}

/** One text: what has come of it, and whether it is whole. */
class ChoiceText {
  readonly index: number;
  /** The echo, until it was written. */
  #opening: string;
  #offset = 0;
  #reason: FinishReason | null = null;
  #word: string | null = null;
  #isRefused = false;
  /** The output that no text can hold; null: there was none. */
  #lost: string | null = null;
  #error: ErrorBody['error'] | null = null;

  constructor(index: number, opening: string) {
    this.index = index;
    this.#opening = opening;
  }

  /** Takes more of the message. Thoughts and refusals are no part of the text. */
  add({ content, refusal, tool_calls: calls, images, audio }: Said, logprobs: Logprobs | null | undefined) {
    if (typeof refusal === 'string' && refusal !== '') this.#isRefused = true;
    if (calls && calls.length > 0) this.#lost = 'a call of a tool';
    else if (images && images.length > 0) this.#lost = 'an image';
    else if (audio) this.#lost = 'sound';
    else if (Array.isArray(content) && !content.every(isTextPart)) this.#lost = 'a part that is no text';
    const read = logprobs ? textLogprobs(logprobs, this.#offset) : null;
    if (read !== null) this.#offset = read.end;
    return { text: textIn(content), logprobs: read?.written ?? null };
  }

  end(reason: FinishReason | null, word: string | null | undefined, error?: unknown): void {
    if (reason !== null) this.#reason = reason;
    if (typeof word === 'string') this.#word = word;
    if (isObject(error)) this.#error = error as unknown as ErrorBody['error'];
  }

  /** Returns the text before the completion, once. */
  opening(): string {
    const opening = this.#opening;
    this.#opening = '';
    return opening;
  }

  /** The error for which the text is not whole; null: it is whole. */
  get fault(): ErrorBody['error'] | null {
    if (this.#error !== null) return this.#error;
    if (this.#reason === null || this.#reason === 'error')
      return { code: 502, message: 'Provider returned error: the response was broken off' };
    if (this.#lost === null) return null;
    return { code: 502, message: `The model responded with ${this.#lost}, which a text completion cannot hold` };
  }

  /** The end of the text. */
  last(): Loose {
    return {
      index: this.index,
      text: this.opening(),
      logprobs: null,
      finish_reason: this.#finishReason(),
      native_finish_reason: this.#word,
    };
  }

  #finishReason(): 'stop' | 'length' | 'content_filter' {
    if (this.#reason === 'content_filter' || this.#isRefused) return 'content_filter';
    return this.#reason === 'length' ? 'length' : 'stop';
  }
}

function textIn(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map((part) => (isTextPart(part) ? part.text : '')).join('');
}

function isTextPart(part: unknown): part is { text: string } {
  return isObject(part) && typeof part.text === 'string';
}
