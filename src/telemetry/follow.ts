import { disregard, tell } from '../base/async/tell.ts';
import type { AttemptTrace, FollowedWork } from '../call/trace.ts';
import type { AttemptParameters } from './parameters.ts';
import type { RequestRecord } from './record.ts';

/** A client call as it begins. */
export interface BegunCall {
  /** The id `gen-…`, as in its record. */
  id: string;
  /** Name of the operation. */
  operation: string;
  /** Id of the workspace. */
  workspaceId: string;
  /** The time at which the request arrived, epoch ms. */
  receivedAtMs: number;
  /** The caller's own grouping key; null: none, or guardrails have not checked it yet. */
  sessionId: string | null;
  /** The request's field `user`; null: it has none, or guardrails have not checked it yet. */
  user: string | null;
  /** The names in the request's field `trace`; null: none, or guardrails have not checked it yet. */
  trace: Readonly<Record<string, string>> | null;
  /** The header `traceparent` of the request, if it is valid in W3C Trace Context; null: absent or not valid. */
  traceparent: string | null;
}

/** An attempt as it begins. */
export interface BegunAttempt {
  /** Slug of the provider. */
  providerSlug: string;
  /** Name of the endpoint, which tells it from other endpoints of the model. */
  endpoint: string;
  /** The gateway's slug of the model. */
  model: string;
  /** The URL of the request, without what authentication may change in it. */
  url: string;
  /** true: the request asks for a stream. */
  streamed: boolean;
  /** Label of the operator's key; null: the operator has not several at the provider. */
  key: string | null;
  /** The parameters of the request, as the provider gets them. */
  parameters: AttemptParameters;
  /** Epoch ms. */
  startedAtMs: number;
}

/** An attempt that is followed. */
export interface FollowedAttempt {
  /** Further headers for the provider, such as `traceparent`. Headers that the request itself needs win. */
  headers?: Readonly<Record<string, string>>;
  /**
   * Called when its first token or its complete response has come, or it has failed. The attempt is then in the record,
   * unless it was hedged.
   */
  decided?(attempt: AttemptTrace): void;
}

/** The prompt and the response of a client call. */
export interface CallContent {
  /** Messages as guardrails and plugins have left them. */
  messages: readonly unknown[];
  /** The text of the response as the client got it; null: there was none. */
  completion: string | null;
  /** The reasoning that the client got; null: there was none. */
  reasoning: string | null;
  /** Tool calls that the client got. */
  toolCalls: readonly unknown[];
}

/** Follows one client call while it runs. Its errors are ignored: telemetry fails open. */
export interface CallFollower {
  /** true: `ended` gets the content, unless the request or its workspace asks for zero data retention. */
  wantsContent?: boolean;
  /** Called when an attempt begins. */
  attempt?(begun: BegunAttempt): FollowedAttempt | undefined;
  /** Called when a plugin, a guardrail or a server tool has done its work. */
  worked?(work: FollowedWork): void;
  /** Called when the call has ended. The recorder gets the same record next. */
  ended(record: RequestRecord, content: CallContent | null): void;
}

/** @returns the follower of the call; null: the call is not followed */
export type BeginFollowing = (begun: BegunCall) => CallFollower | null;

/** Takes finished records of client calls. Its errors are ignored: telemetry fails open. */
export interface Recorder {
  /** Takes one record. */
  (record: RequestRecord): void;
  /** Called for each client call that begins, if the recorder also follows calls while they run. */
  readonly begin?: BeginFollowing;
  /**
   * true: the recorder tells workspaces of their requests, where `broadcast` of a record asks for it; absent: not
   * known.
   */
  readonly broadcasts?: boolean;
}

/** A follower that never throws. */
export class SafeFollower {
  readonly #follower: CallFollower;
  readonly wantsContent: boolean;

  constructor(follower: CallFollower) {
    this.#follower = follower;
    const wanted: unknown = follower.wantsContent;
    disregard(wanted);
    this.wantsContent = wanted === true;
  }

  attempt(begun: BegunAttempt): FollowedAttempt | undefined {
    return tell(() => this.#follower.attempt?.(begun));
  }

  decided(followed: FollowedAttempt, attempt: AttemptTrace): void {
    tell(() => followed.decided?.(attempt));
  }

  worked(work: FollowedWork): void {
    tell(() => this.#follower.worked?.(work));
  }

  ended(record: RequestRecord, content: CallContent | null): void {
    tell(() => this.#follower.ended(record, content));
  }
}

/** Makes the function that finds the follower of a call. @returns null: no call is ever followed */
export function following(begin: BeginFollowing | undefined): ((begun: BegunCall) => SafeFollower | null) | null {
  if (begin === undefined) return null;
  return (begun) => {
    const follower = tell(() => begin(begun));
    return (follower && tell(() => new SafeFollower(follower))) ?? null;
  };
}
