import { GatewayError } from '../base/errors.ts';
import { cleanName } from '../base/text/clean-text.ts';
import { didYouMean } from '../base/text/nearest.ts';
import type { Facts } from '../call/facts.ts';
import type { Endpoint, Model } from '../call/model.ts';
import type { Exclusion, Plan, Target } from '../call/plan.ts';
import { mayServe, tasksOfModel } from '../call/task.ts';
import type { CatalogView } from '../catalog/catalog.ts';
import type { RouterSettings } from '../schema/settings/router.ts';
import type { TaskName } from '../schema/tasks.ts';
import { credentialFits } from '../stores/credentials/fits.ts';
import { type Fits, type Visit, visitCandidates } from './candidates.ts';
import { expandModels } from './expand.ts';
import type { ChosenModel } from './expanded.ts';
import { slugSet, unmetDemand } from './filter.ts';
import { type RankContext, type RankedEndpoint, rank, rankedEndpoint, type Standing, standingOf } from './rank.ts';
import type { Routed } from './routed.ts';
import { knownSort, type Sort } from './sort.ts';
import { type UnknownProviders, unknownProviders } from './suggest.ts';
import { mediaRefused, takesNot } from './tool-media.ts';
import type { PluginVariants, Variant } from './variant.ts';
import { withoutFallbacks } from './without-fallbacks.ts';

export interface PlanInput {
  routed: Routed;
  view: CatalogView;
  facts: Facts;
  /**
   * Returns the rule by which an endpoint cannot serve the request, as its provider has no way to; null: it can. Absent:
   * every endpoint of the task can.
   */
  refuses?: ((endpoint: Endpoint) => string | null) | undefined;
  /** A second author name of the router models, besides `service`. */
  brand: string;
  /** Suffixes that ask for plugins. */
  pluginVariants: PluginVariants;
  providerName: (slug: string) => string;
  /** Tells whether the operator has set a provider up. */
  isConfigured: (providerSlug: string) => boolean;
  /** Tells whether a provider is a sandbox, so that no model writes its responses. */
  isSandbox: (providerSlug: string) => boolean;
  /** true: the operator has set up sandboxes alone. */
  hasOnlySandboxes: boolean;
  /** The behaviour of routers for requests that do not set it. */
  routers?: RouterSettings | undefined;
  /** Slugs of the built-in providers, which preferences may name. Default: every slug is taken as known. */
  builtInProviders?: ReadonlySet<string> | undefined;
}

/**
 * Decides which endpoints are called, in which order and with which credentials. The function is pure except for
 * `facts.random`: it does no I/O and sees no keys.
 * @throws GatewayError invalid_request (400) for a model that does not exist; not_found (404) when the caller's
 *         preferences exclude every endpoint: `metadata.excluded` names the rule that removed each endpoint;
 *         unavailable (503, Retry-After), with the same metadata, when all remaining endpoints are in cooldown
 */
