import type { Endpoint } from '../call/model.ts';
import type { Exclusion, Target } from '../call/plan.ts';
import { placeIn, type RankContext } from './rank.ts';

/**
 * Returns the targets of a request that allows no fallbacks: the first one; with `order`, each endpoint of the first
 * one's model, in that order and with its first credential. The other endpoints are excluded.
 * @param targets  at least one; with `order`, only endpoints that it names
 */
export function withoutFallbacks(
  targets: readonly Target[],
  order: RankContext['order'],
  excluded: Exclusion[],
): readonly Target[] {
  const [first] = targets as [Target];
  const kept = new Map([[first.endpoint, first]]);
  const dropped = new Set<Endpoint>();
  for (const target of targets) {
    const { endpoint, modelIndex } = target;
    if (kept.has(endpoint)) continue;
    if (order !== null && modelIndex === first.modelIndex) kept.set(endpoint, target);
    else dropped.add(endpoint);
  }
  for (const { modelSlug, tag } of dropped)
    excluded.push({ model: modelSlug, provider: tag, filter: 'allow_fallbacks' });
  const targetsKept = [...kept.values()];
  return order === null
    ? targetsKept
    : targetsKept.sort((a, b) => placeIn(order, a.endpoint) - placeIn(order, b.endpoint));
}
