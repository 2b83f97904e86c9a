import type { Plan } from '../call/plan.ts';
import type { Trace } from '../call/trace.ts';
import type { ServiceMetadata } from '../schema/envelope.ts';

/**
 * Plan and attempts, printed: the `service_metadata` of an answer.
 * @param served  index of the try that served; -1 when none did
 */
export function describeRoute(plan: Plan, trace: Trace, served: number, region: string | null): ServiceMetadata {
  const selected = plan.tries[served];
  const attempts = trace.attempts.map(({ provider, model, status }) => ({ provider, model, status }));
  return {
    requested: plan.requested,
    strategy: plan.strategy,
    region,
    summary: `available=${plan.tries.length}${selected ? `, selected=${selected.providerName}` : ', selected=none'}`,
    attempt: trace.attempts.length,
    is_byok: selected?.isByok ?? false,
    endpoints: {
      total: plan.tries.length + plan.excluded.length,
      available: plan.tries.map((one, index) => ({
        provider: one.providerName,
        model: one.endpoint.modelSlug,
        selected: index === served,
      })),
    },
    ...(attempts.length > 1 || (attempts.length === 1 && !selected) ? { attempts } : {}),
  };
}
