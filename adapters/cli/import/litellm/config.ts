import { requiredVariable, Source, type Written } from '../../config-source.ts';
import { Findings, isMapping, type Mapping, mappingOf, memberOf, numberOf, textOf, textsOf } from '../values.ts';
import { type ImportedModel, importModels, type Sharing } from './models.ts';
import { ImportedProviders } from './providers.ts';

/** The result of an import of a LiteLLM config file. */
export interface Imported {
  /** Lines before the options. */
  imports: readonly string[];
  /** The options for `createGateway`. */
  options: Record<string, Written>;
  /** Packages to install. */
  packages: readonly string[];
  findings: Findings;
}

const sections = new Set([
  'model_list',
  'router_settings',
  'litellm_settings',
  'general_settings',
  'environment_variables',
]);
const routerSettings = new Set([
  'fallbacks',
  'default_fallbacks',
  'context_window_fallbacks',
  'content_policy_fallbacks',
  'num_retries',
  'timeout',
  'stream_timeout',
  'routing_strategy',
  'model_group_alias',
  'allowed_fails',
  'cooldown_time',
  // The gateway always does this.
  'enable_pre_call_checks',
]);
const litellmSettings = new Set([
  'fallbacks',
  'default_fallbacks',
  'context_window_fallbacks',
  'content_policy_fallbacks',
  'num_retries',
  'request_timeout',
  'allowed_fails',
  'telemetry',
]);
const generalSettings = new Set(['master_key', 'database_url']);

/** Advice for settings that many files have. */
const advice: Readonly<Record<string, string>> = {
  callbacks: 'use the option onRecord',
  success_callback: 'use the option onRecord',
  failure_callback: 'use the option onRecord',
  cache: 'responses are not cached; ask providers to cache prompts',
  cache_params: 'responses are not cached; ask providers to cache prompts',
  drop_params: 'give the provider the quirk dropParams',
  max_budget: 'set a budget: PUT /workspaces/default/budgets/monthly',
  budget_duration: 'set a budget: PUT /workspaces/default/budgets/monthly',
  redis_host: 'with several instances, give them one store',
  redis_port: 'with several instances, give them one store',
  redis_password: 'with several instances, give them one store',
  redis_url: 'with several instances, give them one store',
  store_model_in_db: 'models are in the config, or in a catalogue document (catalog.source)',
  guardrails: 'write them as the option guardrails',
  include: 'import each file by itself',
};
const otherwise = 'has no counterpart here';

/** @param file  the parsed YAML */
export function importLitellm(file: Mapping): Imported {
  const findings = new Findings();
  const router = mappingOf(file, 'router_settings');
  const settings = mappingOf(file, 'litellm_settings');
  const general = mappingOf(file, 'general_settings');
  keepEnvironment(mappingOf(file, 'environment_variables'), findings);
  const providers = new ImportedProviders(findings);
  const models = importModels(file, providers, sharingOf(router, findings), findings);
  const aliases = aliasesOf(router, models, findings);
  for (const [path, holder] of [
    ['router_settings', router],
    ['litellm_settings', settings],
  ] as const)
    addFallbacks(path, holder, models, aliases, findings);
  for (const [path, holder, known] of [
    ['router_settings', router, routerSettings],
    ['litellm_settings', settings, litellmSettings],
    ['general_settings', general, generalSettings],
  ] as const)
    for (const name of Object.keys(holder))
      if (!known.has(name)) findings.cannot(`${path}.${name}`, advice[name] ?? otherwise);
  for (const name of Object.keys(file)) if (!sections.has(name)) findings.cannot(name, advice[name] ?? otherwise);
  const store = storeOf(general, findings);
  return {
    imports: store.imports,
    packages: store.packages,
    findings,
    options: {
      providers: providers.options,
      models: [...models.values()].map(writtenModel),
      aliases: aliases.size > 0 ? Object.fromEntries(aliases) : undefined,
      ...timesOf(router, settings, models),
      store: store.source,
      secrets: { current: requiredVariable('GATEWAY_SECRET') },
      apiKeys: [{ key: masterKey(general, findings), permissions: ['inference', 'management'] }],
    },
  };
}

