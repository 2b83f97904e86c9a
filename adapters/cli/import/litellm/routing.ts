import type { Written } from '../../config-source.ts';
import { flagOf, isMapping, listOf, type Mapping, mappingOf, memberOf, numberOf, textOf, textsOf } from '../mapping.ts';
import { type AttemptTimes, attemptsOf, type ImportedModel, isAliasName, milliseconds, timeoutsOf } from '../models.ts';
import type { Report } from '../report.ts';
import type { Sharing } from './models.ts';

/** The settings of the other router, and the models that it serves. */
export interface Routing {
  router: Mapping;
  settings: Mapping;
  /** By the name that callers use. */
  models: ReadonlyMap<string, ImportedModel>;
  /** `litellm_params` of all deployments. */
  deployments: readonly { path: string; params: Mapping }[];
  report: Report;
}

const shuffled = 'has no counterpart; requests are shared by weight, and endpoints that fail are left alone';
const strategies: Readonly<Record<string, string>> = {
  'latency-based-routing':
    'npx model-gateway cannot set it in the config: PATCH /workspaces/default with default_provider_sort "latency".',
};

export function sharingOf(router: Mapping, report: Report): Sharing {
  const at = 'router_settings.routing_strategy';
  const strategy = textOf(router, 'routing_strategy') ?? 'simple-shuffle';
  if (strategy === 'simple-shuffle') return 'shuffle';
  if (strategy === 'cost-based-routing') {
    report.warning(at, 'prefers the cheaper endpoint, and lets the others serve now and then');
    return 'price';
  }
  report.warning(at, shuffled, Object.hasOwn(strategies, strategy) ? strategies[strategy] : null);
  return 'shuffle';
}

/** `model_group_alias` and `model_alias_map`. */
export function aliasesOf({ router, settings, models, report }: Routing): Map<string, string> {
  const aliases = new Map<string, string>();
  const taken = new Set([...models.values()].flatMap(({ slug, aliases: own }) => [slug, ...own]));
  for (const [path, mapping] of [
    ['router_settings.model_group_alias', mappingOf(router, 'model_group_alias')],
    ['litellm_settings.model_alias_map', mappingOf(settings, 'model_alias_map')],
  ] as const)
    for (const [name, value] of Object.entries(mapping)) {
      const target = isMapping(value) ? textOf(value, 'model') : value;
      const model = typeof target === 'string' ? models.get(target) : undefined;
      const at = `${path}.${name}`;
      if (model === undefined) report.problem(at, 'stands for a model that was not imported');
      else if (taken.has(name) || !isAliasName(name)) report.problem(at, 'is the name of a model, or none');
      else aliases.set(name, model.slug);
    }
  return aliases;
}

const otherKinds = ['context_window_fallbacks', 'content_policy_fallbacks'] as const;

/** Gives the models their fallbacks. */
export function addFallbacks(routing: Routing, aliases: ReadonlyMap<string, string>): void {
  const { router, settings } = routing;
  for (const [path, holder] of [
    ['router_settings', router],
    ['litellm_settings', settings],
  ] as const)
    addFallbacksOf(path, holder, routing, aliases);
}

function addFallbacksOf(
  path: string,
  holder: Mapping,
  { models, report }: Routing,
  aliases: ReadonlyMap<string, string>,
): void {
  const slugOf = (name: string) => models.get(name)?.slug ?? aliases.get(name);
  const add = (from: ImportedModel, names: readonly unknown[], at: string) => {
    for (const given of names) {
      const name = isMapping(given) ? textOf(given, 'model') : given;
      if (isMapping(given) && Object.keys(given).length > 1)
        report.warning(at, 'has parameters for a fallback, which are left out', 'Make it a model with `defaults`.');
      const slug = typeof name === 'string' ? slugOf(name) : undefined;
      if (slug === undefined) report.problem(at, 'names a model that was not imported', missing);
      else if (slug !== from.slug && !from.fallbacks.includes(slug)) from.fallbacks.push(slug);
    }
  };
  for (const kind of ['fallbacks', ...otherKinds] as const) {
    const list = listOf(holder, kind);
    const at = `${path}.${kind}`;
    for (const entry of list.filter(isMapping)) {
      for (const [name, names] of Object.entries(entry)) {
        const all = name === '*' ? [...models.values()] : [models.get(name)];
        for (const model of all) {
          if (model === undefined) report.problem(at, 'is of a model that was not imported', missing);
          else add(model, Array.isArray(names) ? names : [], at);
        }
      }
    }
    if (kind !== 'fallbacks' && list.length > 0)
      report.warning(at, 'became fallbacks, which are called after other failures too');
  }
  const names = textsOf(holder, 'default_fallbacks');
  if (names.length > 0)
    for (const model of models.values())
      if (model.fallbacks.length === 0) add(model, names, `${path}.default_fallbacks`);
}

