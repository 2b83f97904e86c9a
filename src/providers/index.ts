import { cloudflare } from './cloudflare.ts';
import { cohere } from './cohere.ts';
import type { Provider } from './provider.ts';
import { registry } from './registry.ts';
import { sandbox } from './sandbox.ts';

export { type AiSdkModel, type AiSdkModels, type AiSdkProviderOptions, fromAiSdk } from './ai-sdk.ts';

/** Those that need code, by slug. */
const inCode = { sandbox, cloudflare, cohere } satisfies Record<string, Provider>;

/** Every provider that is built in. */
export const builtInProviders: readonly Provider[] = [...Object.values(inCode), ...registry];

/** Slug of a provider that is built in. */
export type BuiltInSlug = keyof typeof inCode | (typeof registry)[number]['slug'];

/** Slug of any provider. Editors complete those that are built in. */
export type ProviderSlug = BuiltInSlug | (string & {});