function writtenModel({ slug, aliases, fallbacks, options }: ImportedModel): Written {
  return {
    slug,
    aliases: aliases.length > 0 ? aliases : undefined,
    fallbacks: fallbacks.length > 0 ? fallbacks.slice(0, 20) : undefined,
    ...options,
  };
}

/** Variables that the file sets for its process. */
function keepEnvironment(variables: Mapping, findings: Findings): void {
  for (const [name, value] of Object.entries(variables)) {
    if (/^[A-Za-z_]\w*$/.test(name) && typeof value === 'string') findings.secrets.set(name, value);
    else findings.cannot(`environment_variables.${name}`, 'is no text, or its name is none of a variable');
  }
}

function sharingOf(router: Mapping, findings: Findings): Sharing {
  const strategy = textOf(router, 'routing_strategy') ?? 'simple-shuffle';
  if (strategy === 'simple-shuffle') return 'shuffle';
  if (strategy === 'cost-based-routing') return 'price';
  const isLatency = strategy === 'latency-based-routing';
  findings.cannot(
    'router_settings.routing_strategy',
    isLatency
      ? 'is a setting of the workspace: PATCH /workspaces/default with default_provider_sort "latency"; until then, shuffled'
      : 'has no counterpart here; requests are shuffled',
  );
  return 'shuffle';
}

function aliasesOf(
  router: Mapping,
  models: ReadonlyMap<string, ImportedModel>,
  findings: Findings,
): Map<string, string> {
  const aliases = new Map<string, string>();
  const taken = new Set([...models.values()].flatMap(({ slug, aliases: own }) => [slug, ...own]));
  for (const [name, value] of Object.entries(mappingOf(router, 'model_group_alias'))) {
    const target = isMapping(value) ? textOf(value, 'model') : value;
    const model = typeof target === 'string' ? models.get(target) : undefined;
    const path = `router_settings.model_group_alias.${name}`;
    if (model === undefined) findings.cannot(path, 'stands for a model that was not imported');
    else if (taken.has(name) || !/^[^\s~]\S{0,255}$/.test(name))
      findings.cannot(path, 'is the name of a model, or none');
    else aliases.set(name, model.slug);
  }
  return aliases;
}

const otherKinds = ['context_window_fallbacks', 'content_policy_fallbacks'] as const;

function addFallbacks(
  path: string,
  holder: Mapping,
  models: ReadonlyMap<string, ImportedModel>,
  aliases: ReadonlyMap<string, string>,
  findings: Findings,
): void {
  const slugOf = (name: string) => models.get(name)?.slug ?? aliases.get(name);
  const add = (from: ImportedModel, names: readonly unknown[], at: string) => {
    for (const name of names) {
      const slug = typeof name === 'string' ? slugOf(name) : undefined;
      if (slug === undefined) findings.cannot(at, 'names a model that was not imported');
      else if (slug !== from.slug && !from.fallbacks.includes(slug)) from.fallbacks.push(slug);
    }
  };
  for (const kind of ['fallbacks', ...otherKinds] as const) {
    const list = memberOf(holder, kind);
    for (const entry of Array.isArray(list) ? list.filter(isMapping) : []) {
      for (const [name, names] of Object.entries(entry)) {
        const at = `${path}.${kind}`;
        const all = name === '*' ? [...models.values()] : [models.get(name)];
        for (const model of all) {
          if (model === undefined) findings.cannot(at, 'is of a model that was not imported');
          else add(model, Array.isArray(names) ? names : [], at);
        }
      }
    }
    if (kind !== 'fallbacks' && Array.isArray(list) && list.length > 0)
      findings.cannot(`${path}.${kind}`, 'became fallbacks, which are called after other failures too');
  }
  const names = textsOf(holder, 'default_fallbacks');
  if (names.length > 0)
    for (const model of models.values())
      if (model.fallbacks.length === 0) add(model, names, `${path}.default_fallbacks`);
}

