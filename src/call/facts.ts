/** What the plan needs to know and cannot decide: read before planning, so that planning does no I/O. */
export interface Facts {
  /** Endpoints to leave alone for now: key of the endpoint (see `endpointKey`) to the end of its rest, epoch ms. */
  resting: ReadonlyMap<string, number>;
  /** Providers that have a credential, or need none. */
  usableProviders: ReadonlySet<string>;
  nowMs: number;
}

/** Names an endpoint in facts and in health. */
export function endpointKey(endpoint: { providerSlug: string; upstreamModel: string }): string {
  return `${endpoint.providerSlug} ${endpoint.upstreamModel}`;
}
