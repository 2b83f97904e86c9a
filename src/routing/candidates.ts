import { type Facts, type OwnCredential, restKey } from '../call/facts.ts';
import type { Endpoint } from '../call/model.ts';
import type { CredentialRef } from '../call/plan.ts';
import type { Entry } from './rank.ts';

/** An endpoint with a credential it may be called with. */
export interface Reach {
  entry: Entry;
  credential: CredentialRef;
}

/** Whether one of the workspace's own credentials may be used for this request at an endpoint. */
export type Fits = (credential: OwnCredential, endpoint: Endpoint) => boolean;

/**
 * Endpoints, in order, with the credentials they are reached with: the workspace's own first, then the operator's, then
 * the workspace's own that are fallbacks.
 */
export function reaches(entries: readonly Entry[], facts: Facts, fits: Fits): Reach[] {
  const operator: Reach[] = [];
  for (const entry of entries) {
    const { providerSlug } = entry.endpoint;
    if (facts.usableProviders.has(providerSlug))
      operator.push({ entry, credential: { kind: 'operator', provider: providerSlug } });
  }
  if (facts.ownCredentials.length === 0) return operator;
  const own = (isFallback: boolean) =>
    entries.flatMap((entry) =>
      facts.ownCredentials
        .filter(
          (one) =>
            one.isFallback === isFallback && one.provider === entry.endpoint.providerSlug && fits(one, entry.endpoint),
        )
        .map(
          ({ id, provider }): Reach => ({
            entry,
            credential: { kind: 'own', provider, id, workspaceId: facts.workspaceId },
          }),
        ),
    );
  return [...own(false), ...operator, ...own(true)];
}

/** When a reach has rested, epoch ms; undefined: it need not. */
export function restsUntil({ entry, credential }: Reach, { health }: Facts): number | undefined {
  return health.restsUntil(restKey(entry.endpoint, credential));
}
