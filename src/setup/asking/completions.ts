import type { GatewayError } from '../../base/errors.ts';
import { refusal } from '../../base/refusal.ts';
import { isObject } from '../../base/values.ts';
import type { Caller } from '../../call/call.ts';
import type { OperationReply } from '../../call/reply.ts';
import type { AskedWith } from '../../http/edge.ts';
import type { ListedOperation } from '../../operations/operation.ts';
import type { ChatRequest, ChatResult } from '../../schema/chat/chat.ts';
import type { ChatChunk } from '../../schema/chat/chunk.ts';
import type { ChoiceError } from '../../schema/chat/result.ts';
import type { TextCompletionRequest } from '../../schema/completions/request.ts';
import type { TextCompletionChunk, TextCompletionResult } from '../../schema/completions/result.ts';
import type { ResponsesEvent } from '../../schema/responses/events.ts';
import type { ResponsesRequest } from '../../schema/responses/responses.ts';
import type { ResponsesResult } from '../../schema/responses/result.ts';
import { type CompletionStream, completionStream, type EventMeaning, reportedError } from './stream.ts';

/** The parts of a request that are not its body. */
export interface CompletionOptions {
  /** Its abort stops the call, and the function or the stream throws its reason. What was used is paid for. */
  signal?: AbortSignal | undefined;
  /** Headers as of a request, such as `x-session-id`. A key among them is not read: the caller is known. */
  headers?: HeadersInit | undefined;
}

/**
 * A function that asks a model. `stream: true` in the body asks for a stream.
 * @throws GatewayError of which a response would tell; the reason of the signal, once that is aborted
 */
export interface CreateCompletion<Body extends object, Result, Chunk> {
  (body: Body & { stream: true }, options?: CompletionOptions): Promise<CompletionStream<Chunk>>;
  (body: Body & { stream?: false | undefined }, options?: CompletionOptions): Promise<Result>;
  (body: Body, options?: CompletionOptions): Promise<Result | CompletionStream<Chunk>>;
}

/** The functions that ask models, with the bodies of the interface. */
export interface Completions {
  /** Chat completions. */
  readonly chat: {
    /** Chat completions. */
    readonly completions: {
      /** As POST /chat/completions. */
      readonly create: CreateCompletion<ChatRequest, ChatResult, ChatChunk>;
    };
  };
  /** Text completions. */
  readonly completions: {
    /** As POST /completions. */
    readonly create: CreateCompletion<TextCompletionRequest, TextCompletionResult, TextCompletionChunk>;
  };
  /** Responses. */
  readonly responses: {
    /** As POST /responses. A stream that fails gives the event `response.failed`, and then throws. */
    readonly create: CreateCompletion<ResponsesRequest, ResponsesResult, ResponsesEvent>;
  };
}

/** Runs an operation that may stream; see `Edge.ask`. */
export type AskOperation = (
  operation: ListedOperation,
  given: unknown,
  caller: Caller,
  of: AskedWith,
) => Promise<OperationReply>;

/** The response to a question in process. */
export interface Asked<Result, Chunk> {
  /** Response headers, with names in lower case. */
  headers: Readonly<Record<string, string>>;
  /** The content of the response. */
  content: Result | CompletionStream<Chunk>;
}

/** Asks for a completion as one caller. */
export type AskFor<Result, Chunk> = (body: unknown, options?: CompletionOptions) => Promise<Asked<Result, Chunk>>;

export type AskChat = AskFor<ChatResult, ChatChunk>;

/** @param brand  names the field with the routing of a chat completion */
export function createCompletions(operations: readonly ListedOperation[], ask: AskOperation, brand: string) {
  const named = (name: string) => operations.find((one) => one.name === name) as ListedOperation;
  const [chat, texts] = [named('createChatCompletion'), named('createCompletion')];
  const responses = named('createResponse');
  const ofChat = chunkMeaning<ChatChunk>(`${brand}_metadata`);
  const ofTexts = chunkMeaning<TextCompletionChunk>(`${brand}_metadata`);
  const askChat = (caller: Caller): AskChat => askWith(ask, chat, caller, ofChat);
  return {
    askChat,
    completions(caller: Caller): Completions {
      const askResponses = askWith<ResponsesResult, ResponsesEvent>(ask, responses, caller, ofResponses);
      const askTexts = askWith<TextCompletionResult, TextCompletionChunk>(ask, texts, caller, ofTexts);
      return {
        chat: { completions: { create: contentOf(askChat(caller)) } },
        completions: { create: contentOf(askTexts) },
        responses: { create: contentOf(askResponses) },
      };
    },
  };
}

