import type { Plan, Try } from '../call/plan.ts';
import type { Trace } from '../call/trace.ts';
import type { ServiceMetadata } from '../schema/envelope.ts';

/**
 * Plan and attempts, printed: the `service_metadata` of an answer.
 * @param served  index of the try that served; -1 when none did
 */
export function describeRoute(plan: Plan, trace: Trace, served: number, region: string | null): ServiceMetadata {
  const selected = plan.tries[served];
  // With several credentials an endpoint is tried several times, and is still one.
  const endpoints = [...new Set(plan.tries.map(({ endpoint }) => endpoint))];
  const attempts = trace.attempts.map(({ provider, model, status }) => ({ provider, model, status }));
  return {
    requested: plan.requested,
    strategy: plan.strategy,
    region,
    summary: `available=${endpoints.length}${selected ? `, selected=${selected.providerName}` : ', selected=none'}`,
    attempt: trace.attempts.length,
    is_byok: selected?.isByok ?? false,
    endpoints: {
      total: endpoints.length + plan.excluded.length,
      available: endpoints.map((endpoint) => ({
        provider: (plan.tries.find((one) => one.endpoint === endpoint) as Try).providerName,
        model: endpoint.modelSlug,
        selected: endpoint === selected?.endpoint,
      })),
    },
    ...(attempts.length > 1 || (attempts.length === 1 && !selected) ? { attempts } : {}),
  };
}
