import type { AttemptTrace } from '../call/trace.ts';
import type { AttemptParameters } from './parameters.ts';
import type { RequestRecord } from './record.ts';

/** A client call as it begins. */
export interface BegunCall {
  /** `gen-…`, as its record has it. */
  id: string;
  /** Name of the operation. */
  operation: string;
  /** Id of the workspace. */
  workspaceId: string;
  /** Epoch ms: when the request arrived. */
  receivedAtMs: number;
  /** The caller's own grouping key; null for none. */
  sessionId: string | null;
  /** What the request's field `trace` names; null: nothing. */
  trace: Readonly<Record<string, string>> | null;
  /** The header `traceparent` of the request, where it is one of W3C Trace Context; null: it is not. */
  traceparent: string | null;
}

/** An attempt as it begins. */
export interface BegunAttempt {
  /** Slug of the provider. */
  providerSlug: string;
  /** The gateway's slug of the model. */
  model: string;
  /** Where it is sent; without what authentication may change of it. */
  url: string;
  /** true: a stream is asked for. */
  streamed: boolean;
  /** What it is asked for, as the provider gets it. */
  parameters: AttemptParameters;
  /** Epoch ms. */
  startedAtMs: number;
}

/** An attempt that is followed. */
export interface FollowedAttempt {
  /** Further headers for the provider, such as `traceparent`. Those that the request needs itself win. */
  headers?: Readonly<Record<string, string>>;
  /** Its first token or its complete response is there, or it has failed: it is in the record, unless it was hedged. */
  decided?(attempt: AttemptTrace): void;
}

/** What a plugin, a guardrail or a server tool did while the gateway waited for it. */
export interface FollowedWork {
  /** Which of them. */
  kind: 'plugin' | 'guardrail' | 'server_tool';
  /** Its name. */
  name: string;
  /** The hook of a plugin or guardrail, such as `before`; null for a tool. */
  hook: string | null;
  /** Id of the model's call of the tool; null for a hook. */
  callId: string | null;
  /** Epoch ms. */
  startedAtMs: number;
  /** Epoch ms. */
  endedAtMs: number;
  /** true: it threw, or took too long. */
  hasFailed: boolean;
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

/** Follows one client call while it runs. What it throws is swallowed: telemetry fails open. */
export interface CallFollower {
  /** true: `ended` gets the content, unless the request or its workspace asks for zero data retention. */
  wantsContent?: boolean;
  /** An attempt begins. */
  attempt?(begun: BegunAttempt): FollowedAttempt | undefined;
  /** A plugin, a guardrail or a server tool has done its work. */
  worked?(work: FollowedWork): void;
  /** The call has ended; the recorder is given the same record next. */
  ended(record: RequestRecord, content: CallContent | null): void;
}

/** @returns who follows the call; null: nobody */
export type BeginFollowing = (begun: BegunCall) => CallFollower | null;

/** Takes finished records of client calls. What a recorder throws is swallowed: telemetry fails open. */
export interface Recorder {
  /** Takes one. */
  (record: RequestRecord): void;
  /** Of a recorder that also follows client calls while they run: is told of each that begins. */
  readonly begin?: BeginFollowing;
  /** Whether it tells workspaces of their requests, where `broadcast` of a record asks for it; absent: not known. */
  readonly broadcasts?: boolean;
}

/** A follower that never throws. */
export class SafeFollower {
  readonly #follower: CallFollower;
  readonly wantsContent: boolean;

  constructor(follower: CallFollower) {
    this.#follower = follower;
    this.wantsContent = follower.wantsContent === true;
  }

  attempt(begun: BegunAttempt): FollowedAttempt | undefined {
    return safely(() => this.#follower.attempt?.(begun));
  }

  decided(followed: FollowedAttempt, attempt: AttemptTrace): void {
    safely(() => followed.decided?.(attempt));
  }

  worked(work: FollowedWork): void {
    safely(() => this.#follower.worked?.(work));
  }

  ended(record: RequestRecord, content: CallContent | null): void {
    safely(() => this.#follower.ended(record, content));
  }
}

/** Asks whether somebody follows a call. null: nobody ever does */
export function following(begin: BeginFollowing | undefined): ((begun: BegunCall) => SafeFollower | null) | null {
  if (begin === undefined) return null;
  return (begun) => {
    const follower = safely(() => begin(begun));
    return follower ? new SafeFollower(follower) : null;
  };
}

function safely<T>(tell: () => T): T | undefined {
  try {
    return tell();
  } catch {
    // Telemetry fails open: the request goes on, and there is nobody to report to.
    return undefined;
  }
}
