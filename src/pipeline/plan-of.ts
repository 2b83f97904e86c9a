import type { Call } from '../call/call.ts';
import type { Plan } from '../call/plan.ts';
import { planRoute } from '../routing/plan.ts';
import type { ChatRequest } from '../schema/chat.ts';
import { readablePlan } from './attempt/readable.ts';
import type { MoneyDeps, RoutingDeps } from './deps.ts';
import { type Gathered, gather } from './gather.ts';

/** @throws as `planRoute` */
export function planOf(deps: RoutingDeps, request: ChatRequest, { facts, view, defaultModel }: Gathered): Plan {
  const { brand, isConfigured, isSandbox, hasOnlySandboxes, builtInProviders, provider, routers } = deps;
  const providerName = (slug: string) => provider(slug)?.name ?? slug;
  const plan = planRoute({
    request,
    view,
    facts,
    defaultModel,
    brand,
    isConfigured,
    isSandbox,
    hasOnlySandboxes,
    routers,
    builtInProviders,
    providerName,
  });
  return readablePlan(plan, request, provider);
}

/** The plan of a request at this moment. No provider is asked, and nothing is held. @throws as `gather` and `planOf` */
export async function planNow(
  deps: RoutingDeps & Pick<MoneyDeps, 'budgetsOf'>,
  call: Call,
  request: ChatRequest,
): Promise<Plan> {
  return planOf(deps, request, await gather(deps, call, request));
}
