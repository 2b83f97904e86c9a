import type { Endpoint } from '../../call/model.ts';
import type { EncodedTask, Lack, TaskDecoder, TaskUsage } from '../../dialects/tasks/contract.ts';
import type { TaskBound } from '../../pricing/task-cost.ts';
import type { Provider } from '../../providers/provider.ts';
import type { Needs } from '../../routing/needs.ts';
import type { ChatRequest, Usage } from '../../schema/chat/chat.ts';
import type { ErrorBody } from '../../schema/chat/envelope.ts';
import type { TaskFields } from '../../schema/task-fields.ts';
import type { OtherTask } from '../../schema/tasks.ts';
import type { AttemptParameters } from '../../telemetry/parameters.ts';

/**
 * One request that is no chat request, as the spine sees it: the plan, the hold, the attempts, the settlement and the
 * record ask it these questions, and know nothing else of the task.
 */
export interface Task {
  readonly name: OtherTask;
  /** The fields that every task has: models, preferences, names. */
  readonly fields: TaskFields;
  /** The features that an endpoint must support to serve it well. */
  readonly needs: Needs;
  /** Request fields that `provider.require_parameters` asks endpoints for. */
  readonly parameters: readonly string[];
  /**
   * false: the results of two models cannot be used together, so only the models that the request lists may serve, and
   * not the fallbacks that the catalogue names.
   */
  readonly hasModelFallbacks: boolean;
  /** true: it costs what the tokens of its input cost, and nothing else, also where the model writes for other prices. */
  readonly isSoldByInput?: boolean;
  /** true: a part of the input cannot be read by guardrails, such as token ids. */
  readonly hasOpaqueInput: boolean;
  /** The usual number of tokens, for rate limits. */
  readonly typicalTokens: number;
  /**
   * Returns what guardrails are shown: the request as a conversation, a user's message for each text, in order. It is a
   * view for them, for the record and for kept contents, and goes nowhere else.
   */
  view(): ChatRequest;
  /**
   * Returns the task with the texts of a view that a guardrail has changed.
   * @throws GatewayError where the view has more or fewer messages, or other ones
   */
  withView(view: ChatRequest): Task;
  /** Returns the first part of the request that a provider has no way to take; null: it takes all. */
  lacks(provider: Provider, endpoint: Endpoint): Lack | null;
  /** Begins to collect the result. @param guard  makes guards for its texts; null: nobody reads them */
  begin(guard: MakeGuard | null): TaskProgress;
  /** Returns the parameters of the request, for spans. */
  parametersOf(): AttemptParameters;
  /** The form of a response that is streamed to the client. Absent: the response is JSON. */
  readonly stream?: TaskStream | undefined;
}

/** The form of a response that is streamed. Its progress has `piece` and `last`. */
export interface TaskStream {
  /**
   * The frames that only events have. null: the response is bytes, which begin once the first are there; an error after
   * that cuts the connection.
   */
  readonly events: TaskEvents | null;
}

/** The frames of a stream of events that are of no task. */
export interface TaskEvents {
  /** A comment that keeps the connection alive. */
  readonly keepAlive: string;
  /** Writes the end of a stream that has failed. */
  failed(error: ErrorBody['error'], head: TaskHead): string;
}

/** A guard of the texts of one response, in order. It may hold text back. */
export interface TextGuard {
  /** @returns the text that goes on. @throws GatewayError that refuses it */
  push(text: string): Promise<string>;
  /** @returns the text that was held back */
  end(): Promise<string>;
}

/** Makes a guard. */
export type MakeGuard = () => TextGuard;

/** The parts of a result that have arrived, and those that are missing. */
export interface TaskProgress {
  /** Returns the requests for all parts that are missing, as a provider takes them. */
  missing(provider: Provider, endpoint: Endpoint): readonly TaskBatch[];
  /** Forgets all parts: another model is asked, and its parts do not go with those of this one. */
  restart(): void;
  /**
   * Sends the texts that were taken, and are not in a piece, through the guardrails. Called once nothing is missing.
   * @throws GatewayError that refuses them
   */
  checked?(): Promise<void>;
  /** Returns the response for the client: a text where `contentType` names a type, else what JSON can hold. */
  result(head: TaskHead, usage: Usage): unknown;
  /** The content type of a response that is neither JSON nor events, once it has begun; null, or absent: it is one. */
  contentType?(): string | null;
  /** Writes a piece of a streamed response for the client; '': it is kept for the end. @throws GatewayError of guardrails */
  piece?(piece: unknown, head: TaskHead): string | Uint8Array | Promise<string | Uint8Array>;
  /**
   * Writes the end of a streamed response, in place of `result`: all of it where the provider did not stream.
   * @param further  further fields of the last event, such as the route of the call
   */
  last?(head: TaskHead, usage: Usage, further: Readonly<Record<string, unknown>>): string | Uint8Array;
}

/** The head of a response. */
export interface TaskHead {
  readonly id: string;
  /** Unix seconds. */
  readonly created: number;
  /** The gateway's slug of the model that serves. */
  readonly model: string;
  /** Display name of the provider that serves. */
  readonly provider: string;
}

/** One request to a provider. */
export interface TaskBatch {
  /** The most that it uses. */
  readonly bound: TaskBound;
  /** The results in its response, each of which may be as large as a usual response. Default 1. */
  readonly results?: number;
  /** Makes the request. @throws UpstreamError made by `unsupported` */
  encode(): EncodedTask;
  /**
   * Takes the parts out of a response. @throws UpstreamError bad_response; nothing is then taken
   * @param headers  of the response, names in lower case
   */
  take(body: unknown, headers: Readonly<Record<string, string>>): TaskUsage | null;
  /**
   * Makes the decoder of a response that is streamed to the client. Absent: the response is taken. A body of JSON that
   * comes in place of events is taken as well.
   * @param headers  of the response, names in lower case
   */
  decoder?(headers: Readonly<Record<string, string>>): TaskDecoder;
}