export function planRoute(input: PlanInput): Plan {
  const { routed, facts, providerName } = input;
  const { slugs, preferences } = routed;
  const { chosen, ofFirstSlug, strategy, params, router, unknownFallbacks, stages } = expandModels(slugs, {
    routed,
    view: input.view,
    facts,
    brand: input.brand,
    pluginVariants: input.pluginVariants,
    isConfigured: input.isConfigured,
    isSandbox: input.isSandbox,
    hasOnlySandboxes: input.hasOnlySandboxes,
    routers: input.routers,
  });
  const requested = routed.sort;
  const mayFallBack = preferences?.allow_fallbacks !== false;
  const excluded: Exclusion[] = [];
  const entries = passing(
    chosen,
    mayFallBack || requested.partition === 'none' ? chosen.length : ofFirstSlug,
    input,
    excluded,
  );
  for (const model of unknownFallbacks ?? []) excluded.push({ model, provider: '*', filter: 'unknown_model' });
  const cooldownEndsMs: number[] = [];
  const targets: Target[] = [];
  /** Targets that health checks have found down. They are tried where there are no others: a check may be wrong. */
  const down: Target[] = [];
  /** Providers that are not sent the workspace's own credential. */
  let refused: Set<string> | null = null;

  const visit: Visit = (entry, credential, cooldownUntilMs) => {
    if (cooldownUntilMs !== undefined) {
      cooldownEndsMs.push(cooldownUntilMs);
      if (entry.outcome === 'no_credential') entry.outcome = 'cooldown';
      return;
    }
    const { endpoint, modelIndex } = entry;
    const isDown = facts.isDown?.(endpoint) === true;
    entry.outcome = isDown ? 'down' : 'planned';
    const target: Target = {
      endpoint,
      providerName: providerName(endpoint.providerSlug),
      credential,
      isByok: credential.kind === 'byok',
      workspaceId: facts.workspaceId,
      modelIndex,
    };
    if (reasons(entry)) target.reasons = true;
    if (facts.shortening?.isFor(endpoint) && writesText(entry.model)) target.shortens = true;
    (isDown ? down : targets).push(target);
  };
  const fits: Fits = (one, { modelSlug: model }) =>
    credentialFits(one, { model, user: routed.user, apiKeyHash: facts.apiKeyHash });

  const context = contextOf(routed, facts);
  for (const members of partitioned(entries, requested.partition)) {
    const sort = requested.by ?? variantSort(members) ?? knownSort(facts.defaultSort);
    visitCandidates(rank(members, sort, context), facts, fits, visit);
    // The exclusion tells whether the endpoint is in cooldown, has no credential, or is not sent the workspace's own.
    for (const { outcome, refusesByok, byokLacks, endpoint, model } of members) {
      if (refusesByok) {
        refused ??= new Set();
        refused.add(endpoint.providerSlug);
      }
      if (outcome === 'planned' || outcome === 'down') continue;
      const withheld = facts.withheldProviders?.has(endpoint.providerSlug) === true ? 'byok_only' : 'credentials';
      const own = byokLacks !== null ? 'byok_incomplete' : refusesByok ? 'byok' : withheld;
      const filter = outcome === 'cooldown' ? 'cooldown' : own;
      const named = { model: model.slug, provider: endpoint.tag, filter };
      excluded.push(filter === 'byok_incomplete' ? { ...named, lacks: byokLacks as string } : named);
    }
  }
  if (down.length > 0) takeDown(down, targets, excluded);
  const unknown = input.builtInProviders ? unknownProviders(preferences, facts, input.builtInProviders) : null;
  if (targets.length === 0) {
    if (entries.length === 0 && excluded.some(({ filter }) => filter === 'tool_output')) {
      const models = chosen.map(({ model }) => model);
      throw mediaRefused(routed.media, models, excluded);
    }
    throw cooldownEndsMs.length > 0
      ? allCoolingDown(cooldownEndsMs, excluded, facts)
      : nothingLeft(routed, excluded, unknown);
  }
  const kept = mayFallBack ? targets : withoutFallbacks(targets, context.order, excluded);
  const plan: Plan = {
    requested: cleanName(slugs[0] as string),
    strategy,
    // A copy has no spare room: an open stream keeps its plan.
    targets: kept.slice(),
    excluded,
    params: shownParams(preferences, facts, params, refused, unknown),
    router,
  };
  if (stages !== undefined) plan.stages = stages;
  return plan;
}

/** Excludes the endpoints that are down where others are up; else takes them as targets. */
function takeDown(down: readonly Target[], targets: Target[], excluded: Exclusion[]): void {
  if (targets.length === 0) {
    targets.push(...down);
    return;
  }
  for (const { modelSlug, tag } of new Set(down.map(({ endpoint }) => endpoint)))
    excluded.push({ model: modelSlug, provider: tag, filter: 'health_check' });
}

/**
 * Returns the endpoints that pass every rule. Each other endpoint is excluded by the first rule that it does not pass.
 * An endpoint can pass for several slugs, such as a model with and without a suffix; it is returned for the first slug.
 * @param allowed  the number of models that the request may use; the others would be fallbacks that it does not allow
 */
