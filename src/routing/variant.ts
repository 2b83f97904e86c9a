import type { Endpoint } from '../call/model.ts';
import type { SortBy } from './sort.ts';

/** What a suffix of a slug asks for. */
export interface Variant {
  /** How endpoints are sorted, where the request itself does not say. */
  sort?: SortBy;
  /** Endpoints of this service tier take part. */
  tier?: NonNullable<Endpoint['serviceTier']>;
  /** The rule each endpoint of the model has to pass, by the name it is shown with. */
  rule?: readonly [name: string, passes: (endpoint: Endpoint) => boolean];
  /** The model is to reason, unless the request says how much. */
  reasons?: true;
  /** The request asks for this plugin. */
  plugin?: 'web';
}

/** `:free` and its like. @see completed facts, "Model slug suffixes" */
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

/** Takes the last suffix off a slug. @returns null where no suffix is left that means something here */
export function splitSuffix(slug: string): { base: string; suffix: string } | null {
  const colon = slug.lastIndexOf(':');
  if (colon <= 0) return null;
  const suffix = slug.slice(colon + 1);
  return Object.hasOwn(suffixes, suffix) ? { base: slug.slice(0, colon), suffix } : null;
}

/**
 * What several suffixes ask for together; of two that sort, the last one does.
 * @param endpoints  those of the model that could be used
 */
export function variantOf(endpoints: readonly Endpoint[], names: readonly string[]): readonly Variant[] {
  return names.map((name) => (suffixes[name] as (typeof suffixes)[string])(endpoints));
}

/** Whether nothing is charged for a request: each of the prices that every request meets is known to be zero. */
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