const missing = 'Name a slug in models[].fallbacks, once the model is there.';

/** The options `retry`, `timeouts` and `health`. */
export function timesOf(routing: Routing): Record<string, Written> {
  const { router, settings, models } = routing;
  const retries = numberOf(router, 'num_retries') ?? numberOf(settings, 'num_retries');
  const list = [...models.values()];
  const attempts = attemptsOf(retries, list);
  const pauseMs = milliseconds(numberOf(router, 'retry_after'));
  const pause = pauseMs === undefined ? {} : { baseDelayMs: pauseMs, maxDelayMs: Math.max(pauseMs, 5_000) };
  const retry = { ...attempts, ...pause };
  const health = healthOf(routing);
  return {
    retry: Object.keys(retry).length > 0 ? retry : undefined,
    timeouts: timeoutsOf(attemptTimes(routing), attempts),
    health,
  };
}

/** `timeout` is of one attempt, there and here; a deployment may have its own there. */
function attemptTimes({ router, settings, deployments, report }: Routing): AttemptTimes {
  const complete = numberOf(router, 'timeout') ?? numberOf(settings, 'request_timeout');
  const first = numberOf(router, 'stream_timeout');
  const longest = (name: string, usual: number | undefined): number | undefined => {
    const own = deployments.map(({ params }) => numberOf(params, name) ?? usual);
    const given = own.filter((one) => one !== undefined);
    // Where a deployment has none, it may take as long as is usual: no other may cut it.
    const most = given.length === 0 || given.length < own.length ? usual : Math.max(...given);
    for (const [at, { path, params }] of deployments.entries())
      if (memberOf(params, name) !== undefined && own[at] !== most)
        report.warning(
          `${path}.${name}`,
          'is shorter than that of others, and the longest holds for all endpoints',
          `Where it suits all, set timeouts.${name === 'timeout' ? 'jsonHeadersMs' : 'headersMs and timeouts.firstEventMs'}.`,
        );
    return most;
  };
  for (const { path, params } of deployments)
    for (const name of ['max_retries', 'num_retries'])
      if (memberOf(params, name) !== undefined)
        report.warning(`${path}.${name}`, 'is of one deployment; retry.attemptsPerEndpoint is of all endpoints');
  return {
    completeMs: milliseconds(longest('timeout', complete)),
    firstTokenMs: milliseconds(longest('stream_timeout', first)),
  };
}

function healthOf({ router, settings, report }: Routing): Written {
  if (flagOf(router, 'disable_cooldowns') === true) {
    report.note('router_settings.disable_cooldowns', 'is a cooldown that needs a million failures in a row');
    return { failuresToCooldown: 1_000_000 };
  }
  const fails = numberOf(router, 'allowed_fails') ?? numberOf(settings, 'allowed_fails');
  const cooldownMs = milliseconds(numberOf(router, 'cooldown_time'));
  if (fails === undefined && cooldownMs === undefined) return undefined;
  if (fails !== undefined)
    report.note(
      `${numberOf(router, 'allowed_fails') === undefined ? 'litellm_settings' : 'router_settings'}.allowed_fails`,
      'counts failures in a row, rather than those of a minute',
    );
  return {
    failuresToCooldown: fails === undefined ? undefined : Math.max(1, Math.floor(fails) + 1),
    cooldownMs,
    maxCooldownMs: cooldownMs !== undefined && cooldownMs > 60_000 ? cooldownMs : undefined,
  };
}
