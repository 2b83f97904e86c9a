import * as z from 'zod';
import { providerSchema, type ShownProvider } from '../schema/provider.ts';
import type { ListingDeps } from './listings/reach.ts';
import { jsonReply, type Operation } from './operation.ts';

/** The providers the caller's requests could come to, by slug. */
export function listProviders({
  provider,
  usableProviders,
  byokCredentials,
}: Pick<ListingDeps, 'provider' | 'usableProviders' | 'byokCredentials'>): Operation {
  return {
    name: 'listProviders',
    method: 'GET',
    path: '/providers',
    permissions: ['inference', 'management'],
    body: null,
    result: () => z.object({ data: z.array(providerSchema()) }),
    async run({ caller }) {
      const own = await byokCredentials(caller.workspaceId);
      const slugs = new Set([...usableProviders, ...own.map((one) => one.provider)]);
      const shown: ShownProvider[] = [];
      for (const slug of [...slugs].sort()) {
        // A credential may be for a provider that is not served here.
        const found = provider(slug);
        if (found) shown.push({ name: found.name, slug, ...unknown });
      }
      return jsonReply({ data: shown });
    },
  };
}

const unknown = {
  privacy_policy_url: null,
  terms_of_service_url: null,
  status_page_url: null,
  headquarters: null,
  datacenters: null,
};
