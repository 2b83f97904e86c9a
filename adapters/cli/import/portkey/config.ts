import { basename } from 'node:path';
import { variable } from '../../config-source.ts';
import { createAccounts } from '../accounts.ts';
import { isMapping, listOf, type Mapping, mappingOf, memberOf, numberOf, textOf } from '../mapping.ts';
import { attemptsOf, type ImportedModel, isAliasName, milliseconds, timeoutsOf, writtenModel } from '../models.ts';
import { guardrailsPart, type Imported, type ImportInput, type Part, sqlite, usualParts } from '../produced.ts';
import { createReport, type Report } from '../report.ts';
import { hasMixedDefaults, inOrder, modelsOf, oneLeaf, type Stages, shared } from '../stages.ts';
import { createVariables } from '../variables.ts';
import { importGuardrails } from './guardrails.ts';
import { leafOf, type Making, weightOf } from './targets.ts';

/** Tells whether a file is a config of Portkey. */
export function isPortkey(file: Mapping): boolean {
  const config = configIn(file);
  return (
    Array.isArray(config.targets) ||
    textOf(mappingOf(config, 'strategy'), 'mode') !== undefined ||
    textOf(config, 'virtual_key') !== undefined ||
    (textOf(config, 'provider') !== undefined && !isMapping(config.provider) && config.messages === undefined)
  );
}

/** An export holds the config as a member. */
function configIn(file: Mapping): Mapping {
  const inner = memberOf(file, 'config');
  return isMapping(inner) ? inner : file;
}

/** Members of a target that are read, wherever it stands. */
const inherited = ['retry', 'cache', 'request_timeout', 'custom_host', 'override_params', 'forward_headers'] as const;

