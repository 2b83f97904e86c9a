import type { Native, NeededPart } from '../../call/native.ts';
import type { Plan, Target } from '../../call/plan.ts';
import { unsupported } from '../../dialects/shared/unsupported.ts';
import type { Provider } from '../../providers/provider.ts';

/**
 * Checks that an upstream can read every part that must not be left out of a request in the client's own format, with the
 * credential of the target.
 * @throws UpstreamError made by `unsupported`: the next target may be able to
 */
export function checkReadable(native: Native | null, provider: Provider, target: Pick<Target, 'isByok'>): void {
  const unreadable = native === null ? undefined : unreadableFor(native, provider, target);
  if (unreadable !== undefined) throw unsupported(unreadable.path, unreadable.expected);
}

/** Returns the first part that a target cannot read; undefined: it can read all of them. */
function unreadableFor(
  { format, onlyNative }: Native,
  { dialect, quirks }: Provider,
  { isByok }: Pick<Target, 'isByok'>,
): NeededPart | undefined {
  if (dialect.format !== format) return onlyNative[0];
  if (isByok || dialect.sharesStored?.(quirks) === true) return undefined;
  return onlyNative.find(({ isStored }) => isStored === true);
}

/**
 * Returns the plan without the targets that cannot read the request, where others can: they speak another wire format
 * (`wire_format`), or the request names what is stored in an account that the caller must not use (`stored`). Where none
 * can, they stay: the refusal of the first one names the part that it cannot read.
 */
export function readablePlan(plan: Plan, native: Native | null, provider: (slug: string) => Provider | null): Plan {
  if (native === null || native.onlyNative.length === 0) return plan;
  const filterOf = (target: Target): string | null => {
    const found = provider(target.endpoint.providerSlug);
    if (found === null || found.dialect.format !== native.format) return 'wire_format';
    return unreadableFor(native, found, target) === undefined ? null : 'stored';
  };
  const targets = plan.targets.filter((target) => filterOf(target) === null);
  if (targets.length === 0) return plan;
  const left = new Set(targets.map(({ endpoint }) => endpoint));
  const others = new Map(plan.targets.map((target) => [target.endpoint, filterOf(target)]));
  const excluded = [...others].flatMap(([endpoint, filter]) =>
    filter === null || left.has(endpoint) ? [] : [{ model: endpoint.modelSlug, provider: endpoint.tag, filter }],
  );
  return { ...plan, targets, excluded: [...plan.excluded, ...excluded] };
}
