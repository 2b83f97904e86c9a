import type { UpstreamError } from '../../base/http/upstream-error.ts';

/** One token of a response: each is one streamed event, and counts one in the usage. */
export type Token =
  | { kind: 'content' | 'reasoning' | 'refusal'; text: string }
  /** The start of a tool call; its arguments follow. `call` counts the calls of a choice, from 0. */
  | { kind: 'call'; call: number; id: string; name: string }
  | { kind: 'arguments'; call: number; text: string };

export interface Choice {
  tokens: readonly Token[];
  finishReason: 'stop' | 'length' | 'tool_calls' | 'content_filter';
}

/** The pace of a response, in milliseconds. */
export interface Pace {
  firstTokenMs: number;
  tokenMs: number;
}

/** A fault after so many tokens of a choice. */
export interface Fault {
  kind: 'cut' | 'error' | 'silence' | 'reset' | 'bad-json';
  afterTokens: number;
  /** The error with which the kind `error` breaks; as JSON it is the complete response. */
  error?: Document;
}

/** A response that is sent unchanged, as a stream or not. */
export interface Document {
  kind: 'document';
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** Token counts that a response reports in place of the sandbox's own. */
export interface ReportedUsage {
  promptTokens?: number | undefined;
  completionTokens?: number | undefined;
  cachedTokens?: number | undefined;
  reasoningTokens?: number | undefined;
}

/** A response that is played in time, as JSON or as a stream. */
export interface PlayedResponse {
  kind: 'response';
  choices: readonly Choice[];
  pace: Pace;
  fault: Fault | null;
  reportsUsage: boolean;
  usage?: ReportedUsage;
  /** true: all tokens of a choice come in one event. */
  inOneEvent: boolean;
}

/** The reaction of a sandbox model to a request. */
export type Outcome =
  | PlayedResponse
  | Document
  /** No response, ever. */
  | { kind: 'silence' }
  /** No connection. */
  | { kind: 'unreachable'; error: UpstreamError };