/** Imports a config of Portkey: the plan that it draws for a request becomes models with endpoints and fallbacks. */
export function importPortkey(input: ImportInput): Imported {
  const config = configIn(input.file);
  const report = createReport();
  const variables = createVariables(placeholderName, input.taken, input.reserved);
  const accounts = createAccounts();
  const parts: Part[] = [];
  const name =
    basename(input.path)
      .replace(/\.[^.]*$/, '')
      .replace(/[^\w.-]+/g, '-') || 'config';
  const asked = input.models.length > 0 ? input.models : [null];
  const taken = new Set<string>();
  const models: ImportedModel[] = [];
  const plans = plansOf(config, name, report);
  for (const plan of plans) {
    const perModel = needsModel(plan.target) ? asked : [null];
    for (const askedModel of perModel) {
      const shown = askedModel ?? plan.name;
      report.model(shown);
      const making: Making = { accounts, report, variables, parts, askedModel };
      const stages = stagesOf(plan.target, plan.path, {}, making);
      if (hasMixedDefaults(stages))
        report.warning(
          plan.path || 'targets',
          'share requests with different parameters, and only those that all have are kept',
          'Let clients send the others.',
        );
      const made = modelsOf(stages, 'portkey', shown.replace(/\//g, '-'), taken);
      const [first] = made;
      if (first === undefined) continue;
      report.imported(shown);
      first.aliases = aliasesOf(first, shown, plans.length === 1, models);
      models.push(...made);
    }
  }
  report.note('model', 'of a request decides here: clients ask for the slug or an alias of a model');
  const guardrails = guardrailsPart(importGuardrails(config, '', report));
  reportRest(config, report);
  const all = [...nodesOf(config)];
  const retries = Math.max(-1, ...all.map(({ node }) => numberOf(mappingOf(node, 'retry'), 'attempts') ?? -1));
  const attempts = attemptsOf(Math.max(retries, 0), models);
  const timeout = Math.max(0, ...all.map(({ node }) => numberOf(node, 'request_timeout') ?? 0));
  const used = [...parts, sqlite, ...(guardrails ? [guardrails] : [])];
  return {
    imports: used.flatMap((part) => part.imports),
    packages: [],
    report,
    variables,
    options: {
      providers: accounts.options,
      models: models.map(writtenModel),
      defaultModel: models[0]?.slug,
      retry: attempts === undefined ? undefined : { ...attempts },
      timeouts: timeoutsOf({ completeMs: milliseconds(timeout, 1) }, attempts),
      guardrails: guardrails?.source,
      ...usualParts(sqlite, variable('GATEWAY_API_KEY')),
    },
  };
}

/** A variable that a value stands for: `{{X}}`, `${X}`, `$X`, `process.env.X`, or a name in capitals where a key should be. */
export function placeholderName(value: string): string | null {
  const found = /^(?:\{\{\s*|\$\{?|process\.env\.|env\.|os\.environ\/)([A-Za-z_]\w*)(?:\s*\}\}|\})?$/.exec(value)?.[1];
  return found ?? /^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$/.exec(value)?.[0] ?? null;
}

/** The plans of a config: one, or with conditions one for each target that they choose. */
function plansOf(config: Mapping, name: string, report: Report): { name: string; path: string; target: Mapping }[] {
  const strategy = mappingOf(config, 'strategy');
  if (textOf(strategy, 'mode') !== 'conditional') return [{ name, path: '', target: config }];
  report.problem(
    'strategy.conditions',
    'choose nothing: each target is a model of its own, for which clients ask',
    'Choose in your app, or with a plugin of your own: docs/plugins.md.',
  );
  const usual = textOf(strategy, 'default');
  const { targets: _, strategy: __, ...around } = config;
  const plans = listOf(config, 'targets').flatMap((target, at) => {
    if (!isMapping(target)) return [];
    const own = textOf(target, 'name') ?? `${name}-${at + 1}`;
    return [{ name: own, path: `targets[${at}]`, target: { ...around, ...target } }];
  });
  // The first one is the default model.
  return plans.toSorted((a, b) => Number(b.name === usual) - Number(a.name === usual));
}

/** Turns a target, with all that it holds, into stages. @param around  settings of the targets around it */
function stagesOf(target: Mapping, path: string, around: Mapping, making: Making): Stages {
  const settings = withInherited(target, around);
  const targets = listOf(target, 'targets');
  if (targets.length === 0) {
    const leaf = leafOf(settings, path === '' ? 'config' : path, making);
    return leaf === null ? [] : oneLeaf(leaf);
  }
  const prefix = path === '' ? '' : `${path}.`;
  const plans = targets.flatMap((one, at) =>
    isMapping(one)
      ? [{ weight: weightOf(one), stages: stagesOf(one, `${prefix}targets[${at}]`, settings, making) }]
      : [],
  );
  const mode = textOf(mappingOf(target, 'strategy'), 'mode') ?? 'single';
  reportStatusCodes(target, prefix, mode, making.report);
  if (mode === 'loadbalance') {
    const { stages, isExact } = shared(plans);
    if (!isExact)
      making.report.warning(
        `${prefix}targets`,
        'share requests, and have fallbacks of their own: these are tried behind all of them',
      );
    return stages;
  }
  if (mode === 'fallback') return inOrder(plans.map(({ stages }) => stages));
  if (mode === 'conditional')
    making.report.problem(
      `${prefix}strategy.conditions`,
      'choose nothing: the first target serves',
      'Choose in your app.',
    );
  return plans[0]?.stages ?? [];
}

function withInherited(target: Mapping, around: Mapping): Mapping {
  const settings: Record<string, unknown> = {};
  for (const name of inherited) if (memberOf(around, name) !== undefined) settings[name] = around[name];
  const params = { ...mappingOf(around, 'override_params'), ...mappingOf(target, 'override_params') };
  return { ...settings, ...target, ...(Object.keys(params).length > 0 ? { override_params: params } : {}) };
}

function reportStatusCodes(target: Mapping, prefix: string, mode: string, report: Report): void {
  if (mode !== 'fallback') return;
  const codes = listOf(mappingOf(target, 'strategy'), 'on_status_codes');
  if (codes.length > 0)
    report.warning(
      `${prefix}strategy.on_status_codes`,
      'is not kept: docs/errors.md says which failures go on to the next',
    );
  else
    report.note(`${prefix}strategy`, 'goes on to the next after failures of a provider, and not after a wrong request');
}

/** Tells whether a plan has a target that names no model. */
function needsModel(target: Mapping, around: Mapping = {}): boolean {
  const settings = withInherited(target, around);
  const targets = listOf(target, 'targets').filter(isMapping);
  if (targets.length > 0) return targets.some((one) => needsModel(one, settings));
  return (
    textOf(mappingOf(settings, 'override_params'), 'model') === undefined &&
    textOf(settings, 'azure_model_name') === undefined &&
    textOf(settings, 'vertex_model_name') === undefined
  );
}

/** Names that clients may go on asking for: that of the config, and those of the models that it sets. */
function aliasesOf(first: ImportedModel, name: string, isOnly: boolean, others: readonly ImportedModel[]): string[] {
  const own = isOnly ? first.endpoints.map(({ model, baseModel }) => baseModel ?? model) : [];
  const taken = new Set(others.flatMap(({ aliases }) => aliases));
  return [...new Set([name, ...own])].filter((one) => isAliasName(one) && one !== first.slug && !taken.has(one));
}

/** All targets, with their places. */
function* nodesOf(node: Mapping, path = ''): Generator<{ node: Mapping; path: string }> {
  yield { node, path };
  for (const [at, one] of listOf(node, 'targets').entries())
    if (isMapping(one)) yield* nodesOf(one, `${path === '' ? '' : `${path}.`}targets[${at}]`);
}

const read = new Set([
  ...inherited,
  'strategy',
  'targets',
  'name',
  'provider',
  'virtual_key',
  'api_key',
  'weight',
  'on_status_codes',
  'input_guardrails',
  'output_guardrails',
  'before_request_hooks',
  'after_request_hooks',
  'resource_name',
  'deployment_id',
  'api_version',
  'azure_model_name',
  'azure_auth_mode',
  'aws_region',
  'aws_access_key_id',
  'aws_secret_access_key',
  'aws_session_token',
  'aws_role_arn',
  'vertex_project_id',
  'vertex_region',
  'vertex_service_account_json',
  'vertex_model_name',
  'workers_ai_account_id',
  'openai_organization',
  'openai_project',
]);

/** Reports what has no counterpart, wherever it stands. */
function reportRest(config: Mapping, report: Report): void {
  const timeouts = new Set<number>();
  for (const { node, path } of nodesOf(config)) {
    const at = path === '' ? '' : `${path}.`;
    const timeout = numberOf(node, 'request_timeout');
    if (timeout !== undefined) timeouts.add(timeout);
    if (memberOf(node, 'cache') !== undefined)
      report.warning(
        `${at}cache`,
        'keeps nothing: responses are not cached',
        'Caches of providers work: docs/routing.md#conversations.',
      );
    if (listOf(mappingOf(node, 'retry'), 'on_status_codes').length > 0)
      report.warning(`${at}retry.on_status_codes`, 'is not kept: docs/errors.md says which failures are tried again');
    if (memberOf(node, 'forward_headers') !== undefined)
      report.problem(
        `${at}forward_headers`,
        'forwards no header of a client',
        'Set `headers` of the provider, if all clients send the same.',
      );
    if (memberOf(node, 'api_version') !== undefined)
      report.note(`${at}api_version`, 'is not sent: the address /openai/v1 needs none');
    if (
      path !== '' &&
      ['input_guardrails', 'output_guardrails', 'before_request_hooks', 'after_request_hooks'].some(
        (name) => memberOf(node, name) !== undefined,
      )
    )
      report.problem(
        `${at}guardrails`,
        'act on one target, which there is none for here',
        'Write them as the option guardrails, for all targets.',
      );
    for (const name of Object.keys(node))
      if (!read.has(name)) report.warning(`${at}${name}`, 'has no counterpart here');
  }
  if (timeouts.size > 1)
    report.warning('request_timeout', 'is different in several targets, and the longest holds for all');
}
