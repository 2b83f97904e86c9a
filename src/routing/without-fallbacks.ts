import type { Endpoint } from '../call/model.ts';
import type { Exclusion, Target } from '../call/plan.ts';
import { keyRefOf } from './key-ring.ts';
import { placeIn, type RankContext } from './rank.ts';

/**
 * Returns the targets of a request that allows no fallbacks: the first one; with `order`, each endpoint of the first
 * one's model, in that order and with its first credential. The other endpoints are excluded. Several keys of the
 * operator at one provider count as one credential.
 * @param targets  at least one; with `order`, only endpoints that it names
 */
export function withoutFallbacks(
  targets: readonly Target[],
  order: RankContext['order'],
  excluded: Exclusion[],
): readonly Target[] {
  const [first] = targets as [Target];
  const kept = new Map([[first.endpoint, [first]]]);
  const dropped = new Set<Endpoint>();
  for (const target of targets) {
    if (target === first) continue;
    const { endpoint, modelIndex } = target;
    const others = kept.get(endpoint);
    if (others !== undefined) {
      if (isOtherKey(target, others[0] as Target)) others.push(target);
    } else if (order !== null && modelIndex === first.modelIndex) kept.set(endpoint, [target]);
    else dropped.add(endpoint);
  }
  for (const { modelSlug, tag } of dropped)
    excluded.push({ model: modelSlug, provider: tag, filter: 'allow_fallbacks' });
  const targetsKept = [...kept.values()].flat();
  return order === null
    ? targetsKept
    : targetsKept.sort((a, b) => placeIn(order, a.endpoint) - placeIn(order, b.endpoint));
}

function isOtherKey({ credential, reasons }: Target, first: Target): boolean {
  return keyRefOf(credential) !== null && keyRefOf(first.credential) !== null && reasons === first.reasons;
}
