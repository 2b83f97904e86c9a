import type { Plan } from '../call/plan.ts';
import { planRoute } from '../routing/plan.ts';
import type { ChatRequest } from '../schema/chat.ts';
import { readablePlan } from './attempt/readable.ts';
import type { RoutingDeps } from './deps.ts';
import type { Gathered } from './gather.ts';

/** @throws as `planRoute` */
export function planOf(deps: RoutingDeps, request: ChatRequest, { facts, view, defaultModel }: Gathered): Plan {
  const { brand, isConfigured, isSandbox, hasOnlySandboxes, builtInProviders, provider } = deps;
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
    builtInProviders,
    providerName,
  });
  return readablePlan(plan, request, provider);
}
