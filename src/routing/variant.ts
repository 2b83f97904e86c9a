import type { Endpoint } from '../call/model.ts';
import type { SortBy } from './sort.ts';

/** The effect of a slug's suffix, or of the router that chose the model. */
export interface Variant {
  /** The sort of the endpoints when the request itself sets none. */
  sort?: SortBy;
  /** Endpoints of this service tier may be used. */
  tier?: NonNullable<Endpoint['serviceTier']>;
  /** A rule that each endpoint of the model has to pass, with the name that `metadata.excluded` shows. */
  rule?: readonly [name: string, passes: (endpoint: Endpoint) => boolean];
  /** The model has to reason, unless the request itself says how much. */
  reasons?: true;
  /** Adds this plugin to the request. */
  plugin?: 'web';
}

/** `:free` and the others. @see completed facts, "Model slug suffixes" */
const suffixes: Readonly<Record<string, (endpoints: readonly Endpoint[]) => Variant>> = {
  free: () => ({ rule: ['free', isFree] }),
  nitro: () => ({ sort: 'throughput', tier: 'priority' }),
  floor: () => ({ sort: 'price', tier: 'flex' }),
  exacto: () => ({ sort: 'exacto' }),
  online: () => ({ plugin: 'web' }),
  thinking: () => ({ rule: ['thinking', canReason], reasons: true }),
  extended: (endpoints) => {
    const longest = Math.max(...endpoints.map(({ contextLength }) => contextLength ?? 0));
    return { rule: ['extended', ({ contextLength }) => contextLength !== null && contextLength >= longest] };
  },
};

/** Splits the last known suffix off a slug; null: the slug does not end with a known suffix. */
export function splitSuffix(slug: string): { base: string; suffix: string } | null {
  const colon = slug.lastIndexOf(':');
  if (colon <= 0) return null;
  const suffix = slug.slice(colon + 1);
  return Object.hasOwn(suffixes, suffix) ? { base: slug.slice(0, colon), suffix } : null;
}

/**
 * Returns the variants of several suffixes. When two of them sort, the last one counts.
 * @param endpoints  the endpoints of the model that could be used
 */
export function variantOf(endpoints: readonly Endpoint[], names: readonly string[]): readonly Variant[] {
  return names.map((name) => (suffixes[name] as (typeof suffixes)[string])(endpoints));
}

/** Whether a request costs nothing: the prices that apply to every request are known and zero. */
export function isFree({ pricing }: Endpoint): boolean {
  return (
    pricing !== null &&
    pricing.promptPicoUsd === 0 &&
    pricing.completionPicoUsd === 0 &&
    (pricing.requestPicoUsd ?? 0) === 0
  );
}

function canReason({ supportedParameters }: Endpoint): boolean {
  return supportedParameters?.includes('reasoning') === true;
}
