import type { GatewayError } from '../base/errors.ts';
import type { ChatRequest, ChatResult, Usage } from '../schema/chat/chat.ts';
import type { ChatChunk } from '../schema/chat/chunk.ts';
import type { ErrorBody, ServiceMetadata } from '../schema/chat/envelope.ts';
import type { WireFormat } from './native.ts';
import type { NativeEvent } from './native-events.ts';

/** The facts that the end of a response reports. */
export interface ReportedEnd {
  /** Tokens and cost; null: nothing is known. */
  usage: Usage;
  /** The routing metadata; present when the caller asked for it. */
  metadata?: ServiceMetadata;
}

/** The head that all chunks of one response share. */
export interface ResponseHead {
  /** `gen-…`, as the client sees it. */
  id: string;
  /** Unix seconds. */
  created: number;
  /** The gateway's slug of the model that serves. */
  model: string;
  /** Display name of the provider that serves. */
  provider: string;
}

/**
 * The wire format the client gets; an object per call where it keeps state. Stream methods return the text of complete
 * frames.
 */
export interface ResponseEncoder {
  /** The wire format: a stream of an upstream that speaks the same one may be forwarded as bytes. */
  format: WireFormat;
  /**
   * Checks a complete response before it counts as one.
   * @throws GatewayError where the client can do nothing with it
   */
  check?(result: ChatResult): void;
  /**
   * Called before the first chunk or the result, where citations of a text may come after the text has ended: a plugin
   * or a search of the gateway adds them.
   */
  expectCitations?(): void;
  /**
   * Learns the request that is served, before the first chunk or the result: the caller's, with the changes of plugins and
   * the defaults of the model. A response may repeat its values.
   */
  served?(request: ChatRequest): void;
  /**
   * Called before the first chunk or the result, where it comes as the upstream's dialect has made it: no plugin and no
   * guardrail looks at it, and no other generation belongs to the response.
   */
  untouched?(): void;
  /**
   * Returns the fields in which an event of an upstream of this format has text of the response, where events like it go on as
   * they came: what the encoder changes in one stands outside of the text, and is the same in another that differs in the
   * text alone. `chunk` writes one any number of times. Empty: such events have to be decoded. Absent: no event of this format goes on so.
   */
  textFields?(event: NativeEvent): readonly string[];
  /** Returns the body of a complete response. */
  result(head: ResponseHead, result: ChatResult, end: ReportedEnd): unknown;
  /** Returns a chunk, with the head of its response in it. */
  chunk(chunk: ChatChunk): string;
  /** Shows the body that was sent upstream, before the first chunk. */
  debug(head: ResponseHead, upstreamBody: Record<string, unknown>): string;
  /** Closes a complete stream: usage, metadata, the sentinel. */
  finish(head: ResponseHead, end: ReportedEnd): string;
  /** Closes a stream that broke: reports the error, and never looks like the end of a complete one. */
  fail(head: ResponseHead, error: ErrorBody['error'], end: Partial<ReportedEnd>): string;
  /** true: clients read the error only where it arrives by itself, a moment after the last event. Default: false. */
  failsAlone?: boolean;
  /**
   * Tells whether clients of this format look for the error inside of a stream, and not in an HTTP error. true: a
   * stream that fails before its first event begins with status 200, and fails. Default: false for every error.
   */
  failsInStream?(error: GatewayError): boolean;
  /** A comment that keeps the connection alive. */
  keepAlive: string;
}
