import type { Endpoint } from './model.ts';
import type { CredentialRef } from './plan.ts';
import type { WorkspaceId } from './workspace.ts';

/** A provider credential of the workspace (BYOK), without its secret. null: no restriction. */
export interface ByokCredential {
  id: string;
  /** Slug of the credential's provider. */
  provider: string;
  /**
   * true: the credential is not used. It lacks a part, or the gateway sends its provider no credentials of workspaces.
   */
  isRefused?: true;
  /** The part that its provider needs and it does not have, with the expected form. */
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
  /** true: a large share of the attempts in the last 30 s failed. */
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
  /**
   * Returns a number from 0 up to, but not including, 1, for the weighted random choice. Requests of a conversation
   * with a sticky key get the same numbers.
   */
  random: () => number;
  /** Key (see `endpointKey`) of the endpoint that served the conversation last with this model; null: none is known. */
  pinned: (modelSlug: string) => string | null;
  /** The workspace's sort for requests that set none; null: the workspace sets none either. */
  defaultSort: string | null;
  /** Providers that need no credential, or for which the operator has one. */
  usableProviders: ReadonlySet<string>;
  /** Providers that the operator keeps to other workspaces, where this one uses BYOK credentials alone. */
  withheldProviders?: ReadonlySet<string> | undefined;
  /**
   * Returns the operator's keys at a provider, in the order for this request; null: there are not several. Absent: nowhere
   * are.
   */
  keysOf?: ((providerSlug: string) => readonly CredentialRef[] | null) | undefined;
  /** The credentials, in the order in which they are used. */
  byokCredentials: readonly ByokCredential[];
  /** Tells whether health checks have found an endpoint down; absent: none are made. */
  isDown?: ((endpoint: Endpoint) => boolean) | undefined;
  workspaceId: WorkspaceId;
  apiKeyHash: string | null;
  /** The difficulty of the request by the host app's own scorer, 0 to 1; absent: `service/auto` rates it itself. */
  difficulty?: number;
  /** Tells whether the caller may use a model, by its slug; null: it may use all of them. */
  mayUseModel?: ((modelSlug: string) => boolean) | null;
  /** The rules for a prompt that is too long; absent: the prompt is sent as it is. */
  shortening?: Shortening;
  /** The rules of guardrails for endpoints; absent: there are none. */
  imposed?: ImposedRouting | null;
  nowMs: number;
}

/** The endpoints that get a prompt that is too long in a shorter form. */
export interface Shortening {
  /** true: the request asks for it. A context that holds half of the prompt is large enough. */
  isAsked: boolean;
  /** Tells whether an endpoint gets it in a shorter form. */
  isFor(endpoint: Endpoint): boolean;
}

/** The rules of guardrails, which overrule the preferences of the request. */
export interface ImposedRouting {
  /** Tells whether a model may be used, by its slug; null: all may be. */
  readonly mayUseModel: ((modelSlug: string) => boolean) | null;
  /** Tells whether an endpoint may not serve. */
  refuses(endpoint: Endpoint): boolean;
}

/** Returns the providers that a workspace may use with the operator's credentials. */
export function operatorsProviders(
  usable: ReadonlySet<string>,
  isByokOnly: boolean,
): Pick<Facts, 'usableProviders' | 'withheldProviders'> {
  return isByokOnly
    ? { usableProviders: noProviders, withheldProviders: usable }
    : { usableProviders: usable, withheldProviders: undefined };
}

const noProviders: ReadonlySet<string> = new Set();

/**
 * Names an endpoint with a credential: a cooldown of one credential does not affect other credentials. The operator's keys
 * share the figures of an endpoint; see `ownKeyHealth`.
 */
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

/** Names an endpoint with one of several keys of the operator: the key has cooldowns of its own. */
export function ownKeyHealth(endpoint: Endpoint, credential: CredentialRef & { key: string }): string {
  let keys = healthKeys.get(credential);
  if (keys === undefined) {
    keys = new Map();
    healthKeys.set(credential, keys);
  }
  let key = keys.get(endpoint);
  if (key === undefined) {
    key = `${endpoint.tag}#${credential.key} ${endpoint.upstreamModel}`;
    keys.set(endpoint, key);
  }
  return key;
}

/** The health keys, cached for the same reason as `endpointKeys`. */
const healthKeys = new WeakMap<CredentialRef, Map<Endpoint, string>>();

/** The parts of a health key. */
export interface HealthKeyParts {
  endpoint: string;
  model: string;
  /** null: the operator's. */
  credentialId: string | null;
  /** Label of one of several keys of the operator; null: it is for all of them. */
  key: string | null;
}

/** Reads a health key again. */
export function readHealthKey(healthKey: string): HealthKeyParts {
  const read = withCredential.exec(healthKey) ?? plainKey.exec(healthKey) ?? [];
  const [, tag = healthKey, model = '', credentialId = null] = read;
  const [endpoint = tag, key = null] = tag.split('#');
  return { endpoint, model, credentialId, key };
}

/** A tag has no space in it; a provider's name of a model may. */
const plainKey = /^(\S+) (.*)$/s;
const withCredential = /^(\S+) (.*) ([0-9a-f]{8}-[0-9a-f-]{27})$/s;

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
