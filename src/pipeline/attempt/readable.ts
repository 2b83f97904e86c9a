import type { Plan } from '../../call/plan.ts';
import { originOf } from '../../call/responses-origin.ts';
import type { Dialect } from '../../dialects/dialect.ts';
import { unsupported } from '../../dialects/shared/unsupported.ts';
import type { Provider } from '../../providers/provider.ts';
import type { ChatRequest } from '../../schema/chat.ts';

/**
 * Checks that an upstream can read all that must not be left out of a Responses request.
 * @throws UpstreamError made by `unsupported`: the next target may be able to
 */
export function checkReadable(request: ChatRequest, dialect: Dialect): void {
  if (dialect.speaksResponses === true) return;
  const [unreadable] = originOf(request)?.onlyNative ?? [];
  if (unreadable !== undefined) throw unsupported(unreadable.path, unreadable.expected);
}

/**
 * The plan without the targets that cannot read the request, where others can. Where none can, they stay: the refusal of
 * the first one names what it cannot read.
 */
export function readablePlan(plan: Plan, request: ChatRequest, provider: (slug: string) => Provider | null): Plan {
  if ((originOf(request)?.onlyNative.length ?? 0) === 0) return plan;
  const canRead = ({ endpoint }: Plan['targets'][number]) =>
    provider(endpoint.providerSlug)?.dialect.speaksResponses === true;
  const targets = plan.targets.filter(canRead);
  if (targets.length === 0) return plan;
  const others = new Set(plan.targets.filter((target) => !canRead(target)).map(({ endpoint }) => endpoint));
  const excluded = [...others].map(({ modelSlug, tag }) => ({ model: modelSlug, provider: tag, filter: 'responses' }));
  return { ...plan, targets, excluded: [...plan.excluded, ...excluded] };
}
