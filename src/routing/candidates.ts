import { type ByokCredential, type Facts, healthKey } from '../call/facts.ts';
import type { Endpoint } from '../call/model.ts';
import type { CredentialRef } from '../call/plan.ts';
import type { WorkspaceId } from '../call/workspace.ts';
import type { RankedEndpoint } from './rank.ts';

/** Whether one of the workspace's own credentials may be used for this request at an endpoint. */
export type Fits = (credential: ByokCredential, endpoint: Endpoint) => boolean;

/** Told of an endpoint and a credential it is reached with, and until when it has to rest, epoch ms; undefined: it need not. */
export type Visit = (entry: RankedEndpoint, credential: CredentialRef, cooldownUntilMs: number | undefined) => void;

/**
 * Goes through endpoints, in order, with the credentials they are reached with: the workspace's own first, then the
 * operator's, then the workspace's own that are fallbacks.
 * @param entries  ranked: what is known of their rests is of then
 */
export function visitReaches(entries: readonly RankedEndpoint[], facts: Facts, fits: Fits, visit: Visit): void {
  const hasByok = facts.byokCredentials.length > 0;
  if (hasByok) visitByok(entries, facts, fits, false, visit);
  const byProvider = operatorsOf(facts.usableProviders);
  for (const entry of entries) {
    const credential = byProvider.get(entry.endpoint.providerSlug);
    if (credential !== undefined) visit(entry, credential, entry.cooldownUntilMs);
  }
  if (hasByok) visitByok(entries, facts, fits, true, visit);
}

const known = new WeakMap<ReadonlySet<string>, ReadonlyMap<string, CredentialRef>>();

/** The operator's credentials by provider: the same for every plan of a gateway. */
function operatorsOf(usableProviders: ReadonlySet<string>): ReadonlyMap<string, CredentialRef> {
  let operators = known.get(usableProviders);
  if (operators === undefined) {
    operators = new Map([...usableProviders].map((provider) => [provider, { kind: 'operator', provider }]));
    known.set(usableProviders, operators);
  }
  return operators;
}

const refs = new WeakMap<ByokCredential, CredentialRef>();

/** The same object for as long as the credential is believed as it was read: what is known of it is found by that. */
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
      const credential = refTo(own, workspaceId);
      visit(entry, credential, health.cooldownUntil(healthKey(endpoint, credential)));
    }
  }
}
