import type { InputTransformations, StructuredOutput, ThoughtDropReason } from '../schema/chat/envelope.ts';

/** One attempt: a target that was called. */
export interface AttemptTrace {
  /** Display name of the provider. */
  provider: string;
  /** Slug of the provider. */
  providerSlug: string;
  /** Name of the endpoint, which tells it from other endpoints of the model. */
  endpoint: string;
  /** The gateway's slug of the model. */
  model: string;
  /** true: no catalogue knows the model; its name came from the caller, and is no label of a metric. Absent: false. */
  isPassThrough?: true;
  /** The time when the target was called, epoch ms. */
  startedAtMs: number;
  /**
   * The time when the attempt was decided, epoch ms: its first token or its complete response was there, or it failed.
   */
  decidedAtMs: number;
  /** 200, or the status of the failure: the upstream's own, 502 for a bad response, 524 for a time-out. */
  status: number;
  /** null when the attempt succeeded. */
  errorType: string | null;
  /**
   * The reason of the failure, in the provider's words where it had some: one line, cut at 500 characters, without
   * keys. null when the attempt succeeded, or was no longer wanted.
   */
  message: string | null;
  /**
   * The same reason in words of the gateway alone, such as `connection refused (ECONNREFUSED)` or the target of a
   * redirect; null when only the provider's words tell it, or there is no message.
   */
  failure: string | null;
  /** true: the attempt used a BYOK credential. */
  isByok: boolean;
  /** Label of the operator's key that was used; absent: the operator has not several at the provider. */
  key?: string;
  /**
   * The cost of a failed attempt, integer nano-USD: the amount that the provider reported; or the amount that it may
   * charge, where the request was on its way and the provider did not refuse it.
   */
  costNanoUsd: number;
  /** Request fields that were not sent, because this provider does not take them, such as `messages[].reasoning`. */
  dropped: readonly string[];
  /** The way in which output of a schema was asked for; null: it was not. */
  structuredOutput: StructuredOutput | null;
  /** The provider's own id of the request, from its response headers, bounded; null where it sent none. */
  upstreamRequestId: string | null;
  /** Thoughts that went back to a model that binds them to the messages before them; absent: there were none. */
  thoughts?: SentThoughts;
}

/** The fate of thoughts that went back. */
export interface SentThoughts {
  /** The reason why the provider was told to drop those that no longer fit; null: it was not told. */
  readonly dropReason: ThoughtDropReason | null;
  /** The thoughts that the provider reports as dropped. */
  readonly reported: Readonly<InputTransformations>;
}

/** The work of a plugin, a guardrail or a server tool, for which the gateway waited. */
export interface FollowedWork {
  /** The kind of worker. */
  kind: 'plugin' | 'guardrail' | 'server_tool';
  /** Its name. */
  name: string;
  /** The hook of a plugin or guardrail, such as `before`; null for a tool. */
  hook: string | null;
  /** The id of the model's tool call; null for a hook. */
  callId: string | null;
  /** Epoch ms. */
  startedAtMs: number;
  /** Epoch ms. */
  endedAtMs: number;
  /** true: the work threw, or took too long. */
  hasFailed: boolean;
  /**
   * The outcome. `refused`: the worker has refused the request or the response, with an error for the client.
   * `cancelled`: the client left, or the call was over. `failed`: it threw another error, or took too long.
   */
  outcome: 'ok' | 'refused' | 'cancelled' | 'failed';
}
