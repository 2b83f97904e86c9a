import type { UpstreamError } from '../base/upstream-error.ts';
import type { ChatRequest, ChatResult, Usage } from '../schema/chat.ts';
import type { ChatChunk } from '../schema/chunk.ts';

/** What differs at one provider from the plain dialect. A branch on a provider's slug is a missing quirk. */
export interface Quirks {
  /** Request fields the provider refuses; they are left out. */
  dropParams?: readonly string[];
  /** The field for the largest output. Default `max_tokens`, which nearly every server takes. */
  maxTokensField?: 'max_tokens' | 'max_completion_tokens';
  /** The provider refuses a smaller `max_tokens`; a smaller one is raised to it. */
  minMaxTokens?: number;
  /** true: takes `developer` messages; else they are sent as `system`, which every server takes. */
  developerRole?: boolean;
  /** false: the provider refuses `stream_options`, and sends usage, if at all, unasked. */
  streamOptions?: boolean;
  /** true: its streams end with `[DONE]` alone, without a finish_reason, when they are whole. */
  finishesWithoutReason?: boolean;
}

export interface DialectRequest {
  /** As the caller sent it, validated. Not to be changed. */
  request: ChatRequest;
  /** The provider's own name for the model. */
  upstreamModel: string;
  quirks: Quirks;
}

/** What goes to the provider, before authentication, which may sign it. */
export interface EncodedRequest {
  /** Appended to the provider's base URL. */
  path: string;
  headers: Record<string, string>;
  /** The body as an object: for the debug chunk. `body` is its serialisation. */
  payload: Record<string, unknown>;
  body: string;
  /** Request fields this dialect or the provider's quirks left out. */
  dropped: readonly string[];
}

/** A whole answer in our wire shape; `id`, `model` and `provider` are set later. `usage` is what the provider said. */
export interface DecodedResult {
  result: ChatResult;
  usage: Usage | null;
}

/** What one event of an upstream stream means. */
export type StreamPart =
  /** In our wire shape, without usage; `id`, `model` and `provider` are set later. */
  | { kind: 'chunk'; chunk: ChatChunk }
  /** Replaces what an earlier part said: some providers count up. */
  | { kind: 'usage'; usage: Usage }
  /** The provider broke off. */
  | { kind: 'error'; error: UpstreamError }
  /** The provider says that the stream is whole. */
  | { kind: 'done' };

/** One per stream; may remember what earlier events said. */
export interface StreamDecoder {
  /**
   * @param data   payload of one event, without framing
   * @param event  the frame's event name, '' without one
   * @throws UpstreamError bad_response for what is no event of this dialect
   */
  decode(data: string, event: string): StreamPart[];
}

/**
 * A wire format spoken to an upstream. A dialect is pure: request in, bytes out; bytes in, our wire shapes out.
 * Framing is apart from meaning: `framing` says how a stream is cut into events, `decode` what an event means.
 *
 * @example
 * const { path, body } = openaiChat.encodeRequest({ request, upstreamModel: 'gpt-4.1', quirks: {} });
 * const { result, usage } = openaiChat.decodeResult(await answer.json());
 * const decoder = openaiChat.streamDecoder({});
 * for (const event of events) for (const part of decoder.decode(event.data, event.name)) …
 */
export interface Dialect {
  name: string;
  framing: 'sse';
  /** true: its stream events are our chunks but for id, model and details, and may travel the passthrough lane. */
  nativeChunks: boolean;
  encodeRequest(input: DialectRequest): EncodedRequest;
  /** @throws UpstreamError bad_response when the body is no result of this dialect, or is an error with a success status */
  decodeResult(body: unknown, quirks: Quirks): DecodedResult;
  streamDecoder(quirks: Quirks): StreamDecoder;
  /** Reads the provider's error shape. `body` is bounded text of any kind: JSON, HTML, empty. */
  decodeError(status: number, headers: Record<string, string>, body: string, nowMs: number): UpstreamError;
}
