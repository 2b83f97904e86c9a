import type { Endpoint } from './model.ts';
import type { CredentialRef } from './plan.ts';
import type { WorkspaceId } from './workspace.ts';

/** A provider credential of the workspace (BYOK), without its secret. null: no restriction. */
export interface ByokCredential {
  id: string;
  /** Slug of the credential's provider. */
  provider: string;
  /** true: it is not used: it lacks something, or the gateway sends its provider no credentials of workspaces. */
  isRefused?: true;
  /** What its provider needs and it has not, with what is expected. */
  lacks?: string;
  /** true: used only after all other credentials of the provider, the operator's included. */
  isFallback: boolean;
  /** Patterns of model slugs; `*` matches anything. */
  allowedModels: readonly string[] | null;
  /** Accepted values of a request's `user`. */
  allowedUserIds: readonly string[] | null;
  /** SHA-256 of the API keys that may use the credential, hex. */
  allowedApiKeyHashes: readonly string[] | null;
}

export interface Percentiles {
  p50: number;
  p75: number;
  p90: number;
  p99: number;
}

/** The health of endpoints at one moment, by health key (see `healthKey`). Everything is in memory. */
export interface HealthView {
  /** End of the cooldown, epoch ms; undefined: no cooldown. */
  cooldownUntil(key: string): number | undefined;
  /** Whether a large share of the attempts in the last 30 s failed. */
  hasOutage(key: string): boolean;
  /** Time to first token in ms, over 5 min; null: too few streams. */
  latency(key: string): Percentiles | null;
  /** 95th percentile of the time to first token in ms, over 5 min; null: fewer than 20 streams. */
  latencyP95(key: string): number | null;
  /** Output tokens per second, over 5 min. 90 % of streams reach p90, so p90 is below p50. null: too few streams. */
  throughput(key: string): Percentiles | null;
}

/** The data that a plan is made from. All of it is read before planning, so that planning does no I/O. */
export interface Facts {
  health: HealthView;
  /** In [0, 1), for the weighted random choice. Requests of a conversation with a sticky key get the same numbers. */
  random: () => number;
  /** Key (see `endpointKey`) of the endpoint that served the conversation last with this model; null: none is known. */
  pinned: (modelSlug: string) => string | null;
  /** The workspace's sort for requests that set none; null: the workspace sets none either. */
  defaultSort: string | null;
  /** Providers that need no credential, or for which the operator has one. */
  usableProviders: ReadonlySet<string>;
  /** Providers that the operator keeps to other workspaces, where this one uses BYOK credentials alone. */
  withheldProviders?: ReadonlySet<string> | undefined;
  /** In the order in which the credentials are used. */
  byokCredentials: readonly ByokCredential[];
  workspaceId: WorkspaceId;
  apiKeyHash: string | null;
  /** How hard the request is by the host app's own scorer, 0 to 1; absent: `service/auto` rates it itself. */
  difficulty?: number;
  /** Whether the caller may use a model, by its slug; null: all of them. */
  mayUseModel?: ((modelSlug: string) => boolean) | null;
  /** Of a prompt that is too long; absent: it is sent as it is. */
  shortening?: Shortening;
  /** What guardrails leave of the endpoints; absent: all of them. */
  imposed?: ImposedRouting | null;
  nowMs: number;
}

/** Which endpoints get a prompt that is too long in a shorter form. */
export interface Shortening {
  /** The request asks for it: a context that holds half of the prompt will do. */
  isAsked: boolean;
  /** Whether an endpoint does. */
  isFor(endpoint: Endpoint): boolean;
}

/** What guardrails allow, whatever the request prefers. */
export interface ImposedRouting {
  /** Whether a model may be used, by its slug; null: all of them. */
  readonly mayUseModel: ((modelSlug: string) => boolean) | null;
  /** Whether an endpoint may not serve. */
  refuses(endpoint: Endpoint): boolean;
}

/** Which providers a workspace may use with the operator's credentials. */
export function operatorsProviders(
  usable: ReadonlySet<string>,
  isByokOnly: boolean,
): Pick<Facts, 'usableProviders' | 'withheldProviders'> {
  return isByokOnly
    ? { usableProviders: noProviders, withheldProviders: usable }
    : { usableProviders: usable, withheldProviders: undefined };
}

const noProviders: ReadonlySet<string> = new Set();

/** Names an endpoint with a credential: a cooldown of one credential does not affect other credentials. */
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

/** Cached for the same reason as `endpointKeys`. */
const healthKeys = new WeakMap<CredentialRef, Map<Endpoint, string>>();

/** Names an endpoint in the health data. Variants and tiers of one model have keys of their own. */
export function endpointKey(endpoint: Pick<Endpoint, 'tag' | 'upstreamModel'>): string {
  let key = endpointKeys.get(endpoint);
  if (key === undefined) {
    key = `${endpoint.tag} ${endpoint.upstreamModel}`;
    endpointKeys.set(endpoint, key);
  }
  return key;
}

/** Keeps the same string object per endpoint: the engine would hash a new string again at each look-up. */
const endpointKeys = new WeakMap<object, string>();
