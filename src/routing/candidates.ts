import { type ByokCredential, type Facts, healthKey, ownKeyHealth } from '../call/facts.ts';
import type { Endpoint } from '../call/model.ts';
import type { CredentialRef } from '../call/plan.ts';
import type { WorkspaceId } from '../call/workspace.ts';
import type { KeyRef } from './key-ring.ts';
import type { RankedEndpoint } from './rank.ts';

/** Tells whether a BYOK credential may be used for this request at an endpoint. */
export type Fits = (credential: ByokCredential, endpoint: Endpoint) => boolean;

/**
 * Receives an endpoint and a credential to call it with.
 * @param cooldownUntilMs  end of the cooldown of the two together, epoch ms; undefined: no cooldown
 */
export type Visit = (entry: RankedEndpoint, credential: CredentialRef, cooldownUntilMs: number | undefined) => void;

/**
 * Visits the endpoints in the order of `entries`, once for each kind of credential: first with the workspace's BYOK
 * credentials, then with the operator's, then with the BYOK credentials that are fallbacks.
 * @param entries  ranked; for the operator's credential, their `cooldownUntilMs` must be set
 */
export function visitCandidates(entries: readonly RankedEndpoint[], facts: Facts, fits: Fits, visit: Visit): void {
  const hasByok = facts.byokCredentials.length > 0;
  if (hasByok) visitByok(entries, facts, fits, false, visit);
  const byProvider = operatorsOf(facts.usableProviders);
  for (const entry of entries) {
    const credential = byProvider.get(entry.endpoint.providerSlug);
    if (credential === undefined) continue;
    const keys = facts.keysOf?.(entry.endpoint.providerSlug) ?? null;
    if (keys === null) visit(entry, credential, entry.cooldownUntilMs);
    else visitKeys(entry, keys, facts, visit);
  }
  if (hasByok) visitByok(entries, facts, fits, true, visit);
}

/** Visits an endpoint with each of the operator's keys. A cooldown is of the endpoint, or of the key at it. */
function visitKeys(entry: RankedEndpoint, keys: readonly CredentialRef[], { health }: Facts, visit: Visit): void {
  for (const credential of keys) {
    const ofKeyMs = health.cooldownUntil(ownKeyHealth(entry.endpoint, credential as KeyRef));
    const ofBothMs = Math.max(ofKeyMs ?? 0, entry.cooldownUntilMs ?? 0);
    visit(entry, credential, ofBothMs === 0 ? undefined : ofBothMs);
  }
}

const known = new WeakMap<ReadonlySet<string>, ReadonlyMap<string, CredentialRef>>();

/** Maps providers to the operator's credentials. All plans of a gateway share one map. */
function operatorsOf(usableProviders: ReadonlySet<string>): ReadonlyMap<string, CredentialRef> {
  let operators = known.get(usableProviders);
  if (operators === undefined) {
    operators = new Map([...usableProviders].map((provider) => [provider, { kind: 'operator', provider }]));
    known.set(usableProviders, operators);
  }
  return operators;
}

const refs = new WeakMap<ByokCredential, CredentialRef>();

/** Returns the same object as long as `own` is cached, because `healthKey` finds its keys by this object. */
function refTo(own: ByokCredential, workspaceId: WorkspaceId): CredentialRef {
  let ref = refs.get(own);
  if (ref === undefined) {
    ref = { kind: 'byok', provider: own.provider, id: own.id, workspaceId };
    refs.set(own, ref);
  }
  return ref;
}

function visitByok(
  entries: readonly RankedEndpoint[],
  facts: Facts,
  fits: Fits,
  isFallback: boolean,
  visit: Visit,
): void {
  const { byokCredentials, workspaceId, health } = facts;
  for (const entry of entries) {
    const { endpoint } = entry;
    for (const own of byokCredentials) {
      if (own.isFallback !== isFallback || own.provider !== endpoint.providerSlug || !fits(own, endpoint)) continue;
      if (own.isRefused) {
        if (own.lacks === undefined) entry.refusesByok = true;
        else entry.byokLacks = own.lacks;
        continue;
      }
      const credential = refTo(own, workspaceId);
      visit(entry, credential, health.cooldownUntil(healthKey(endpoint, credential)));
    }
  }
}
