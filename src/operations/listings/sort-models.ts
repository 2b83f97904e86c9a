import { endpointKey } from '../../call/facts.ts';
import { averagePrice } from '../../routing/rank.ts';
import type { ModelSort } from '../../schema/model.ts';
import { contextOf } from './model-response.ts';
import { cheapest } from './pricing.ts';
import type { ListingDeps, ReachedModel } from './reach.ts';

/** What a model is put in order by, lowest first; null: not known, which comes last. */
type Key = (reached: ReachedModel) => number | null;

/** Those that are equal, and all where nothing is known, stay in the catalogue's order. */
export function sortModels(
  models: readonly ReachedModel[],
  sort: ModelSort,
  { health, clock }: Pick<ListingDeps, 'health' | 'clock'>,
): readonly ReachedModel[] {
  const nowMs = clock.now();
  const key = keyOf(sort, (endpoint) => health.statistics(endpointKey(endpoint), nowMs));
  if (key === null) return models;
  return models
    .map((reached) => ({ reached, key: key(reached) ?? Number.POSITIVE_INFINITY }))
    .sort((a, b) => (a.key === b.key ? 0 : a.key - b.key))
    .map(({ reached }) => reached);
}

type Statistics = (endpoint: ReachedModel['endpoints'][number]) => ReturnType<ListingDeps['health']['statistics']>;

function keyOf(sort: ModelSort, statistics: Statistics): Key | null {
  switch (sort) {
    case 'newest':
      return ({ model }) => negative(model.created);
    case 'pricing-low-to-high':
      return ({ endpoints }) => averagePrice(cheapest(endpoints));
    case 'pricing-high-to-low':
      return ({ endpoints }) => negative(averagePrice(cheapest(endpoints)));
    case 'context-high-to-low':
      return ({ model, endpoints }) => negative(contextOf(model, endpoints));
    case 'throughput-high-to-low':
      return ({ endpoints }) => lowest(endpoints.map((one) => negative(statistics(one).throughput30m?.p50)));
    case 'latency-low-to-high':
      return ({ endpoints }) => lowest(endpoints.map((one) => statistics(one).latency30m?.p50 ?? null));
    case 'intelligence-high-to-low':
      return ({ model }) => negative(model.quality);
    // Nobody counts what is popular, or plays models against each other.
    case 'most-popular':
    case 'top-weekly':
    case 'design-arena-elo-high-to-low':
      return null;
  }
}

function negative(value: number | null | undefined): number | null {
  return value === null || value === undefined ? null : -value;
}

function lowest(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : Math.min(...known);
}
