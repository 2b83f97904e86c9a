import type { GatewayOptions } from '../../src/index.ts';
import type { ProviderPreferences } from '../../src/schema/chat/preferences.ts';

/** A way to choose among endpoints: the preferences of each request, and options of the gateway. */
export interface Strategy {
  /** Title in Markdown. */
  title: string;
  /** Returns the preferences of the request with this number; undefined: none. */
  provider(request: number, slugs: readonly string[]): ProviderPreferences | undefined;
  options?: Partial<GatewayOptions>;
}

/** Round-robin: another endpoint is first for each request. */
function rotated(request: number, slugs: readonly string[]): string[] {
  const first = request % slugs.length;
  return [...slugs.slice(first), ...slugs.slice(0, first)];
}

/** A sort needs measurements of every endpoint, so each tenth request uses round-robin instead. */
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
    // No retry, no fallback and no cooldown.
    options: { retry: { maxAttempts: 1, maxRetryAfterMs: 1e9 }, health: { failuresToCooldown: 1e9 } },
  },
} satisfies Record<string, Strategy>;

/** The default strategy with and without hedging, for a scenario with some very slow first tokens. */
export const hedges = {
  off: { title: 'hedging off', provider: () => undefined },
  on: { title: 'hedging on', provider: () => undefined, options: { hedge: { enabled: true } } },
} satisfies Record<string, Strategy>;
