import * as z from 'zod';
import { providerSchema, type ShownProvider } from '../../schema/models/provider.ts';
import { type PartFields, type PartQuery, partOf, partQuery } from '../../schema/page.ts';
import { type ApiOperation, jsonReply } from '../operation.ts';
import { allowedProviders, type ListingDeps, operatorsFor } from './reach.ts';

/** Lists the providers that could serve the caller's requests, sorted by slug. */
export function listProviders(
  deps: Pick<ListingDeps, 'provider' | 'usableProviders' | 'byokCredentials' | 'defaultsOf' | 'imposedOn' | 'catalog'>,
): ApiOperation<'providers.list', PartFields, { data: ShownProvider[] }, unknown, PartQuery> {
  const { provider, byokCredentials } = deps;
  return {
    name: 'listProviders',
    api: 'providers.list',
    method: 'GET',
    path: '/providers',
    permissions: ['inference', 'management'],
    body: null,
    query: partQuery,
    result: () => z.object({ data: z.array(providerSchema()) }),
    async run({ query, caller }) {
      const [byok, { usableProviders }, allowed] = await Promise.all([
        byokCredentials(caller.workspaceId),
        operatorsFor(deps, caller),
        allowedProviders(deps, caller),
      ]);
      const slugs = new Set([...usableProviders, ...byok.filter((one) => !one.isRefused).map((one) => one.provider)]);
      const shown: ShownProvider[] = [];
      for (const slug of [...slugs].sort()) {
        // A credential can belong to a provider that this gateway does not serve.
        const found = provider(slug);
        if (found && (allowed === null || allowed.has(slug))) shown.push({ name: found.name, slug, ...unknown });
      }
      return jsonReply({ data: partOf(shown, query) });
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
