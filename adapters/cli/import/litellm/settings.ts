import { type Advice, adviceIn } from '../advice.ts';
import type { Mapping } from '../mapping.ts';
import { isMapping, listOf, memberOf, numberOf, textOf } from '../mapping.ts';
import type { Report } from '../report.ts';

/** Sections that other modules read. */
const sections = new Set([
  'model_list',
  'router_settings',
  'litellm_settings',
  'general_settings',
  'environment_variables',
  'credential_list',
  'guardrails',
  'include',
]);

/** Settings that other modules read, by section. */
const read: Readonly<Record<string, ReadonlySet<string>>> = {
  router_settings: new Set([
    'fallbacks',
    'default_fallbacks',
    'context_window_fallbacks',
    'content_policy_fallbacks',
    'num_retries',
    'retry_after',
    'timeout',
    'stream_timeout',
    'routing_strategy',
    'model_group_alias',
    'allowed_fails',
    'cooldown_time',
    'disable_cooldowns',
    'redis_host',
    'redis_port',
    'redis_password',
    'redis_url',
  ]),
  litellm_settings: new Set([
    'fallbacks',
    'default_fallbacks',
    'context_window_fallbacks',
    'content_policy_fallbacks',
    'num_retries',
    'request_timeout',
    'allowed_fails',
    'model_alias_map',
    'callbacks',
    'success_callback',
    'failure_callback',
    'max_budget',
    'budget_duration',
    'cache',
    'cache_params',
  ]),
  general_settings: new Set([
    'master_key',
    'database_url',
    'completion_model',
    'global_max_parallel_requests',
    'max_request_size_mb',
  ]),
};

const keysAdvice = 'Give keys limits of their own: npx model-gateway keys create NAME --limit USD --reset monthly.';
const perKey = 'rateLimits.key limits every key, and a key may have limits of its own.';

/** Settings that many files have, and what becomes of them. */
const known: Readonly<Record<string, Advice>> = {
  // router_settings
  enable_pre_call_checks: ['note', 'is always so: endpoints that are too short for a prompt are tried last'],
  enable_tag_filtering: [
    'warning',
    'chooses no endpoint',
    'Give each tag a model of its own, and keys their `models`.',
  ],
  allowed_fails_policy: ['warning', 'has no counterpart: health.failuresToCooldown counts every failure of a provider'],
  retry_policy: ['warning', 'has no counterpart: docs/errors.md says what is retried'],
  model_group_retry_policy: ['warning', 'has no counterpart: docs/errors.md says what is retried'],
  provider_budget_config: ['problem', 'limits no provider', keysAdvice],
  optional_pre_call_checks: ['note', 'is not needed: a conversation keeps its endpoint while a cache helps'],
  routing_strategy_args: ['note', 'is not kept'],
  redis_db: ['warning', 'is not kept', 'Write it at the end of the address of the store.'],
  redis_ssl: ['warning', 'is not kept', 'Begin the address of the store with rediss://.'],
  // litellm_settings
  drop_params: ['note', 'is always so: fields that the provider has no word for are left out, and listed as dropped'],
  modify_params: ['note', 'is always so: a conversation is made to fit its provider'],
  set_verbose: ['note', 'is not needed: the option logger gets one line for each request'],
  json_logs: [
    'warning',
    'is not kept: serve writes the time, the level and the message before the JSON',
    'Set logger to one that writes JSON alone.',
  ],
  telemetry: ['note', 'is not needed: nothing is sent to us'],
  turn_off_message_logging: ['note', 'is always so: prompts and responses are kept only where a workspace asks for it'],
  redact_user_api_key_info: ['note', 'is always so: logs name keys by their hash'],
  default_internal_user_params: ['problem', 'limits no user', keysAdvice],
  max_internal_user_budget: ['problem', 'limits no user', keysAdvice],
  internal_user_budget_duration: ['problem', 'limits no user', keysAdvice],
  max_end_user_budget: ['problem', 'limits no end user', keysAdvice],
  max_user_budget: ['problem', 'limits no user', keysAdvice],
  default_team_settings: [
    'warning',
    'has no counterpart',
    'Teams are workspaces: docs/workspaces.md. docs/telemetry.md shows spans for a workspace.',
  ],
  default_key_generate_params: ['problem', 'is given to no key', keysAdvice],
  upperbound_key_generate_params: ['problem', 'limits no new key', keysAdvice],
  key_generation_settings: ['warning', 'has no counterpart: keys are made by whoever has a key with management'],
  service_callback: ['note', 'is not needed: gateway.state() and observeState measure the instance'],
  service_callbacks: ['note', 'is not needed: gateway.state() and observeState measure the instance'],
  public_routes: ['warning', 'opens no path: every path but /healthz and /readyz asks for a key'],
  // general_settings
  alerting: [
    'warning',
    'sends nothing',
    'budgetEvents.webhook tells of budgets; docs/errors.md#on-call says what to watch.',
  ],
  alerting_threshold: ['note', 'is not kept'],
  alert_types: ['note', 'is not kept'],
  alert_to_webhook_url: ['warning', 'sends nothing', 'budgetEvents.webhook tells of budgets.'],
  custom_auth: ['problem', 'lets nobody in', 'Write the option authenticate: docs/options.md#your-own-users.'],
  enable_jwt_auth: ['problem', 'lets nobody in', 'Write the option authenticate: docs/options.md#your-own-users.'],
  litellm_jwtauth: ['problem', 'lets nobody in', 'Write the option authenticate: docs/options.md#your-own-users.'],
  enable_oauth2_auth: ['problem', 'lets nobody in', 'Write the option authenticate: docs/options.md#your-own-users.'],
  store_model_in_db: [
    'warning',
    'does not say which models are in the database',
    'Write those into the option models.',
  ],
  supported_db_objects: ['note', 'is not kept'],
  store_prompts_in_spend_logs: [
    'warning',
    'keeps nothing',
    'Set records.enabled; a workspace then decides what is kept: docs/records.md.',
  ],
  disable_spend_logs: ['note', 'is always so, unless records.enabled is set'],
  pass_through_endpoints: ['problem', 'serves no path', 'Serve it from your own app, beside the gateway.'],
  key_management_system: ['problem', 'fetches no keys', 'Set the variables that the config names.'],
  key_management_settings: ['problem', 'fetches no keys', 'Set the variables that the config names.'],
  max_parallel_requests: ['warning', 'limits no endpoint', 'rateLimits.key.requestsInFlight limits a key.'],
  allow_requests_on_db_unavailable: [
    'warning',
    'lets nobody in while the store is away',
    'Keys of the option apiKeys need no store; see docs/storage.md.',
  ],
  background_health_checks: [
    'warning',
    'checks no server',
    'Set healthCheck of the provider; see docs/self-hosted.md.',
  ],
  health_check_interval: [
    'warning',
    'checks no server',
    'Set healthCheck.intervalMs of the provider; see docs/self-hosted.md.',
  ],
  infer_model_from_keys: ['note', 'is not needed: a provider without a key is not used'],
  database_connection_pool_limit: ['note', 'is not kept'],
  database_connection_timeout: ['note', 'is not kept: storeTimeoutMs is the longest time of a store call'],
  use_redis_transaction_buffer: ['note', 'is not needed: what a process books is written in batches'],
  proxy_batch_write_at: ['note', 'is not kept'],
  proxy_budget_rescheduler_min_time: ['note', 'is not needed: budgets begin again by the clock'],
  proxy_budget_rescheduler_max_time: ['note', 'is not needed: budgets begin again by the clock'],
  disable_reset_budget: ['warning', 'has no counterpart', 'A budget with the interval lifetime never begins again.'],
  ui_access_mode: ['note', 'is not kept: there is no web page to sign in to'],
  max_response_size_mb: ['warning', 'is not kept', 'Set limits.upstreamBodyBytes.'],
  default_user_max_requests: ['warning', 'limits no user', perKey],
  // sections
  finetune_settings: ['warning', 'serves nothing: only chat is served'],
  files_settings: ['warning', 'serves nothing: only chat is served'],
  mcp_servers: ['warning', 'serves nothing', 'Server tools: docs/server-tools.md.'],
  vector_store_registry: ['warning', 'serves nothing', 'Server tools: docs/server-tools.md.'],
  callback_settings: [
    'warning',
    'is not kept',
    'openTelemetry(api, { content: true }) puts prompts and responses into spans.',
  ],
  prompts: ['warning', 'is not kept: clients send their prompts'],
};