/** The most endpoints that one request may come to: those of a model and of all of its fallbacks. */
function mostEndpoints(models: ReadonlyMap<string, ImportedModel>): number {
  const counts = new Map([...models.values()].map(({ slug, options }) => [slug, lengthOf(options.endpoints)]));
  const countOf = (slug: string) => counts.get(slug) ?? 0;
  return Math.max(
    1,
    ...[...models.values()].map(({ slug, fallbacks }) =>
      fallbacks.reduce((sum, one) => sum + countOf(one), countOf(slug)),
    ),
  );
}

function lengthOf(value: unknown): number {
  return Array.isArray(value) ? value.length : 0;
}

function timesOf(
  router: Mapping,
  settings: Mapping,
  models: ReadonlyMap<string, ImportedModel>,
): Record<string, Written> {
  const retries = numberOf(router, 'num_retries') ?? numberOf(settings, 'num_retries');
  const attempts = retries === undefined ? undefined : Math.min(mostAttempts, Math.max(1, Math.floor(retries) + 1));
  const total = numberOf(router, 'timeout') ?? numberOf(settings, 'request_timeout');
  const first = numberOf(router, 'stream_timeout');
  const fails = numberOf(router, 'allowed_fails') ?? numberOf(settings, 'allowed_fails');
  const cooldownMs = milliseconds(numberOf(router, 'cooldown_time'));
  const timeouts = { totalMs: milliseconds(total), firstEventMs: milliseconds(first) };
  const health = {
    failuresToCooldown: fails === undefined ? undefined : Math.max(1, Math.floor(fails) + 1),
    cooldownMs,
    maxCooldownMs: cooldownMs !== undefined && cooldownMs > 60_000 ? cooldownMs : undefined,
  };
  const isGiven = (section: object) => Object.values(section).some((value) => value !== undefined);
  return {
    retry: attempts === undefined ? undefined : attemptsOf(attempts, mostEndpoints(models)),
    timeouts: isGiven(timeouts) ? timeouts : undefined,
    health: isGiven(health) ? health : undefined,
  };
}

const mostAttempts = 50;

/** The proxy retries each model before its fallbacks: the retries of one must not use up the attempts of the next. */
function attemptsOf(attemptsPerEndpoint: number, endpoints: number): Written {
  return { maxAttempts: Math.min(mostAttempts, attemptsPerEndpoint * endpoints), attemptsPerEndpoint };
}

function milliseconds(seconds: number | undefined): number | undefined {
  const ms = seconds === undefined ? 0 : Math.round(seconds * 1000);
  return ms > 0 && ms < 2 ** 31 ? ms : undefined;
}

function storeOf(general: Mapping, findings: Findings) {
  const url = textOf(general, 'database_url');
  if (url === undefined)
    return {
      imports: ["import { sqliteStore } from 'model-gateway/sqlite';"],
      source: new Source("sqliteStore('gateway.db')"),
      packages: [],
    };
  findings.cannot(
    'general_settings.database_url',
    'is the store now; keys, teams and spend that are in it are not imported',
  );
  const uri = findings.secret(url, 'DATABASE_URL').text.replace(' || undefined', '');
  return {
    imports: ["import KeyvPostgres from '@keyv/postgres';"],
    source: new Source(`new KeyvPostgres({ uri: ${uri} })`),
    packages: ['@keyv/postgres', 'pg'],
  };
}

/** The key of the operator. The gateway says at its start that it is missing. */
function masterKey(general: Mapping, findings: Findings): Written {
  const key = textOf(general, 'master_key');
  if (key === undefined) return requiredVariable('GATEWAY_API_KEY');
  return new Source(findings.secret(key, 'GATEWAY_API_KEY').text.replace(' || undefined', ''));
}
