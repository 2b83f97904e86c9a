import { fitsPattern } from '../../base/text/pattern.ts';
import type { Facts } from '../../call/facts.ts';
import type { Endpoint, Model } from '../../call/model.ts';
import { tasksOfModel } from '../../call/task.ts';
import { isAmong, slugSet } from '../filter.ts';
import { lacks, type Needs } from '../needs.ts';
import { averagePrice } from '../rank.ts';
import type { Routed } from '../routed.ts';
import { isFree } from '../variant.ts';

/** The models that a router chooses from, and the facts that it needs for the choice. */
export interface RouterInput {
  models: readonly Model[];
  needs: Needs;
  facts: Facts;
  /** Tells whether an endpoint passes the request's preferences. */
  passes: (endpoint: Endpoint, model: Model) => boolean;
}

/** The most models that a router returns: the best one and its fallbacks. */
export const maxChosen = 3;

/**
 * Returns the models of `service/free`: those that cost nothing and support the needs of the request, in random order.
 */
export function freeModels(input: RouterInput): Model[] {
  const fitting = fittingModels(input, isFree);
  const keys = new Map(fitting.map(({ model }) => [model, input.facts.random()]));
  return fitting
    .map(({ model }) => model)
    .sort((a, b) => (keys.get(a) as number) - (keys.get(b) as number))
    .slice(0, maxChosen);
}

/**
 * Returns models that write text, with those of their endpoints that support the needs of the request and pass its
 * preferences. When no endpoint passes, the preferences are ignored here: the plan then excludes each endpoint and
 * names the preference.
 */
export function fittingModels(
  { models, needs, facts, passes }: RouterInput,
  isWanted: (endpoint: Endpoint) => boolean,
) {
  const ableTo = (need: Needs) =>
    models
      .filter((model) => writesText(model))
      .map((model) => ({
        model,
        endpoints: reachable(model, facts).filter(
          (one) => isWanted(one) && one.tasks?.includes('chat') !== false && !lacks(need, model, one),
        ),
      }))
      .filter(({ endpoints }) => endpoints.length > 0);
  let able = ableTo(needs);
  if (able.length === 0 && needs.isShortened) able = largest(ableTo({ ...needs, promptTokens: 0 }));
  const allowed = able
    .map(({ model, endpoints }) => ({ model, endpoints: endpoints.filter((one) => passes(one, model)) }))
    .filter(({ endpoints }) => endpoints.length > 0);
  return allowed.length > 0 ? allowed : able;
}

/** true: the model writes text, as far as is known. */
function writesText(model: Model): boolean {
  if (model.outputModalities !== undefined) return model.outputModalities.includes('text');
  return tasksOfModel(model)?.includes('chat') !== false;
}

/** Returns the models with the largest context, where none is large enough. */
function largest(models: { model: Model; endpoints: readonly Endpoint[] }[]) {
  const contexts = models.flatMap(({ endpoints }) => endpoints.map(({ contextLength }) => contextLength ?? 0));
  const most = contexts.reduce((larger, one) => Math.max(larger, one), 0);
  return models
    .map(({ model, endpoints }) => ({ model, endpoints: endpoints.filter((one) => one.contextLength === most) }))
    .filter(({ endpoints }) => endpoints.length > 0);
}

/** Returns the price of the cheapest endpoint in pico-USD; null: no price is known. */
export function cheapest(endpoints: readonly Endpoint[]): number | null {
  let lowest: number | null = null;
  for (const endpoint of endpoints) {
    const price = averagePrice(endpoint);
    if (price !== null && (lowest === null || price < lowest)) lowest = price;
  }
  return lowest;
}

/** Returns the endpoints of a model that the workspace could use, with the operator's or with BYOK credentials. */
export function reachable({ endpoints }: Model, { usableProviders, byokCredentials }: Facts): readonly Endpoint[] {
  return endpoints.filter(
    ({ providerSlug, serviceTier, isDisabled }) =>
      !isDisabled &&
      serviceTier === undefined &&
      (usableProviders.has(providerSlug) ||
        byokCredentials.some(({ provider, isRefused }) => provider === providerSlug && !isRefused)),
  );
}

/** The facts that a router's rule about sandboxes depends on. */
interface SandboxFacts {
  routed: Pick<Routed, 'preferences'>;
  facts: Facts;
  isSandbox: (providerSlug: string) => boolean;
  hasOnlySandboxes: boolean;
}

/**
 * Returns a rule that tells whether a router may choose an endpoint; null: it may choose every one. No model wrote the
 * text of a sandbox, so a router leaves sandboxes out wherever the workspace can use another provider. The request
 * allows a sandbox by name: in `only` or `order`, or by a pattern of the auto router that is the slug of the model or
 * begins with that of the sandbox.
 * @param allowedModels  the patterns of the auto router; null: none
 */
export function sandboxRule(
  { routed: { preferences }, facts, isSandbox, hasOnlySandboxes }: SandboxFacts,
  allowedModels: readonly string[] | null,
): ((endpoint: Endpoint) => boolean) | null {
  if (hasOnlySandboxes && facts.byokCredentials.every(({ provider }) => isSandbox(provider))) return null;
  const named = slugSet([...(preferences?.only ?? []), ...(preferences?.order ?? [])]);
  return (endpoint) => {
    const { providerSlug, modelSlug } = endpoint;
    if (!isSandbox(providerSlug) || isAmong(named, endpoint)) return true;
    const begin = `${providerSlug}/`;
    return (
      allowedModels?.some((one) => one === modelSlug || (one.startsWith(begin) && fitsPattern(one, modelSlug))) === true
    );
  };
}
