import { definedOnly } from '../../base/defined-only.ts';
import { GatewayError, isGatewayError } from '../../base/errors.ts';
import type { Endpoint, Pricing } from '../../call/model.ts';
import type { Exclusion, Plan } from '../../call/plan.ts';
import type { Lack } from '../../dialects/tasks/contract.ts';
import type { Provider } from '../../providers/provider.ts';
import { demandsOfTask } from '../../routing/filter.ts';
import { planRoute } from '../../routing/plan.ts';
import type { Routed } from '../../routing/routed.ts';
import { requestedSlugs } from '../../routing/slugs.ts';
import { requestedSort } from '../../routing/sort.ts';
import type { RoutingDeps } from '../deps.ts';
import type { Gathered } from '../plan/gather.ts';
import type { Task } from './task.ts';

/** Reads a task for routing. @throws GatewayError invalid_request (400) when no model is named */
export function routedTask(task: Task): Routed {
  const { name, fields, needs, parameters, hasModelFallbacks } = task;
  const preferences = fields.provider ?? null;
  return {
    task: name,
    slugs: requestedSlugs(fields, null),
    needs,
    demands: demandsOfTask(preferences, parameters),
    preferences,
    sort: requestedSort({ provider: preferences }),
    user: fields.user ?? null,
    serviceTier: null,
    media: [],
    chat: null,
    hasModelFallbacks,
  };
}

/**
 * Plans a task.
 * @throws the errors of `planRoute`; invalid_request (400) where every endpoint of the models lacks a way to take a part of
 * the request
 */
export function planOfTask(deps: RoutingDeps, task: Task, routed: Routed, { facts, view }: Gathered): Plan {
  const { brand, pluginVariants, isConfigured, isSandbox, hasOnlySandboxes, builtInProviders, provider } = deps;
  let lack: Lack | null = null;
  const refuses = (endpoint: Endpoint): string | null => {
    const serving = provider(endpoint.providerSlug);
    if (serving === null) return null;
    if (serving.dialect.tasks?.[task.name] === undefined) return 'task';
    const found = task.lacks(serving, endpoint);
    lack ??= found;
    return found === null ? null : 'input';
  };
  try {
    const plan = planRoute({
      routed,
      view,
      facts,
      refuses,
      brand,
      pluginVariants,
      isConfigured,
      isSandbox,
      hasOnlySandboxes,
      builtInProviders,
      providerName: (slug) => provider(slug)?.name ?? slug,
    });
    return withTaskPrices(plan, task, deps);
  } catch (error) {
    throw lack === null ? error : lacking(error, lack);
  }
}

const free: Pricing = { promptPicoUsd: 0, completionPicoUsd: 0, isInputOnly: true };

/** Returns the plan with the prices of the task, where they are others than those of the endpoint. */
function withTaskPrices(plan: Plan, task: Task, { provider }: Pick<RoutingDeps, 'provider'>): Plan {
  const targets = plan.targets.map((target) => {
    const { endpoint } = target;
    const pricing = taskPricing(endpoint, task, provider(endpoint.providerSlug));
    return pricing === endpoint.pricing ? target : { ...target, endpoint: { ...endpoint, pricing } };
  });
  return targets.every((target, at) => target === plan.targets[at]) ? plan : { ...plan, targets };
}

/** Returns the prices of a task at an endpoint; null: they are not known. */
function taskPricing({ pricing }: Endpoint, { name, isSoldByInput }: Task, provider: Provider | null) {
  if (pricing === null) return provider?.freeTasks?.includes(name) === true ? free : null;
  // The model also writes, for prices that this task does not have.
  return isSoldByInput === true && pricing.isInputOnly !== true ? inputPricing(pricing) : pricing;
}

/** The one price of an input, whatever its length, and whether the provider has kept it. */
function inputPricing(pricing: Pricing): Pricing {
  const { promptPicoUsd, imageTokenPicoUsd, audioPicoUsd, imagePicoUsd, requestPicoUsd, unknownKinds } = pricing;
  const prices = { promptPicoUsd, imageTokenPicoUsd, audioPicoUsd, imagePicoUsd, requestPicoUsd, unknownKinds };
  return { ...definedOnly(prices), promptPicoUsd, completionPicoUsd: 0, isInputOnly: true };
}

/** Returns the error of a request that no endpoint can take as it is, in words that say what would do. */
function lacking(error: unknown, { path, expected }: Lack): unknown {
  if (!isGatewayError(error) || error.kind !== 'not_found') return error;
  const excluded = (error.metadata?.excluded ?? []) as readonly Exclusion[];
  if (!excluded.every(({ filter }) => filter === 'input' || filter === 'task')) return error;
  const message = `${path}: expected ${expected}`;
  return new GatewayError('invalid_request', message, {
    metadata: { excluded, issues: [{ path, message: `expected ${expected}` }] },
  });
}
