import type { GatewayOptions } from '../../src/index.ts';
import type { ProviderPreferences } from '../../src/schema/preferences.ts';

/** A way to choose among endpoints: what each request says, and what the gateway is told. */
export interface Strategy {
  /** In Markdown. */
  title: string;
  /** Of the request with this number; undefined: nothing. */
  provider(request: number, slugs: readonly string[]): ProviderPreferences | undefined;
  options?: Partial<GatewayOptions>;
}

/** Each endpoint in turn. */
function rotated(request: number, slugs: readonly string[]): string[] {
  const first = request % slugs.length;
  return [...slugs.slice(first), ...slugs.slice(0, first)];
}

/** A sort goes by what was measured: each tenth request goes round, so that all are. */
function sortedOrRound(by: 'latency' | 'throughput'): Strategy['provider'] {
  return (request, slugs) => (request % 10 === 0 ? { order: rotated(request / 10, slugs) } : { sort: by });
}

export const strategies = {
  default: { title: 'default', provider: () => undefined },
  fast: { title: 'default, `preferred_max_latency: 0.6`', provider: () => ({ preferred_max_latency: 0.6 }) },
  price: { title: '`sort: price`', provider: () => ({ sort: 'price' }) },
  throughput: { title: '`sort: throughput`', provider: () => ({ sort: 'throughput' }) },
  throughputRound: { title: '`sort: throughput`, each tenth by `order`', provider: sortedOrRound('throughput') },
  latency: { title: '`sort: latency`', provider: () => ({ sort: 'latency' }) },
  latencyRound: { title: '`sort: latency`, each tenth by `order`', provider: sortedOrRound('latency') },
  order: { title: 'round-robin by `order`', provider: (request, slugs) => ({ order: rotated(request, slugs) }) },
  naive: {
    title: 'round-robin, one attempt',
    provider: (request, slugs) => ({ order: rotated(request, slugs).slice(0, 1), allow_fallbacks: false }),
    // Nothing is tried again, and nothing is ever left alone.
    options: { retry: { maxAttempts: 1, maxRetryAfterMs: 1e9 }, health: { failuresToCooldown: 1e9 } },
  },
} satisfies Record<string, Strategy>;

/** The default strategy where some first tokens take very long. */
export const hedges = {
  off: { title: 'hedging off', provider: () => undefined },
  on: { title: 'hedging on', provider: () => undefined, options: { hedge: { enabled: true } } },
} satisfies Record<string, Strategy>;
