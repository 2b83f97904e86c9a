import * as z from 'zod';
import { lazily } from '../../base/lazily.ts';
import { expectation } from '../../schema/chat/expectations.ts';
import type { SandboxMessage } from './request.ts';

/** A request as a provider of the script received it. */
export interface ScriptRequest {
  /** The number of the request in the script, from 1. A retry is a request of its own. */
  number: number;
  /** Slug of the provider that received the request. */
  provider: string;
  /** The provider's own name for the model. */
  model: string;
  /** The conversation, as it was sent to the provider. */
  messages: readonly SandboxMessage[];
  /** The text of the last message with the role `user`; '' without one. */
  lastUserMessage: string;
  /** true: the request asks for a stream. */
  stream: boolean;
  /** Names of the function tools on offer. */
  tools: readonly string[];
  /** The complete body, as it was sent to the provider. */
  body: Readonly<Record<string, unknown>>;
  /** The time by the gateway's clock, in milliseconds since the epoch. */
  atMs: number;
}

const ms = lazily(() => z.int().min(0).max(600_000));
const tokens = lazily(() => z.int().min(0).max(100_000_000));
const matcher = lazily(() =>
  z.custom<string | RegExp>(
    (value) => (typeof value === 'string' && value !== '') || value instanceof RegExp,
    expectation('expected a text or a regular expression'),
  ),
);
const func = <T>(text: `expected ${string}`) => z.custom<T>((value) => typeof value === 'function', expectation(text));
const json = lazily(() => z.custom<unknown>(isJson, expectation('expected a value that JSON can hold')).optional());

function isJson(value: unknown): boolean {
  try {
    return value === undefined || JSON.stringify(value) !== undefined;
  } catch {
    return false;
  }
}

const conditions = lazily(() =>
  z.strictObject({
    /** The provider's name for the model, or the same after the provider's slug: `echo` or `sandbox/echo`. */
    model: matcher().optional(),
    /** The text or pattern that the last message of the user contains. */
    lastUserMessage: matcher().optional(),
    /** true: streams only; false: JSON only. */
    stream: z.boolean().optional(),
  }),
);

export type Conditions = z.infer<ReturnType<typeof conditions>>;

/** The response to a request. */
const saidFields = lazily(() =>
  z.strictObject({
    /** The text of the response. */
    text: z.string().optional(),
    /** A text that is this value as JSON, for structured outputs. */
    json: json(),
    /** The reasoning, which comes before the text. */
    reasoning: z.string().optional(),
    /** The reason why the model refuses; in place of a text. */
    refusal: z.string().optional(),
    /** Tools that the model calls. */
    toolCalls: z
      .array(
        z.strictObject({
          /** Name of the tool. */
          name: z.string().min(1),
          /** An object; or the text to send, which may be broken JSON. Default `{}`. */
          arguments: z.union([z.string(), z.record(z.string(), z.unknown())]).optional(),
          /** Default: made from the number of the request. */
          id: z.string().min(1).optional(),
        }),
      )
      .min(1)
      .max(128)
      .optional(),
    /** The finish reason. Default `tool_calls` with tool calls, else `stop`. */
    finishReason: z.enum(['stop', 'length', 'tool_calls', 'content_filter']).optional(),
    /** The reported usage. Default: the sandbox's own count. false: none. */
    usage: z
      .union([
        z.literal(false),
        z.strictObject({
          /** Tokens of the prompt. */
          promptTokens: tokens().optional(),
          /** Tokens of the response, reasoning included. */
          completionTokens: tokens().optional(),
          /** Tokens of the prompt that were read from a cache. */
          cachedTokens: tokens().optional(),
          /** Tokens of the response that are reasoning. */
          reasoningTokens: tokens().optional(),
        }),
      ])
      .optional(),
    /** Time until the first token or the failure. Default 0. */
    firstTokenMs: ms().optional(),
    /** Time from one token to the next. Default 0. */
    tokenMs: ms().optional(),
    /** The provider refuses the request with this status. */
    error: z
      .strictObject({
        /** HTTP status. */
        status: z.int().min(400).max(599),
        /** The provider's message. */
        message: z.string().optional(),
        /** The provider's code. */
        code: z.string().optional(),
        /** `Retry-After`, in seconds. */
        retryAfter: z.int().min(0).max(86_400).optional(),
      })
      .optional(),
    /**
     * The response breaks: `cut` ends early, `error` sends an error event, `reset` loses the connection, `silence`
     * sends nothing more. `unreachable`: there is no connection; `timeout`: there is no response at all.
     */
    fault: z
      .strictObject({
        /** The kind of the fault. */
        kind: z.enum(['cut', 'error', 'reset', 'silence', 'unreachable', 'timeout']),
        /** The number of tokens before the fault. Default: all of them. */
        afterTokens: tokens().optional(),
        /** The message of the kind `error`. */
        message: z.string().optional(),
        /** The status of the kind `error`, as JSON. Default 500. */
        status: z.int().min(400).max(599).optional(),
      })
      .optional(),
  }),
);

