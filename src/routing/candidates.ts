import { type Facts, type OwnCredential, restKey } from '../call/facts.ts';
import type { Endpoint } from '../call/model.ts';
import type { CredentialRef } from '../call/plan.ts';

/** An endpoint with a credential it may be called with. */
export interface Reach {
  endpoint: Endpoint;
  credential: CredentialRef;
}

/** Whether one of the workspace's own credentials may be used for this request at an endpoint. */
export type Fits = (credential: OwnCredential, endpoint: Endpoint) => boolean;

/**
 * The endpoints of one model, in order, with the credentials they are reached with: the workspace's own first, then the
 * operator's, then the workspace's own that are fallbacks.
 */
export function reaches(endpoints: readonly Endpoint[], facts: Facts, fits: Fits): Reach[] {
  const operator = endpoints
    .filter(({ providerSlug }) => facts.usableProviders.has(providerSlug))
    .map((endpoint): Reach => ({ endpoint, credential: { kind: 'operator', provider: endpoint.providerSlug } }));
  if (facts.ownCredentials.length === 0) return operator;
  const own = (isFallback: boolean) =>
    endpoints.flatMap((endpoint) =>
      facts.ownCredentials
        .filter((one) => one.isFallback === isFallback && one.provider === endpoint.providerSlug && fits(one, endpoint))
        .map(
          ({ id, provider }): Reach => ({
            endpoint,
            credential: { kind: 'own', provider, id, workspaceId: facts.workspaceId },
          }),
        ),
    );
  return [...own(false), ...operator, ...own(true)];
}

/** When a reach has rested, epoch ms; undefined: it need not. */
export function restsUntil({ endpoint, credential }: Reach, facts: Facts): number | undefined {
  return facts.resting.get(restKey(endpoint, credential));
}
