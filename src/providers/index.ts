import { amazonBedrock } from './amazon-bedrock.ts';
import { anthropic } from './anthropic.ts';
import { azure } from './azure.ts';
import { cloudflare } from './cloudflare.ts';
import { cohere } from './cohere.ts';
import { googleAiStudio } from './google-ai-studio.ts';
import { googleVertex } from './google-vertex.ts';
import type { Provider } from './provider.ts';
import { registry } from './registry.ts';
import { sandbox } from './sandbox/index.ts';
import { providersWithoutAddress } from './without-address.ts';

export { type AiSdkModel, type AiSdkModels, type AiSdkProviderOptions, fromAiSdk } from './ai-sdk/index.ts';
export { type ClientCredentialsOptions, clientCredentials } from './keys/client-credentials.ts';

/** The providers that need code, by slug. */
const inCode = {
  sandbox,
  'amazon-bedrock': amazonBedrock,
  anthropic,
  azure,
  cloudflare,
  cohere,
  'google-ai-studio': googleAiStudio,
  'google-vertex': googleVertex,
} satisfies Record<string, Provider>;

/** Every provider that is built in with an address. */
export const builtInProviders: readonly Provider[] = [...Object.values(inCode), ...registry];

/** Slug of a provider that is built in, with or without an address. */
export type BuiltInSlug =
  | keyof typeof inCode
  | (typeof registry)[number]['slug']
  | (typeof providersWithoutAddress)[number]['slug'];

/** The slugs of all built-in providers, with or without an address. */
export function builtInSlugs(): ReadonlySet<string> {
  return new Set([...builtInProviders, ...providersWithoutAddress].map(({ slug }) => slug));
}

/** The slug of any provider. Editors complete the built-in ones. */
export type ProviderSlug = BuiltInSlug | (string & {});
