import type { GatewayOptions } from '../src/index.ts';
import { apiKey } from './bodies.ts';

/** A gateway with everything on: keys, a catalogue of 50 models at three priced endpoints each, and records. */
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
    // Of a draw that is always the same the first endpoint comes first: what a request costs is known beforehand.
    random: () => 0,
    onRecord,
  };
}

/** For which the workspace brings a credential: serves first, since it does. */
export const tenantProvider = 'together';
/** What the operator manages workspaces with. */
export const managementKey = 'bench-management-key-0123456789';

/** The same gateway for workspaces, whose credentials count against their budgets. */
export function tenantOptions(
  baseUrl: string,
  onRecord: GatewayOptions['onRecord'],
  store: GatewayOptions['store'],
): GatewayOptions {
  return {
    // Credentials are for companies that are known. Of these the gateway knows no oddities.
    ...gatewayOptions(baseUrl, onRecord, [tenantProvider, 'novita', 'friendli']),
    apiKeys: [{ key: managementKey, permissions: ['management'] }],
    store,
    secrets: { current: 'the master secret of a measurement, which seals nothing of worth' },
    budgets: { includeByok: true },
    // On a busy machine the measurement gets slow, and does not fail.
    storeTimeoutMs: 10_000,
  };
}

/**
 * What one request of `bodies.ts` costs at the first endpoint, by hand: 84 tokens of the prompt at 1,500 nano-USD, 128
 * from the cache at 75, 98 of the answer at 60,000.
 */
export const costNanoUsd = 84 * 1500 + 128 * 75 + 98 * 60_000;
