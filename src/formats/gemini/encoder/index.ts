import { GatewayError } from '../../../base/errors.ts';
import { stringifyExact } from '../../../base/exact-json.ts';
import { isObject, type Loose } from '../../../base/values.ts';
import { nativeBodyOf, nativeEventsOf } from '../../../call/native-events.ts';
import type { ReportedEnd, ResponseEncoder, ResponseHead } from '../../../call/response-encoder.ts';
import type { ChatResult } from '../../../schema/chat/chat.ts';
import type { ChatChunk } from '../../../schema/chat/chunk.ts';
import type { ErrorBody } from '../../../schema/chat/envelope.ts';
import { deltaOf } from '../../chunks.ts';
import { geminiError } from '../error.ts';
import { oneLine } from '../one-line.ts';
import { Candidate, logprobsResult } from './candidate.ts';
import { ForwardedEvents } from './forwarded.ts';
import { usageMetadata } from './usage.ts';

export interface GeminiEncoderOptions {
  /** The brand, which names the metadata field. */
  brand: string;
  /** `events`: server-sent events (`alt=sse`); `array`: one JSON array, whose elements are written one by one. */
  form: 'events' | 'array';
}

const brokenOff = 'Provider returned error: the response was broken off';

/** The Gemini wire: responses and events, made of chat results and chunks. Keeps state: one encoder serves one call. */
export function geminiEncoder(options: GeminiEncoderOptions): ResponseEncoder {
  const stream = new GeminiStream(options);
  let isUntouched = false;
  return {
    format: 'gemini',
    // A comment would be the end of the response for some clients: they look for `data:` at the start of their buffer.
    keepAlive: '\r\n\r\n',
    failsAlone: options.form === 'events',
    check({ choices }) {
      const failed = choices.find(({ finish_reason: reason }) => reason === 'error');
      if (failed !== undefined) throw new GatewayError('upstream_failed', failed.error?.message ?? brokenOff);
    },
    untouched() {
      isUntouched = true;
      stream.forward();
    },
    result(head, result, end) {
      const [first] = result.choices;
      const body = isUntouched && first !== undefined ? nativeBodyOf(first.message) : null;
      if (body === null) return resultOf(options, head, result, end);
      return { ...body, modelVersion: head.model, responseId: head.id, ...metadataField(options.brand, end) };
    },
    chunk: (chunk) => stream.chunk(chunk),
    debug: (head, upstreamBody) => stream.write(head, { debug: { echo_upstream_body: upstreamBody } }),
    finish: (head, end) => stream.finish(head, end),
    fail: (head, error) => stream.fail(head, error),
  };
}

function endFields(brand: string, end: ReportedEnd): Loose {
  const { usage } = end;
  return { ...(usage === null ? {} : { usageMetadata: usageMetadata(usage) }), ...metadataField(brand, end) };
}

function metadataField(brand: string, { metadata }: ReportedEnd): Loose {
  return metadata === undefined ? {} : { [`${brand}_metadata`]: metadata };
}

function resultOf(
  { brand }: GeminiEncoderOptions,
  head: ResponseHead,
  { choices }: ChatResult,
  end: ReportedEnd,
): Loose {
  const candidates = choices.map(({ index, message, finish_reason: reason, logprobs }) => {
    const candidate = new Candidate(index);
    const parts = candidate.add(deltaOf(message), reason);
    const last = candidate.end();
    return {
      content: { parts: [...parts, ...last.parts], role: 'model' },
      ...last.fields,
      index,
      ...logprobsResult(logprobs),
    };
  });
  return { candidates, ...endFields(brand, end), modelVersion: head.model, responseId: head.id };
}

/** The events of one response. The end is the event with `finishReason`: nothing else tells that it is complete. */
class GeminiStream {
  readonly #options: GeminiEncoderOptions;
  readonly #candidates = new Map<number, Candidate>();
  #error: ErrorBody['error'] | null = null;
  #hasBegun = false;
  #forwarded: ForwardedEvents | null = null;

  constructor(options: GeminiEncoderOptions) {
    this.#options = options;
  }

  /** The events of an upstream of this wire go on as they are, where they come. */
  forward(): void {
    this.#forwarded = new ForwardedEvents();
  }