/** The possible results of `respond`. */
export const saidSchema = lazily(() => saidFields().check(checkContradictions));

/** The response of a provider to a request. */
export interface SaidAnswer extends z.input<ReturnType<typeof saidFields>> {}
export type CheckedSaid = z.output<ReturnType<typeof saidFields>>;

/** The result of `respond`; a text alone is short for `{ text }`. */
export type GivenAnswer = string | SaidAnswer;
export type Respond = (request: ScriptRequest) => GivenAnswer | Promise<GivenAnswer>;
type Predicate = (request: ScriptRequest) => boolean;

/** One answer of a script, with the requests that it answers. */
export const answerSchema = lazily(() =>
  z
    .strictObject({
      /** The requests that it answers. Default: every one. */
      when: z.union([func<Predicate>('expected a function: (request) => boolean'), conditions()]).optional(),
      /** The number of requests that it answers. Default 1. */
      times: z.union([z.int().min(1), z.literal('always')]).optional(),
      ...saidFields().shape,
      /** Makes the answer from the request. */
      respond: func<Respond>('expected a function: (request) => answer').optional(),
    })
    .check(checkContradictions),
);

/** The answer of a script to a request. */
export interface SandboxAnswer extends z.input<ReturnType<typeof answerSchema>> {}
export type CheckedAnswer = z.output<ReturnType<typeof answerSchema>>;

const says = ['text', 'json', 'reasoning', 'refusal', 'toolCalls'] as const;
const tunes = ['finishReason', 'usage', 'tokenMs'] as const;

interface Checkable {
  readonly [field: string]: unknown;
  fault?: { kind: string } | undefined;
}

function checkContradictions({ value, issues }: z.core.ParsePayload<Checkable>): void {
  for (const { path, message } of contradictionsOf(value))
    issues.push({ code: 'custom', path: [path], message: expectation(message), input: undefined });
}

/** Finds contradictions, because no part of an answer may be without effect. */
function* contradictionsOf(answer: Checkable): Generator<{ path: string; message: `expected ${string}` }> {
  const has = (name: string) => answer[name] !== undefined;
  const kinds = [...says, 'error', 'fault', 'respond'];
  if (!kinds.some(has))
    yield {
      path: 'text',
      message: 'expected an answer: text, json, toolCalls, reasoning, refusal, error, fault or respond',
    };
  if (has('text') && has('json')) yield { path: 'json', message: 'expected nothing: the answer has a text' };
  if (has('respond') && [...kinds, ...tunes, 'firstTokenMs'].some((name) => name !== 'respond' && has(name)))
    yield { path: 'respond', message: 'expected only when and times beside it' };
  const spoken = [...says, ...tunes];
  if (has('error') && [...spoken, 'fault'].some(has))
    yield { path: 'error', message: 'expected only when, times and firstTokenMs beside it' };
  const { fault } = answer;
  if (!fault) return;
  const details: Readonly<Record<string, unknown>> = { ...fault };
  const isWithoutResponse = fault.kind === 'unreachable' || fault.kind === 'timeout';
  if (isWithoutResponse && (spoken.some(has) || details.afterTokens !== undefined))
    yield { path: 'fault', message: 'expected no response beside this kind' };
  if (fault.kind === 'timeout' && has('firstTokenMs'))
    yield { path: 'firstTokenMs', message: 'expected nothing: no response ever comes' };
  if (fault.kind !== 'error' && (details.message !== undefined || details.status !== undefined))
    yield { path: 'fault', message: 'expected message and status only of the kind "error"' };
}