function passing(
  chosen: readonly ChosenModel[],
  allowed: number,
  { routed, refuses, facts: { mayUseModel, imposed } }: Pick<PlanInput, 'routed' | 'refuses' | 'facts'>,
  excluded: Exclusion[],
): RankedEndpoint[] {
  const entries: RankedEndpoint[] = [];
  /** The exclusions of the endpoints that are removed; null until one is. Most requests remove none. */
  let removed: Map<Endpoint, Exclusion> | null = null;
  for (let modelIndex = 0; modelIndex < chosen.length; modelIndex++) {
    const { model, variants } = chosen[modelIndex] as ChosenModel;
    const isAllowed = !mayUseModel || mayUseModel(model.slug);
    const tasks = tasksOfModel(model);
    for (const endpoint of model.endpoints) {
      const filter =
        (isAllowed ? null : 'allowed_models') ??
        (imposed?.refuses(endpoint) === true ? 'guardrail' : null) ??
        filterOf(endpoint, model, variants, routed, tasks) ??
        refuses?.(endpoint) ??
        (modelIndex < allowed ? null : 'allow_fallbacks');
      if (filter === null) {
        entries.push(rankedEndpoint(endpoint, model, modelIndex, variants));
        continue;
      }
      removed ??= new Map();
      if (!removed.has(endpoint)) removed.set(endpoint, { model: model.slug, provider: endpoint.tag, filter });
    }
  }
  if (removed !== null) {
    if (chosen.length > 1) for (const { endpoint } of entries) removed.delete(endpoint);
    excluded.push(...removed.values());
  }
  return chosen.length > 1 ? eachOnce(entries) : entries;
}

/** Returns the name of the first rule that an endpoint does not pass; null: the endpoint passes all rules. */
function filterOf(
  endpoint: Endpoint,
  model: Model,
  variants: readonly Variant[],
  { task, demands, media, preferences, serviceTier }: Routed,
  tasks: readonly TaskName[] | null,
): string | null {
  if (endpoint.isDisabled === true) return 'disabled';
  if (!mayServe(task, endpoint, tasks)) return 'task';
  const unmet = demands && unmetDemand(demands, endpoint, model);
  if (unmet !== null) return unmet;
  for (const { rule } of variants) if (rule && !rule[1](endpoint)) return rule[0];
  if (endpoint.serviceTier !== undefined && !isTierWanted(endpoint, variants, serviceTier, preferences))
    return 'service_tier';
  return media.length > 0 && takesNot(media, model) ? 'tool_output' : null;
}

/** An endpoint of a service tier is used only when the request names the tier (a suffix can too) or the full slug. */
function isTierWanted(
  { serviceTier, tag }: Endpoint,
  variants: readonly Variant[],
  asked: string | null,
  preferences: Routed['preferences'],
): boolean {
  if (asked === serviceTier || variants.some(({ tier }) => tier === serviceTier)) return true;
  return isNamed(tag, preferences?.order) || isNamed(tag, preferences?.only);
}

function isNamed(tag: string, slugs: readonly string[] | null | undefined): boolean {
  return slugs?.some((slug) => slug.toLowerCase() === tag) === true;
}

/** Keeps each endpoint once, or twice when the model has to reason in one of the two only (`:thinking`). */
function eachOnce(entries: readonly RankedEndpoint[]): RankedEndpoint[] {
  const seen = { reasoning: new Set<Endpoint>(), plain: new Set<Endpoint>() };
  return entries.filter((entry) => {
    const before = reasons(entry) ? seen.reasoning : seen.plain;
    return before.size < before.add(entry.endpoint).size;
  });
}

function reasons({ variants }: RankedEndpoint): boolean {
  for (const variant of variants) if (variant.reasons) return true;
  return false;
}

/** true: the model writes text. A model that only makes images needs no conversation that was cut. */
function writesText({ outputModalities }: Model): boolean {
  return outputModalities === undefined || outputModalities.includes('text');
}

