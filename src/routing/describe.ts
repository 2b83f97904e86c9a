import type { Plan, Target } from '../call/plan.ts';
import type { Trace } from '../call/trace.ts';
import type { ServiceMetadata } from '../schema/envelope.ts';

/**
 * Builds the `service_metadata` of a response from the plan and its attempts.
 * @param served  index of the target that served; -1: none did
 */
export function describeRoute(plan: Plan, trace: Trace, served: number, region: string | null): ServiceMetadata {
  const selected = plan.targets[served];
  const shown = eachEndpoint(plan.targets);
  const attempts = trace.attempts.map(({ provider, model, status }) => ({ provider, model, status }));
  return {
    requested: plan.requested,
    strategy: plan.strategy,
    region,
    // `join` makes one flat string (see `inOnePiece`).
    summary: ['available=', shown.length, ', selected=', selected?.providerName ?? 'none'].join(''),
    attempt: trace.attempts.length,
    is_byok: selected?.isByok ?? false,
    endpoints: {
      total: shown.length + plan.excluded.length,
      available: shown.map(({ endpoint, providerName }) => ({
        provider: providerName,
        model: endpoint.modelSlug,
        selected: endpoint === selected?.endpoint,
      })),
    },
    ...(plan.params ? { params: plan.params } : {}),
    ...(attempts.length > 1 || (attempts.length === 1 && !selected) ? { attempts } : {}),
  };
}

/** Returns one target per endpoint: an endpoint with several credentials has several targets. */
function eachEndpoint(targets: readonly Target[]): readonly Target[] {
  // The operator has one credential per provider, so an endpoint can only repeat with BYOK or with `:thinking`.
  if (targets.every(({ isByok, reasons }) => !isByok && reasons === undefined)) return targets;
  if (targets.length <= fewTargets) return targets.filter((one, at) => isFirst(targets, one.endpoint, at));
  const seen = new Set<Target['endpoint']>();
  return targets.filter(({ endpoint }) => seen.size < seen.add(endpoint).size);
}

/** Up to this number, comparing each pair takes less time than building a set. */
const fewTargets = 12;

function isFirst(targets: readonly Target[], endpoint: Target['endpoint'], at: number): boolean {
  for (let before = 0; before < at; before++) if (targets[before]?.endpoint === endpoint) return false;
  return true;
}
