import type { Plan, Try } from '../call/plan.ts';
import type { Trace } from '../call/trace.ts';
import type { ServiceMetadata } from '../schema/envelope.ts';

/**
 * Plan and attempts, printed: the `service_metadata` of an answer.
 * @param served  index of the try that served; -1 when none did
 */
export function describeRoute(plan: Plan, trace: Trace, served: number, region: string | null): ServiceMetadata {
  const selected = plan.tries[served];
  const shown = eachEndpoint(plan.tries);
  const attempts = trace.attempts.map(({ provider, model, status }) => ({ provider, model, status }));
  return {
    requested: plan.requested,
    strategy: plan.strategy,
    region,
    // Joined, it is in one piece (see `inOnePiece`).
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

/** With several credentials an endpoint is tried several times, and is still one. */
function eachEndpoint(tries: readonly Try[]): readonly Try[] {
  // The operator has one for each provider: there is nothing to look for, unless a model is to reason once and once not.
  if (tries.every(({ isByok, reasons }) => !isByok && reasons === undefined)) return tries;
  if (tries.length <= fewTries) return tries.filter((one, at) => isFirst(tries, one.endpoint, at));
  const seen = new Set<Try['endpoint']>();
  return tries.filter(({ endpoint }) => seen.size < seen.add(endpoint).size);
}

/** As many are compared with each other sooner than a set of them is made. */
const fewTries = 12;

function isFirst(tries: readonly Try[], endpoint: Try['endpoint'], at: number): boolean {
  for (let before = 0; before < at; before++) if (tries[before]?.endpoint === endpoint) return false;
  return true;
}
