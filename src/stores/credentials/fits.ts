import { compilePatterns, type Matcher } from '../../base/text/pattern.ts';
import type { ByokCredential } from '../../call/facts.ts';

/** The properties of a request by which a credential may be restricted. */
export interface CredentialUse {
  /** The gateway's slug of the model that would serve. */
  model: string;
  /** The request's `user`; null: the request has none. */
  user: string | null;
  /** SHA-256 of the caller's api key, hex; null: the host app authenticates. */
  apiKeyHash: string | null;
}

/**
 * Tells whether a request meets every restriction of a credential. An absent list is no restriction. An empty list
 * allows no request. A list also refuses a request that has no value for it.
 */
export function credentialFits(
  { allowedModels, allowedUserIds, allowedApiKeyHashes }: ByokCredential,
  { model, user, apiKeyHash }: CredentialUse,
): boolean {
  return (
    (allowedModels === null || matcherOf(allowedModels)(model)) &&
    (allowedUserIds === null || (user !== null && allowedUserIds.includes(user))) &&
    (allowedApiKeyHashes === null || (apiKeyHash !== null && allowedApiKeyHashes.includes(apiKeyHash)))
  );
}

/** By the list of patterns, which stays the same object for as long as the credential is cached. */
const matchers = new WeakMap<readonly string[], Matcher>();

function matcherOf(patterns: readonly string[]): Matcher {
  let matcher = matchers.get(patterns);
  if (matcher === undefined) {
    matcher = compilePatterns(patterns);
    matchers.set(patterns, matcher);
  }
  return matcher;
}
