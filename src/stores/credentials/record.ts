import { maskSecret } from '../../base/secrets.ts';
import type { ByokCredential } from '../../call/facts.ts';
import { credentialSchema, type ShownCredential, type StoredCredential } from '../../schema/credential.ts';

export const credentialKind = 'credential';

/** The fields of a credential that a response may hold, and no others. */
export function shownCredential(record: StoredCredential): ShownCredential {
  return credentialSchema().parse(record);
}

/**
 * What planning needs.
 * @param isTaken  whether the gateway sends the provider credentials of workspaces
 */
export function ownCredential(record: StoredCredential, isTaken: boolean): ByokCredential {
  return {
    id: record.id,
    provider: record.provider,
    ...(isTaken ? {} : { isRefused: true }),
    isFallback: record.is_fallback,
    allowedModels: record.allowed_models,
    allowedUserIds: record.allowed_user_ids,
    allowedApiKeyHashes: record.allowed_api_key_hashes,
  };
}

/** In the order they are tried; of equal ones, the older first. */
export function byTrying(a: StoredCredential, b: StoredCredential): number {
  return (
    Number(a.is_fallback) - Number(b.is_fallback) ||
    a.sort_order - b.sort_order ||
    compare(a.created_at, b.created_at) ||
    compare(a.id, b.id)
  );
}

/** On one line, though the key may be a JSON object over many. */
export function labelOf(key: string): string {
  return maskSecret(key.trim().replace(/\s+/g, ' '));
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
