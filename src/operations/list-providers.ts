import * as z from 'zod';
import { providerSchema, type ShownProvider } from '../schema/provider.ts';
import type { ListingDeps } from './listings/reach.ts';
import { jsonReply, type Operation } from './operation.ts';

/** Lists the providers that could serve the caller's requests, sorted by slug. */
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
      const byok = await byokCredentials(caller.workspaceId);
      const slugs = new Set([...usableProviders, ...byok.filter((one) => !one.isRefused).map((one) => one.provider)]);
      const shown: ShownProvider[] = [];
      for (const slug of [...slugs].sort()) {
        // A credential can belong to a provider that this gateway does not serve.
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