/** Returns the function for the content of the responses alone. */
export function contentOf<Body extends object, Result, Chunk>(
  asked: AskFor<Result, Chunk>,
): CreateCompletion<Body, Result, Chunk> {
  const create = async (body: unknown, options?: CompletionOptions) => (await asked(body, options)).content;
  return create as CreateCompletion<Body, Result, Chunk>;
}

/**
 * The body goes through JSON, as over a network: the caller may change its own objects meanwhile, and gets objects that
 * nobody else has.
 * @param read  reads a body of another form
 */
export function askWith<Result, Chunk>(
  ask: AskOperation,
  operation: ListedOperation,
  caller: Caller,
  meaning: EventMeaning<Chunk>,
  read: (body: unknown) => unknown = jsonOf,
): AskFor<Result, Chunk> {
  return async (body, options) => {
    const { signal, headers } = checkedOptions(options);
    signal?.throwIfAborted();
    const reply = await ask(operation, await read(body), caller, { headers, signal });
    const named = { ...reply.headers };
    if (reply.kind === 'stream')
      return { headers: named, content: completionStream(reply.body, named, meaning, signal) };
    signal?.throwIfAborted();
    return { headers: named, content: JSON.parse(JSON.stringify(reply.body)) as Result };
  };
}

/** Returns the text of a body. @throws GatewayError invalid_request (400) for what JSON has no place for */
export function jsonOf(body: unknown): string {
  if (!isObject(body)) throw refusal('invalid_request', [{ path: '', message: 'expected object' }]);
  try {
    return JSON.stringify(body);
  } catch (error) {
    throw refusal('invalid_request', [{ path: '', message: 'expected an object that JSON can hold' }], error);
  }
}

/** Reads the options of a function that asks. @throws GatewayError invalid_request (400) */
export function checkedOptions(options: unknown = {}): { signal: AbortSignal | undefined; headers: Headers } {
  const wrong = (path: string, message: string, cause?: unknown) =>
    refusal('invalid_request', [{ path: path === '' ? 'options' : `options.${path}`, message }], cause);
  if (!isObject(options)) throw wrong('', 'expected object');
  for (const name of Object.keys(options))
    if (name !== 'signal' && name !== 'headers')
      throw wrong(name.slice(0, 40), 'unknown key; expected signal or headers');
  const { signal, headers } = options as CompletionOptions;
  if (signal !== undefined && typeof signal?.addEventListener !== 'function')
    throw wrong('signal', 'expected an AbortSignal');
  try {
    const read = new Headers(headers);
    // The caller is known. A key that came by mistake is shown to nobody.
    for (const name of ['authorization', 'x-api-key', 'x-goog-api-key']) read.delete(name);
    return { signal, headers: read };
  } catch (error) {
    throw wrong('headers', 'expected headers', error);
  }
}

function chunkMeaning<Chunk extends ChatChunk | TextCompletionChunk>(metadataField: string): EventMeaning<Chunk> {
  return {
    showsFailure: false,
    hasSentinel: true,
    failure(chunk): GatewayError | null {
      if (!isObject(chunk.error)) return null;
      const usage = chunk.usage === undefined ? {} : { usage: chunk.usage };
      return reportedError(chunk.error as ChoiceError, usage, chunk[metadataField]);
    },
  };
}

const ofResponses: EventMeaning<ResponsesEvent> = {
  showsFailure: true,
  hasSentinel: true,
  failure(event) {
    if (event.type !== 'response.failed') return null;
    const { error, error_type: errorType, usage } = event.response;
    const metadata = { ...(errorType ? { error_type: errorType } : {}), ...(usage ? { usage } : {}) };
    return reportedError({ message: error?.message ?? 'The response failed', metadata });
  },
};
