import * as z from 'zod';
import type { NoFields } from '../schema/page.ts';
import { providerSchema, type ShownProvider } from '../schema/provider.ts';
import { type ListingDeps, operatorsFor } from './listings/reach.ts';
import { type ApiOperation, jsonReply } from './operation.ts';

/** Lists the providers that could serve the caller's requests, sorted by slug. */
export function listProviders(
  deps: Pick<ListingDeps, 'provider' | 'usableProviders' | 'byokCredentials' | 'defaultsOf'>,
): ApiOperation<'providers.list', NoFields, { data: ShownProvider[] }> {
  const { provider, byokCredentials } = deps;
  return {
    name: 'listProviders',
    api: 'providers.list',
    method: 'GET',
    path: '/providers',
    permissions: ['inference', 'management'],
    body: null,
    result: () => z.object({ data: z.array(providerSchema()) }),
    async run({ caller }) {
      const [byok, { usableProviders }] = await Promise.all([
        byokCredentials(caller.workspaceId),
        operatorsFor(deps, caller),
      ]);
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
