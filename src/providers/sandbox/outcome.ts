import type { UpstreamError } from '../../base/upstream-error.ts';

/** One token of a response: each is one streamed event, and counts one in the usage. */
export type Token =
  | { kind: 'content' | 'reasoning' | 'refusal' | 'arguments'; text: string }
  /** The start of a tool call; its arguments follow. */
  | { kind: 'call'; id: string; name: string };

export interface Choice {
  tokens: readonly Token[];
  finishReason: 'stop' | 'length' | 'tool_calls' | 'content_filter';
}

/** Milliseconds. */
export interface Pace {
  firstTokenMs: number;
  tokenMs: number;
}

/** What goes wrong on the way, after so many tokens of a choice. */
export interface Fault {
  kind: 'cut' | 'error' | 'silence' | 'reset' | 'bad-json';
  afterTokens: number;
}

/** A response that is played in time, as JSON or as a stream. */
export interface PlayedResponse {
  kind: 'response';
  choices: readonly Choice[];
  pace: Pace;
  fault: Fault | null;
  reportsUsage: boolean;
  /** true: all tokens of a choice come in one event. */
  inOneEvent: boolean;
}

/** What a sandbox model does with a request. */
export type Outcome =
  | PlayedResponse
  /** Sent as it is, whether a stream was asked for or not. */
  | { kind: 'document'; status: number; headers: Record<string, string>; body: string }
  /** No response, ever. */
  | { kind: 'silence' }
  /** No connection. */
  | { kind: 'unreachable'; error: UpstreamError };