/** Reports every setting that no other module reads. */
export function reportSettings(file: Mapping, report: Report): void {
  for (const [section, names] of Object.entries(read)) {
    const holder = memberOf(file, section);
    if (!isMapping(holder)) continue;
    for (const [name, value] of Object.entries(holder)) {
      if (names.has(name) || isOff(value)) continue;
      const [level, what, advice] = adviceIn(known, name);
      report.add(level, `${section}.${name}`, what, advice);
    }
  }
  for (const name of Object.keys(file)) {
    if (sections.has(name)) continue;
    const [level, what, advice] = adviceIn(known, name);
    report.add(level, name, what, advice);
  }
  reportCache(file, report);
  reportBudget(file, report);
}

/** A setting that is switched off, or that has no value, does nothing. */
function isOff(value: unknown): boolean {
  return value === false || value === null || (Array.isArray(value) && value.length === 0);
}

function reportCache(file: Mapping, report: Report): void {
  const settings = memberOf(file, 'litellm_settings');
  if (isMapping(settings) && memberOf(settings, 'cache') === true)
    report.warning(
      'litellm_settings.cache',
      'keeps nothing: responses are not cached',
      'Caches of providers work: docs/routing.md#conversations.',
    );
}

const intervals: readonly [pattern: RegExp, interval: string][] = [
  [/^(?:1d|24h|86400s?)$/, 'daily'],
  [/^(?:7d|1w|168h)$/, 'weekly'],
  [/^(?:30d|31d|1mo|1m)$/, 'monthly'],
];

/** A budget of all callers is one of the workspace, which is in the store and not in the config. */
function reportBudget(file: Mapping, report: Report): void {
  const settings = memberOf(file, 'litellm_settings');
  if (!isMapping(settings)) return;
  const usd = numberOf(settings, 'max_budget');
  if (usd === undefined || usd <= 0) return;
  const duration = textOf(settings, 'budget_duration');
  const interval = duration === undefined ? 'lifetime' : intervals.find(([pattern]) => pattern.test(duration))?.[1];
  const command = `npx model-gateway budgets set ${interval ?? 'monthly'} ${usd} --config gateway.config.mjs`;
  report.problem(
    'litellm_settings.max_budget',
    interval === undefined ? 'holds only once it is set, for an interval that we have' : 'holds only once it is set',
    `Run: ${command}`,
  );
}

/** Names of callbacks in the file. */
export function callbacksOf(settings: Mapping): { path: string; name: string }[] {
  return ['callbacks', 'success_callback', 'failure_callback'].flatMap((list) =>
    [...listOf(settings, list), textOf(settings, list)]
      .filter((one) => typeof one === 'string')
      .map((name) => ({ path: `litellm_settings.${list}`, name })),
  );
}
