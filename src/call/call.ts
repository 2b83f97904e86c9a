import type { StopSignal } from '../base/stop.ts';
import type { ChatRequest } from '../schema/chat.ts';
import type { ResponseEncoder } from './response-encoder.ts';
import type { Trace } from './trace.ts';
import type { WorkspaceId } from './workspace.ts';

export type Permission = 'inference' | 'management';

/** A spending limit of one api key. */
export interface KeyLimit {
  /** Integer nano-USD. */
  limitNanoUsd: number;
  /** When it starts anew; `lifetime`: never. */
  interval: 'daily' | 'weekly' | 'monthly' | 'lifetime';
  /** true: what goes through the workspace's own provider credentials counts as well. */
  includesByok: boolean;
}

/** Who asks, as the authentication found out. */
export interface Caller {
  permissions: readonly Permission[];
  /** SHA-256 of the api key, hex; null where the host app authenticates its own users. */
  apiKeyHash: string | null;
  /** Whose budgets and credentials a request uses, and what a management request means where it names none. */
  workspaceId: WorkspaceId;
  /** true: may manage every workspace; false: its own, and for it there is no other. */
  managesAll: boolean;
  /** What this api key may spend by itself; null: only its workspace's budgets count. */
  keyLimit: KeyLimit | null;
  /** The host app's id of the user, shown as `user_id` in error bodies; null for none. */
  userId: string | null;
}

/** One request for a completion on its way through the pipeline. */
export interface Call {
  /** `gen-…`: the id of the completion, also sent as `X-Generation-Id`. */
  id: string;
  request: ChatRequest;
  caller: Caller;
  /** Aborted when the client leaves or the request's time is up; its reason says which (see `Abort`). */
  signal: StopSignal;
  receivedAtMs: number;
  /** Unix seconds: `created` in results and chunks. */
  created: number;
  /** true: the answer carries routing metadata. */
  wantsMetadata: boolean;
  /** The sticky-routing and grouping key: the body's `session_id`, else the header's. */
  sessionId: string | null;
  /** The fingerprint of how the conversation began; null: nobody has asked for it yet. */
  opening: number | null;
  /** What the client's answer is encoded to. */
  wire: ResponseEncoder;
  trace: Trace;
}
