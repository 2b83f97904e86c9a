import type { Native } from '../../call/native.ts';
import type { Plan } from '../../call/plan.ts';
import type { Dialect } from '../../dialects/dialect.ts';
import { unsupported } from '../../dialects/shared/unsupported.ts';
import type { Provider } from '../../providers/provider.ts';

/**
 * Checks that an upstream can read every part that must not be left out of a request in the client's own format.
 * @throws UpstreamError made by `unsupported`: the next target may be able to
 */
export function checkReadable(native: Native | null, dialect: Dialect): void {
  if (native === null || dialect.format === native.format) return;
  const [unreadable] = native.onlyNative;
  if (unreadable !== undefined) throw unsupported(unreadable.path, unreadable.expected);
}

/**
 * Returns the plan without the targets that cannot read the request, where others can. Where none can, they stay: the
 * refusal of the first one names the part that it cannot read.
 */
export function readablePlan(plan: Plan, native: Native | null, provider: (slug: string) => Provider | null): Plan {
  if (native === null || native.onlyNative.length === 0) return plan;
  const canRead = ({ endpoint }: Plan['targets'][number]) =>
    provider(endpoint.providerSlug)?.dialect.format === native.format;
  const targets = plan.targets.filter(canRead);
  if (targets.length === 0) return plan;
  const others = new Set(plan.targets.filter((target) => !canRead(target)).map(({ endpoint }) => endpoint));
  const excluded = [...others].map(({ modelSlug, tag }) => ({ model: modelSlug, provider: tag, filter: 'responses' }));
  return { ...plan, targets, excluded: [...plan.excluded, ...excluded] };
}