  chunk(chunk: ChatChunk): string {
    const events = this.#forwarded === null ? null : nativeEventsOf(chunk);
    if (events !== null) return events.map(({ data }) => this.#forward(data, chunk)).join('');
    const candidates: Loose[] = [];
    for (const { index, delta, logprobs, finish_reason: reason, error } of chunk.choices) {
      const parts = this.#candidate(index).add(delta, reason);
      if (isObject(error)) this.#error = error as unknown as ErrorBody['error'];
      if (parts.length > 0) candidates.push({ content: { parts, role: 'model' }, index, ...logprobsResult(logprobs) });
    }
    return candidates.length === 0 ? '' : this.write(chunk, { candidates });
  }

  finish(head: ResponseHead, end: ReportedEnd): string {
    const failed = [...this.#candidates.values()].some(({ reason }) => reason === 'error');
    if (failed || this.#error !== null) return this.fail(head, this.#error ?? { code: 502, message: brokenOff });
    const held = this.#forwarded?.end(metadataField(this.#options.brand, end)) ?? [];
    const text = held.length > 0 ? this.#endForwarded(head, held) : this.#endMade(head, end);
    return this.#options.form === 'array' ? `${text}]` : text;
  }

  #endMade(head: ResponseHead, end: ReportedEnd): string {
    if (this.#candidates.size === 0) this.#candidate(0);
    const candidates = [...this.#candidates.values()].map((candidate) => {
      const { parts, fields } = candidate.end();
      return { content: { parts, role: 'model' }, ...fields, index: candidate.index };
    });
    return this.write(head, { candidates, ...endFields(this.#options.brand, end) });
  }

  /** Some events may have been written anew, because they held a secret: what waits of these comes first. */
  #endForwarded(head: ResponseHead, held: readonly string[]): string {
    const candidates = [...this.#candidates.values()].flatMap((candidate) => {
      const { index } = candidate;
      const { parts, fields } = candidate.end();
      const hasEnd = this.#forwarded?.hasEnd(index) === true;
      if (hasEnd && parts.length === 0) return [];
      return [{ content: { parts, role: 'model' }, ...(hasEnd ? {} : fields), index }];
    });
    const made = candidates.length === 0 ? '' : this.write(head, { candidates });
    return made + held.map((json) => this.#event(json)).join('');
  }

  #forward(data: string, head: Pick<ResponseHead, 'id' | 'model'>): string {
    const json = (this.#forwarded as ForwardedEvents).take(data, head);
    return json === null ? '' : this.#event(json);
  }

  /**
   * Writes the error bare, without `data:`: that is how clients of this wire find it. An array stays open. No blank line
   * follows: a client that gets it in one piece with the event before would skip it as an event without data, and take the
   * response for complete; bytes that are left over are an error to all of them.
   */
  fail(_: ResponseHead, { code, message, metadata }: ErrorBody['error']): string {
    const status = typeof code === 'number' ? code : 502;
    const { retry_after_ms: waitMs, ...others }: Loose = metadata ?? {};
    const retryAfterMs = typeof waitMs === 'number' ? waitMs : undefined;
    const json = oneLine(JSON.stringify({ error: geminiError(status, message, others, retryAfterMs) }));
    return this.#options.form === 'array' ? this.#element(json) : json;
  }

  /** Writes an event with the head of its response. */
  write({ id, model }: Pick<ResponseHead, 'id' | 'model'>, fields: Loose): string {
    return this.#event(stringifyExact({ ...fields, modelVersion: model, responseId: id }));
  }

  #event(json: string): string {
    const line = oneLine(json);
    return this.#options.form === 'array' ? this.#element(line) : `data: ${line}\r\n\r\n`;
  }

  #element(json: string): string {
    const before = this.#hasBegun ? ',\r\n' : '[';
    this.#hasBegun = true;
    return before + json;
  }

  #candidate(index: number): Candidate {
    let candidate = this.#candidates.get(index);
    if (candidate === undefined) {
      candidate = new Candidate(index);
      this.#candidates.set(index, candidate);
    }
    return candidate;
  }
}