/** Returns the facts that a target was judged by when it was planned. */
export function standingOfTarget(
  { routed, view, facts }: Pick<PlanInput, 'routed' | 'view' | 'facts'>,
  { endpoint, modelIndex }: Target,
): Standing {
  const model = view.model(endpoint.modelSlug) as Model;
  const entry = rankedEndpoint(endpoint, model, modelIndex, []);
  const sort = routed.sort.by ?? knownSort(facts.defaultSort);
  return standingOf(entry, sort, contextOf(routed, facts));
}

function contextOf({ preferences, needs }: Routed, facts: Facts): RankContext {
  const { health, random, pinned } = facts;
  const order = preferences?.order && preferences.order.length > 0 ? placesIn(preferences.order) : null;
  return { order, preferences, needs, health, random, pinned };
}

/** Maps each slug to its place; a slug that is named twice has its first place. */
function placesIn(order: readonly string[]): ReadonlyMap<string, number> {
  const places = new Map<string, number>();
  for (const slug of slugSet(order)) places.set(slug, places.size);
  return places;
}

/**
 * Splits endpoints into the groups that are sorted separately: one group per model, or one group of all.
 * @param entries  grouped by model already
 */
function partitioned(
  entries: readonly RankedEndpoint[],
  partition: Sort['partition'],
): readonly (readonly RankedEndpoint[])[] {
  const [first] = entries;
  if (!first) return [];
  if (partition === 'none' || entries.at(-1)?.modelIndex === first.modelIndex) return [entries];
  return [...Map.groupBy(entries, ({ modelIndex }) => modelIndex).values()];
}

function variantSort(members: readonly RankedEndpoint[]): Sort['by'] {
  return members[0]?.variants.findLast(({ sort }) => sort)?.sort ?? null;
}

function shownParams(
  preferences: Routed['preferences'],
  { withheldProviders }: Facts,
  params: Plan['params'],
  refused: ReadonlySet<string> | null,
  unknown: UnknownProviders | null,
): Plan['params'] {
  const floor = preferences?.preferred_min_throughput;
  const throughput = typeof floor === 'number' ? floor : floor?.p50;
  let shown = refused === null ? params : { ...params, byok_not_sent_to: [...refused] };
  if (withheldProviders !== undefined) shown = { ...shown, byok_only: true };
  if (unknown !== null) shown = { ...shown, unknown_providers: unknown };
  return typeof throughput === 'number' ? { ...shown, throughput_floor: throughput } : shown;
}

/** The most slugs that an error names. */
const namedInErrors = 5;

function nothingLeft({ slugs, task }: Routed, excluded: Exclusion[], unknown: UnknownProviders | null): GatewayError {
  const filters = [...new Set(excluded.map(({ filter }) => filter))].join(', ');
  // The hint takes a part of the length that a message may have.
  const most = unknown === null ? namedInErrors : namedInErrors - 2;
  const more = slugs.length > most ? ` and ${slugs.length - most} more` : '';
  const named = `${slugs
    .slice(0, most)
    .map((slug) => cleanName(slug, 100))
    .join(', ')}${more}`;
  const isOfTask = excluded.length > 0 && excluded.every(({ filter }) => filter === 'task');
  const message =
    excluded.length === 0
      ? `No model that ${named} may choose can serve this request`
      : isOfTask
        ? `${named} ${slugs.length > 1 ? 'are no models' : 'is no model'} for ${task}: no endpoint serves that (filtered by: task)`
        : `No endpoint of ${named} is left (filtered by: ${filters})`;
  if (unknown === null) return new GatewayError('not_found', message, { metadata: { excluded } });
  const [[slug, meant] = ['', []]] = Object.entries(unknown);
  const hint = `${JSON.stringify(slug)} is no provider of this gateway${didYouMean(meant)}`;
  return new GatewayError('not_found', `${message}; ${hint}`, { metadata: { excluded, unknown_providers: unknown } });
}

function allCoolingDown(endsMs: readonly number[], excluded: Exclusion[], facts: Facts): GatewayError {
  return new GatewayError(
    'unavailable',
    'Every endpoint that could serve is in cooldown after failures; try again later',
    {
      errorType: 'cooldown',
      retryAfterMs: Math.max(Math.min(...endsMs) - facts.nowMs, 1000),
      metadata: { excluded },
    },
  );
}
