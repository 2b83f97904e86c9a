import type { ChatResult, Usage } from '../schema/chat.ts';
import type { ChatChunk } from '../schema/chunk.ts';
import type { ErrorBody, ServiceMetadata } from '../schema/envelope.ts';

/** What a stream says of itself when it ends. */
export interface StreamEnd {
  usage: Usage;
  /** Present when the caller asked for it. */
  metadata?: ServiceMetadata;
}

/** The head that all chunks of one answer share. */
export interface ResponseHead {
  id: string;
  created: number;
  /** The gateway's slug of the model that serves. */
  model: string;
  /** Display name of the provider that serves. */
  provider: string;
}

/**
 * The wire format the client is answered in; an object per call where it keeps state. Stream methods return the text
 * of whole frames.
 */
export interface ResponseEncoder {
  /** true: its stream chunks are chat chunks, so an upstream's may be forwarded as bytes. */
  chunksAreChat: boolean;
  /** The body of a whole answer. */
  result(head: ResponseHead, result: ChatResult, end: StreamEnd): unknown;
  chunk(chunk: ChatChunk): string;
  /** Shows the body that was sent upstream, before the first chunk. */
  debug(head: ResponseHead, upstreamBody: Record<string, unknown>): string;
  /** Closes a whole stream: usage, metadata, the sentinel. */
  finish(head: ResponseHead, end: StreamEnd): string;
  /** Closes a stream that broke: says so, and never looks like the end of a whole one. */
  fail(head: ResponseHead, error: ErrorBody['error'], end: Partial<StreamEnd>): string;
  /** A comment that keeps the connection alive. */
  keepAlive: string;
}
