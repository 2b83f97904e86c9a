import type { GatewayOptions } from '../src/index.ts';
import { apiKey } from './bodies.ts';

/** Options of a gateway with all features: keys, a catalogue of 50 models with three priced endpoints each, records. */
export function gatewayOptions(
  baseUrl: string,
  onRecord: GatewayOptions['onRecord'],
  providers = ['north', 'south', 'west'],
): GatewayOptions {
  return {
    apiKeys: [
      { key: apiKey, permissions: ['inference'] },
      { key: 'bench-key-of-somebody-else', permissions: ['inference'] },
    ],
    providers: Object.fromEntries(providers.map((slug) => [slug, { apiKey: `key-of-${slug}`, baseUrl }])),
    models: Array.from({ length: 50 }, (_, at) => ({
      slug: `bench/model-${at}`,
      endpoints: providers.map((provider, place) => ({
        provider,
        model: `bench-model-${at}`,
        pricing: { prompt: `0.00000${15 + place}`, completion: `0.0000${6 + place}`, inputCacheRead: '0.000000075' },
        contextLength: 128_000,
        maxCompletionTokens: 16_384,
        supportedParameters: ['temperature', 'top_p', 'max_tokens', 'seed', 'stop', 'tools', 'tool_choice'],
      })),
    })),
    // With a constant random number the first endpoint always serves, so the cost of a request is known in advance.
    random: () => 0,
    onRecord,
  };
}

/** The provider of the workspace's BYOK credential; for this reason it serves first. */
export const tenantProvider = 'together';
/** BYOK credentials need known providers. The gateway has no quirks for these three. */
const tenantProviders = [tenantProvider, 'novita', 'friendli'];
/** The operator's key for managing workspaces. */
export const managementKey = 'bench-management-key-0123456789';

/** The same gateway with workspaces. Requests with BYOK credentials count against the budgets. */
export function tenantOptions(
  baseUrl: string,
  onRecord: GatewayOptions['onRecord'],
  store: GatewayOptions['store'],
): GatewayOptions {
  return {
    ...gatewayOptions(baseUrl, onRecord, tenantProviders),
    providers: Object.fromEntries(
      tenantProviders.map((slug) => [slug, { apiKey: `key-of-${slug}`, baseUrl, byok: true }]),
    ),
    apiKeys: [{ key: managementKey, permissions: ['management'] }],
    store,
    secrets: { current: 'the master secret of a measurement, which seals nothing of worth' },
    budgets: { includeByok: true },
    // On a busy machine the measurement should become slow, but not fail.
    storeTimeoutMs: 10_000,
  };
}

/**
 * Cost of one request of `bodies.ts` at the first endpoint, calculated by hand: 284 prompt tokens at 1,500 nano-USD,
 * 128 cached tokens at 75, 98 completion tokens at 60,000.
 */
export const costNanoUsd = 284 * 1500 + 128 * 75 + 98 * 60_000;
