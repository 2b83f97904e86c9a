import { fitsPattern } from '../base/pattern.ts';
import type { ByokCredential } from '../call/facts.ts';

/** What a credential may be restricted to. */
export interface CredentialUse {
  /** The gateway's slug of the model that would serve. */
  model: string;
  /** The request's `user`; null: it names none. */
  user: string | null;
  /** SHA-256 of the caller's api key, hex; null: the host app authenticates. */
  apiKeyHash: string | null;
}

/**
 * Whether a request meets every restriction of a credential. No list is no restriction; an empty list lets nothing
 * through, nor does any list where the request has nothing to look up in it.
 */
export function credentialFits(
  { allowedModels, allowedUserIds, allowedApiKeyHashes }: ByokCredential,
  { model, user, apiKeyHash }: CredentialUse,
): boolean {
  return (
    (allowedModels === null || allowedModels.some((pattern) => fitsPattern(pattern, model))) &&
    (allowedUserIds === null || (user !== null && allowedUserIds.includes(user))) &&
    (allowedApiKeyHashes === null || (apiKeyHash !== null && allowedApiKeyHashes.includes(apiKeyHash)))
  );
}
