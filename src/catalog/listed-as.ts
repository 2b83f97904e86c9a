import type { Endpoint } from '../call/model.ts';

/** The provider and the name under which lists of models and prices know an endpoint. */
export function listedAs({
  listedAs: listed,
  providerSlug,
  upstreamModel,
}: Pick<Endpoint, 'listedAs' | 'providerSlug' | 'upstreamModel'>): { providerSlug: string; upstreamModel: string } {
  return listed ?? { providerSlug, upstreamModel };
}

/** The name under which a list knows an endpoint, in one text. */
export function listedName({ providerSlug, upstreamModel }: Pick<Endpoint, 'providerSlug' | 'upstreamModel'>): string {
  return `${providerSlug} ${upstreamModel}`;
}
