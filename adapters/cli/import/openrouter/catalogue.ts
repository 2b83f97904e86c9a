import { builtInProviders, createGateway, type GatewayOptions } from '../../../../src/index.ts';

/** The built-in catalogue: which providers serve a model. */
export interface Catalogue {
  /** @returns slugs of providers; none: the model is not listed */
  providersOf(slug: string): Promise<readonly string[]>;
  close(): Promise<void>;
}

/** Parts of a credential that no provider gets: they only make a provider count as set up. */
const parts: Readonly<Record<string, Record<string, string>>> = {
  'amazon-bedrock': { region: 'us-east-1' },
  azure: { resource: 'none' },
  cloudflare: { accountId: '0'.repeat(32) },
};

/** Opens the built-in catalogue. Nothing is sent to anybody. */
export function openCatalogue(): Catalogue {
  const providers: NonNullable<GatewayOptions['providers']> = {};
  for (const { slug } of builtInProviders)
    if (slug !== 'sandbox') {
      const credential = Object.hasOwn(parts, slug) ? parts[slug] : undefined;
      providers[slug] = { apiKey: 'not-a-key-of-anybody', ...(credential === undefined ? {} : { credential }) };
    }
  const gateway = createGateway({
    providers,
    authenticate: 'host',
    fetch: () => Promise.reject(new Error('the catalogue asks nobody')),
  });
  return {
    async providersOf(slug) {
      const { data } = await gateway.models.list({ output_modalities: 'all' });
      if (!data.some(({ id }) => id === slug)) return [];
      const slash = slug.indexOf('/');
      const found = await gateway.models.listEndpoints({ author: slug.slice(0, slash), slug: slug.slice(slash + 1) });
      return [...new Set(found.data.endpoints.map(({ tag }) => tag.split('/')[0] as string))];
    },
    close: () => gateway.close(),
  };
}
