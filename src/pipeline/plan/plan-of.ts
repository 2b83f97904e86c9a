import { cleanName } from '../../base/text/clean-text.ts';
import type { Ask } from '../../call/ask.ts';
import type { Call } from '../../call/call.ts';
import type { Plan } from '../../call/plan.ts';
import { strategyOf } from '../../routing/expand.ts';
import { planRoute } from '../../routing/plan.ts';
import { routedChat } from '../../routing/routed.ts';
import { type NamingModels, namedSlugs } from '../../routing/slugs.ts';
import type { MoneyDeps, RoutingDeps } from '../deps.ts';
import { type Gathered, gather } from './gather.ts';
import { readablePlan } from './readable.ts';

/** @throws the errors of `planRoute` */
export function planOf(deps: RoutingDeps, ask: Ask, { facts, view, defaultModel }: Gathered): Plan {
  const { brand, pluginVariants, isConfigured, isSandbox, hasOnlySandboxes, builtInProviders, provider, routers } =
    deps;
  const providerName = (slug: string) => provider(slug)?.name ?? slug;
  const plan = planRoute({
    routed: routedChat(ask, facts, defaultModel),
    view,
    facts,
    brand,
    pluginVariants,
    isConfigured,
    isSandbox,
    hasOnlySandboxes,
    routers,
    builtInProviders,
    providerName,
  });
  return readablePlan(plan, ask.native, provider);
}

/** Makes the plan of a request that was not planned: it names the models that were asked for, and the exclusions. */
export function unplanned(
  { brand }: Pick<RoutingDeps, 'brand'>,
  request: NamingModels,
  defaultModel: string | null,
  excluded: Plan['excluded'] = [],
): Plan {
  const slugs = namedSlugs(request, defaultModel);
  return {
    requested: cleanName(slugs[0] ?? ''),
    strategy: strategyOf(slugs, brand),
    targets: [],
    excluded,
    router: null,
  };
}

/**
 * Makes the plan of a request at this moment. Asks no provider, and holds nothing. @throws the errors of `gather` and
 * `planOf`
 */
export async function planNow(deps: RoutingDeps & Pick<MoneyDeps, 'budgetsOf'>, call: Call, ask: Ask): Promise<Plan> {
  return planOf(deps, ask, await gather(deps, call, ask.request));
}
