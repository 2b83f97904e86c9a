import type { StopSignal } from '../base/async/stop.ts';
import type { Clock } from '../base/clock.ts';
import type { ChatRequest } from '../schema/chat/chat.ts';
import type { RateLimits } from '../schema/tenants/rate-limits.ts';
import type { Ask } from './ask.ts';
import type { ResponseEncoder } from './response-encoder.ts';
import type { WorkspaceId } from './workspace.ts';

/** The rights of a caller: to ask models, or to manage workspaces, keys and budgets. */
export type Permission = 'inference' | 'management';

/** A spending limit of one api key. */
export interface KeyLimit {
  /** Integer nano-USD. */
  limitNanoUsd: number;
  /** The interval after which the limit starts anew; `lifetime`: never. */
  interval: 'daily' | 'weekly' | 'monthly' | 'lifetime';
  /** true: requests with the workspace's BYOK credentials count as well. */
  includesByok: boolean;
}

/** The limit for one window of an interval. */
export interface BudgetLimit {
  /** The interval after which the limit starts anew; `lifetime`: never. */
  interval: KeyLimit['interval'];
  /** Integer nano-USD. */
  limitNanoUsd: number;
  /** The guardrail that gives each api key this budget; absent: it is the workspace's. */
  guardrail?: { id: string; name: string };
}

/** The models that a caller may use. */
export interface AllowedModels {
  /** Slugs; `*` stands for any characters. */
  patterns: readonly string[];
  /** Tells whether a slug, without suffixes, fits one of the patterns. */
  allows: (modelSlug: string) => boolean;
}

/** The party that makes the request, as authentication has found it. */
export interface Caller {
  /** The rights of the caller. */
  permissions: readonly Permission[];
  /** SHA-256 of the api key, hex; null where the host app authenticates its own users. */
  apiKeyHash: string | null;
  /**
   * The workspace whose budgets and credentials the request uses. A management request that names none means this one.
   */
  workspaceId: WorkspaceId;
  /** true: the caller may manage every workspace. false: it may manage this one, and sees no other. */
  managesAll: boolean;
  /** true: its requests use BYOK credentials alone; absent: the setting of the workspace counts. */
  isByokOnly?: boolean;
  /** The spending limit of this api key; null: only the workspace's budgets count. */
  keyLimit: KeyLimit | null;
  /** The rate limits of this api key; absent: those that the options give to every key. */
  rateLimits?: RateLimits | undefined;
  /** The models that the caller may use; absent: all of them. */
  models?: AllowedModels | undefined;
  /** Labels of the api key, copied into records; absent: none. */
  tags?: readonly string[] | undefined;
  /** The host app's id of the user, shown as `user_id` in error bodies; null for none. */
  userId: string | null;
}

/** The request of a call, as hooks have left it. */
export interface AskedOf {
  /** As guardrails have left it. */
  screened: Ask;
  /** As guardrails and plugins have left it. */
  ask: Ask;
  /** true: the client gets back texts that guardrails have taken out, so its response must not be kept. */
  isRestored: boolean;
}

/** One client call for a completion. Nothing in the pipeline changes it. */
export interface Call {
  /** `gen-…`: the id of the completion, also sent as `X-Generation-Id`. */
  id: string;
  /** Name of the operation, such as `createChatCompletion`. */
  operation: string;
  /** The request as it came, with the parts in the client's own format. */
  ask: Ask;
  /** The chat request of `ask`. */
  readonly request: ChatRequest;
  /** true: the request is long: the work on it is done in several turns of the event loop, so that others have theirs. */
  isLong: boolean;
  /** The party that makes the request. */
  caller: Caller;
  /** Aborted when the client leaves or the request's time is up; its reason is a `CallAborted`. */
  signal: StopSignal;
  /**
   * The clock of this call: the time of day when it arrived, plus the time that has passed since. All its times are by
   * this clock, so that a difference of two is always a duration, also where the time of day is set meanwhile.
   */
  time: Pick<Clock, 'now'>;
  /** Epoch ms: the time when the request arrived. */
  receivedAtMs: number;
  /** Epoch ms: the time when the caller was known. */
  authenticatedAtMs: number;
  /** Unix seconds: `created` in results and chunks. */
  created: number;
  /** true: the response carries routing metadata. */
  wantsMetadata: boolean;
  /** The sticky-routing and grouping key: the body's `session_id`, else the header's. */
  sessionId: string | null;
  /** Writes the response in the client's format. */
  encoder: ResponseEncoder;
  /** Learns the request before a model is asked; absent: nobody wants to know. @throws GatewayError that refuses it */
  readonly asked?: ((asked: AskedOf) => void) | undefined;
  /**
   * Called once the money of a generation is held, before a provider is asked: the call may have to wait for others of its
   * request. Absent: it need not. @throws GatewayError, or an abort: nothing is asked, and the money is given back
   */
  readonly held?: (() => Promise<void>) | undefined;
  /** The number of the client's WebSocket; null, or absent: it came by HTTP. */
  readonly connection?: number | null;
  /** The header `traceparent`, where it is one of W3C Trace Context; null, or absent: it is not. */
  readonly traceparent?: string | null;
  /** The header `User-Agent`, bounded; null, or absent: the request has none. */
  readonly userAgent?: string | null;
  /** The page or app that asks: the header `HTTP-Referer`, else `Referer`, without its query. null, or absent: none. */
  readonly referer?: string | null;
  /**
   * Returns a header of the request, for plugins. null: the request has none by that name, or the header proves the
   * identity of the caller, such as `authorization`. Absent: there are no headers. It reads nothing of `this`, so that
   * copies have it.
   */
  readonly header?: (name: string) => string | null;
}

/** Returns the call as if another request had come, for parts that only plan. */
export function callFor(call: Call, ask: Ask): Call {
  // The method of a class would not be in the copy.
  return { ...call, ask, request: ask.request, header: (name) => call.header?.(name) ?? null };
}
