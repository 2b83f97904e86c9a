import type { GatewayOptions } from '../src/index.ts';
import { apiKey } from './bodies.ts';

/** A gateway with everything on: keys, a catalogue of 50 models at three priced endpoints each, and records. */
export function gatewayOptions(baseUrl: string, onRecord: GatewayOptions['onRecord']): GatewayOptions {
  const providers = ['north', 'south', 'west'];
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
    onRecord,
  };
}
