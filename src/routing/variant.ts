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
  /** true: the model has to reason, unless the request itself sets the effort. */
  reasons?: true;
}

/** Suffixes that ask for a plugin, such as `online`, each with the id of its plugin. */
export type PluginVariants = ReadonlyMap<string, string>;

/** `:free` and the others. @see completed facts, "Model slug suffixes" */
const suffixes: Readonly<Record<string, (endpoints: readonly Endpoint[]) => Variant>> = {
  free: () => ({ rule: ['free', isFree] }),
  nitro: () => ({ sort: 'throughput', tier: 'priority' }),
  floor: () => ({ sort: 'price', tier: 'flex' }),
  exacto: () => ({ sort: 'exacto' }),
  thinking: () => ({ rule: ['thinking', canReason], reasons: true }),
  extended: (endpoints) => {
    const longest = Math.max(...endpoints.map(({ contextLength }) => contextLength ?? 0));
    return { rule: ['extended', ({ contextLength }) => contextLength !== null && contextLength >= longest] };
  },
};

/** true: a suffix has a meaning of its own, so that no plugin can have it. */
export function isRoutingVariant(suffix: string): boolean {
  return Object.hasOwn(suffixes, suffix);
}

/** Splits the last known suffix off a slug; null: the slug does not end with a known suffix. */
export function splitSuffix(slug: string, ofPlugins: PluginVariants): Split | null {
  const colon = slug.lastIndexOf(':');
  if (colon <= 0) return null;
  const suffix = slug.slice(colon + 1);
  return isRoutingVariant(suffix) || ofPlugins.has(suffix) ? { base: slug.slice(0, colon), suffix } : null;
}

interface Split {
  base: string;
  suffix: string;
}

const unsplit: readonly Split[] = [];

/** The most suffixes of a slug. There are fewer. The catalogue looks up the rest of the slug after each of them. */
const maxSuffixes = 10;

/** Splits known suffixes off a slug, the last one first. More than ten belong to the name. */
export function splitSuffixes(slug: string, ofPlugins: PluginVariants): readonly Split[] {
  let splits: Split[] | null = null;
  for (let split = splitSuffix(slug, ofPlugins); split; split = splitSuffix(split.base, ofPlugins)) {
    splits ??= [];
    if (splits.push(split) === maxSuffixes) break;
  }
  return splits ?? unsplit;
}

/**
 * Returns the variants of several suffixes; those of plugins have no effect on routing. When two of them sort, the last
 * one counts.
 * @param endpoints  the endpoints of the model that could be used
 */
export function variantOf(endpoints: readonly Endpoint[], names: readonly string[]): readonly Variant[] {
  return names.flatMap((name) => (isRoutingVariant(name) ? (suffixes[name]?.(endpoints) ?? []) : []));
}

/** true: a request costs nothing. The prices that apply to every request are known and zero. */
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
