import type { Endpoint } from './model.ts';
import type { CredentialRef } from './plan.ts';
import type { WorkspaceId } from './workspace.ts';

/** One of the workspace's own provider credentials, without its secret. null: no restriction. */
export interface OwnCredential {
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

/** What the plan needs to know and cannot decide: read before planning, so that planning does no I/O. */
export interface Facts {
  /** What to leave alone for now: a rest's key (see `restKey`) to the end of the rest, epoch ms. */
  resting: ReadonlyMap<string, number>;
  /** Providers for which the operator has a credential, or that need none. */
  usableProviders: ReadonlySet<string>;
  /** The workspace's own, in the order they are tried. */
  ownCredentials: readonly OwnCredential[];
  workspaceId: WorkspaceId;
  apiKeyHash: string | null;
  nowMs: number;
}

/** Names what rests: an endpoint as it is reached with a credential. Another credential may be welcome there. */
export function restKey(endpoint: Endpoint, credential: CredentialRef): string {
  const key = endpointKey(endpoint);
  return credential.kind === 'own' ? `${key} ${credential.id}` : key;
}

/** Names an endpoint in health. */
export function endpointKey(endpoint: { providerSlug: string; upstreamModel: string }): string {
  return `${endpoint.providerSlug} ${endpoint.upstreamModel}`;
}
