import type { Endpoint } from './model.ts';
import type { CredentialRef } from './plan.ts';
import type { WorkspaceId } from './workspace.ts';

/** One of the workspace's own provider credentials, without its secret. null: no restriction. */
export interface ByokCredential {
  id: string;
  /** Slug of the provider it is for. */
  provider: string;
  /** true: used only after the others, the operator's included. */
  isFallback: boolean;
  /** Patterns of model slugs, `*` for anything. */
  allowedModels: readonly string[] | null;
  /** What a request's `user` may be. */
  allowedUserIds: readonly string[] | null;
  /** SHA-256 of the api keys that may use it, hex. */
  allowedApiKeyHashes: readonly string[] | null;
}

export interface Percentiles {
  p50: number;
  p75: number;
  p90: number;
  p99: number;
}

/** How endpoints have been doing, as seen at one moment; by health key (see `healthKey`). Everything is in memory. */
export interface HealthView {
  /** The end of the time for which to leave it alone, epoch ms; undefined: it may be used. */
  cooldownUntil(key: string): number | undefined;
  /** Whether a good part of its attempts in the last 30 s failed. */
  hasOutage(key: string): boolean;
  /** Time to first token in ms, over 5 min; null: too few streams. */
  latency(key: string): Percentiles | null;
  /** What 95 % of first tokens took at most, ms, over 5 min; null: fewer than 20 streams. */
  latencyP95(key: string): number | null;
  /** Output tokens per second, over 5 min; higher percentiles are lower speeds: p90 is what 90 % reach. null: too few. */
  throughput(key: string): Percentiles | null;
}

/** What the plan needs to know and cannot decide: read before planning, so that planning does no I/O. */
export interface Facts {
  health: HealthView;
  /** In [0, 1): for the draw among endpoints. The same for all requests of a conversation that has a sticky key. */
  random: () => number;
  /** The endpoint that served the conversation last, by model slug; null: none, or not asked for. See `endpointKey`. */
  pinned: (modelSlug: string) => string | null;
  /** How the workspace wants endpoints sorted where the request does not say; null: it does not say either. */
  defaultSort: string | null;
  /** Providers for which the operator has a credential, or that need none. */
  usableProviders: ReadonlySet<string>;
  /** The workspace's own, in the order they are tried. */
  byokCredentials: readonly ByokCredential[];
  workspaceId: WorkspaceId;
  apiKeyHash: string | null;
  nowMs: number;
}

/** Names what rests: an endpoint as it is reached with a credential. Another credential may be welcome there. */
export function healthKey(endpoint: Endpoint, credential: CredentialRef): string {
  if (credential.kind === 'operator') return endpointKey(endpoint);
  let keys = healthKeys.get(credential);
  if (keys === undefined) {
    keys = new Map();
    healthKeys.set(credential, keys);
  }
  let key = keys.get(endpoint);
  if (key === undefined) {
    key = `${endpointKey(endpoint)} ${credential.id}`;
    keys.set(endpoint, key);
  }
  return key;
}

/** For the reason that `endpointKeys` has. */
const healthKeys = new WeakMap<CredentialRef, Map<Endpoint, string>>();

/** Names an endpoint in health: variants and tiers of one model may do differently. */
export function endpointKey(endpoint: Pick<Endpoint, 'tag' | 'upstreamModel'>): string {
  let key = endpointKeys.get(endpoint);
  if (key === undefined) {
    key = `${endpoint.tag} ${endpoint.upstreamModel}`;
    endpointKeys.set(endpoint, key);
  }
  return key;
}

/** The same text each time: one that was just put together is hashed anew wherever it is looked up. */
const endpointKeys = new WeakMap<object, string>();
