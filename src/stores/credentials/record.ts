import { maskSecret } from '../../base/secrets.ts';
import type { ByokCredential } from '../../call/facts.ts';
import { credentialSchema, type ShownCredential, type StoredCredential } from '../../schema/tenants/credential.ts';

export const credentialKind = 'credential';

/**
 * The fields of a credential that a response may contain, and no others.
 * @param notSent  why its provider gets no credentials of workspaces; null: the provider gets them
 */
export function shownCredential(record: StoredCredential, notSent: string | null): ShownCredential {
  const reason = notSent ?? record.lacks ?? null;
  return credentialSchema().parse(reason === null ? record : { ...record, unusable_reason: reason });
}

/**
 * The part of a credential that planning needs.
 * @param isTaken  true: the gateway sends credentials of workspaces to the provider
 */
export function ownCredential(record: StoredCredential, isTaken: boolean): ByokCredential {
  return {
    id: record.id,
    provider: record.provider,
    ...(isTaken ? {} : { isRefused: true }),
    ...(isTaken && record.lacks != null ? { isRefused: true, lacks: record.lacks } : {}),
    isFallback: record.is_fallback,
    allowedModels: record.allowed_models,
    allowedUserIds: record.allowed_user_ids,
    allowedApiKeyHashes: record.allowed_api_key_hashes,
  };
}

/** Sorts credentials in the order of use; of equal ones, the older comes first. */
export function byTrying(a: StoredCredential, b: StoredCredential): number {
  return (
    Number(a.is_fallback) - Number(b.is_fallback) ||
    a.sort_order - b.sort_order ||
    compare(a.created_at, b.created_at) ||
    compare(a.id, b.id)
  );
}

/** The label is one line, although the key may be a JSON object of many lines. */
export function labelOf(key: string): string {
  return maskSecret(key.trim().replace(/\s+/g, ' '));
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
