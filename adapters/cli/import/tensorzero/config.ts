import { variable, type Written } from '../../config-source.ts';
import { createAccounts } from '../accounts.ts';
import {
  flagOf,
  isMapping,
  type Mapping,
  mappingAt,
  mappingOf,
  memberOf,
  numberOf,
  textOf,
  textsOf,
} from '../mapping.ts';
import {
  attemptsOf,
  type ImportedModel,
  isAliasName,
  isSlug,
  milliseconds,
  timeoutsOf,
  writtenModel,
} from '../models.ts';
import { type Imported, type ImportInput, openTelemetry, type Part, sqlite, usualParts } from '../produced.ts';
import { createReport, type Report } from '../report.ts';
import { inOrder, modelsOf, type Stages } from '../stages.ts';
import { createVariables } from '../variables.ts';
import { stagesOfFunction } from './functions.ts';
import { limitsOf } from './limits.ts';
import { environmentName } from './locations.ts';
import { isType, type Making, stagesOfProvider } from './providers.ts';
import { reportSettings } from './settings.ts';

/** Tells whether a file is a config file of TensorZero. */
export function isTensorzero(file: Mapping): boolean {
  const isNamed = (section: string, member: string) =>
    Object.values(mappingOf(file, section)).some((one) => isMapping(one) && memberOf(one, member) !== undefined);
  if (isNamed('models', 'routing') || isNamed('functions', 'variants') || isNamed('functions', 'type')) return true;
  const names = Object.keys(file);
  return names.length > 0 && names.every((name) => sections.has(name) && isMapping(file[name]));
}

/** Sections of a file. One with some of these alone is taken for such a file. */
const sections = new Set([
  'autopilot',
  'clickhouse',
  'embedding_models',
  'evaluations',
  'functions',
  'gateway',
  'metrics',
  'models',
  'object_storage',
  'optimizers',
  'postgres',
  'provider_types',
  'rate_limiting',
  'tools',
]);

/** Imports a config file of TensorZero: its models, and the functions that are no more than a model. */
export function importTensorzero(input: ImportInput): Imported {
  const { file } = input;
  const report = createReport();
  const variables = createVariables(environmentName, input.taken, input.reserved);
  const parts: Part[] = [];
  const making: Making = { file, accounts: createAccounts(), report, variables, parts };
  const models = importModels(making);
  const gateway = mappingOf(file, 'gateway');
  const rateLimits = limitsOf(file, report);
  reportSettings(file, report);
  const attempts = attemptsOf(retriesOf(file), models);
  const isTraced = flagOf(mappingAt(gateway, 'export.otlp.traces'), 'enabled') === true;
  if (isTraced)
    report.warning(
      'gateway.export.otlp.traces',
      'is what openTelemetry(api) makes, once an exporter sends it',
      'Set up an SDK of OpenTelemetry with its exporter in the process: docs/telemetry.md.',
    );
  const keepsRecords = flagOf(mappingOf(gateway, 'observability'), 'enabled') === true;
  if (keepsRecords)
    report.note(
      'gateway.observability',
      'is records.enabled: records are in the store; prompts where a workspace asks for it',
    );
  if (flagOf(mappingOf(gateway, 'auth'), 'enabled') === true)
    report.warning(
      'gateway.auth',
      'has keys in its database, which are not imported',
      'Make keys with npx model-gateway keys.',
    );
  else report.note('gateway.auth', 'let everybody in; here callers need GATEWAY_API_KEY');
  const used = [...parts, sqlite, ...(isTraced ? [openTelemetry] : [])];
  return {
    imports: used.flatMap((part) => part.imports),
    packages: used.flatMap((part) => part.packages),
    report,
    variables,
    serve: serveOptions(gateway),
    options: {
      basePath: `${basePathOf(gateway)}/openai/v1`,
      providers: making.accounts.options,
      models: models.map(writtenModel),
      retry: attempts === undefined ? undefined : { ...attempts },
      timeouts: timesOf(file, attempts, report),
      rateLimits,
      records: keepsRecords ? { enabled: true } : undefined,
      ...usualParts(sqlite, variable('GATEWAY_API_KEY')),
      onRecord: isTraced ? openTelemetry.source : undefined,
    },
  };
}

function importModels(making: Making): ImportedModel[] {
  const { file, report } = making;
  const models: ImportedModel[] = [];
  const taken = new Set<string>();
  const add = (name: string, shown: string, stages: Stages, aliases: readonly string[]): void => {
    const author = stages[0]?.[0]?.leaf.endpoint.provider;
    if (author === undefined) return;
    const slash = name.indexOf('/');
    const made = isSlug(name)
      ? modelsOf(stages, name.slice(0, slash), name.slice(slash + 1), taken)
      : modelsOf(stages, author, name, taken);
    const [first] = made;
    if (first === undefined) return;
    first.aliases = [...new Set(aliases)].filter((alias) => isAliasName(alias) && alias !== first.slug);
    models.push(...made);
    report.imported(shown);
  };
  const known = new Map<string, Stages>();
  for (const [name, model] of Object.entries(mappingOf(file, 'models'))) {
    report.model(name);
    const stages = isMapping(model) ? stagesOfModel(model, `models.${name}`, making) : [];
    known.set(name, stages);
    add(name, name, stages, [`tensorzero::model_name::${name}`, name]);
  }
  /** A model by its name, or by a short name such as `openai::gpt-4o`, which becomes a model as well. */
  const named = (name: string, where: string): Stages => {
    const found = known.get(name);
    if (found !== undefined) return found;
    const [, type = '', own = ''] = /^(\w+)::(.+)$/s.exec(name) ?? [];
    if (!isType(type)) {
      report.problem(where, 'names a model that the file does not have');
      return [];
    }
    report.model(name);
    const stages = stagesOfProvider({ type, model_name: own }, where, making);
    known.set(name, stages);
    add(own, name, stages, [`tensorzero::model_name::${name}`, name]);
    return stages;
  };
  for (const [name, one] of Object.entries(mappingOf(file, 'functions'))) {
    const shown = `function ${name}`;
    report.model(shown);
    const stages = isMapping(one) ? stagesOfFunction(one, `functions.${name}`, report, named) : null;
    if (stages === null) report.needsWork(shown);
    else add(`tensorzero/${name}`, shown, stages, [`tensorzero::function_name::${name}`]);
  }
  for (const name of Object.keys(mappingOf(file, 'embedding_models'))) {
    report.model(name);
    report.problem(`embedding_models.${name}`, 'makes embeddings, and only chat is served', 'Ask its provider itself.');
  }
  return models;
}

function stagesOfModel(model: Mapping, path: string, making: Making): Stages {
  const providers = mappingOf(model, 'providers');
  return inOrder(
    textsOf(model, 'routing').map((name) => {
      const provider = memberOf(providers, name);
      if (isMapping(provider)) return stagesOfProvider(provider, `${path}.providers.${name}`, making);
      making.report.problem(`${path}.routing`, 'names a provider that the model does not have');
      return [];
    }),
  );
}

/** Retries of a variant are of the model as a whole there; the most of them hold here. */
function retriesOf(file: Mapping): number | undefined {
  const all = variantsOf(file).map((variant) => numberOf(mappingOf(variant, 'retries'), 'num_retries'));
  const given = all.filter((one) => one !== undefined);
  return given.length > 0 ? Math.max(...given) : 0;
}

function variantsOf(file: Mapping): Mapping[] {
  return Object.values(mappingOf(file, 'functions')).flatMap((one) =>
    isMapping(one) ? Object.values(mappingOf(one, 'variants')).filter(isMapping) : [],
  );
}

/** Time-outs of providers are of one attempt; those of models and variants are of a request with all of its attempts. */
function timesOf(file: Mapping, attempts: ReturnType<typeof attemptsOf>, report: Report): Written {
  const models = Object.values(mappingOf(file, 'models')).filter(isMapping);
  const providers = models.flatMap((model) => Object.values(mappingOf(model, 'providers')).filter(isMapping));
  const longest = (holders: readonly Mapping[], path: string): number | undefined => {
    const at = path.lastIndexOf('.');
    const all = holders.map((one) => numberOf(mappingAt(one, path.slice(0, at)), path.slice(at + 1)));
    const given = all.filter((one) => one !== undefined);
    if (given.length === 0) return undefined;
    if (given.length < holders.length || new Set(given).size > 1)
      report.warning(
        path,
        given.length < holders.length
          ? 'is not set everywhere, and is left out'
          : 'differs, and the longest holds for all',
        'Look at the option timeouts.',
      );
    return given.length < holders.length ? undefined : milliseconds(Math.max(...given), 1);
  };
  const outbound = milliseconds(numberOf(mappingOf(file, 'gateway'), 'global_outbound_http_timeout_ms'), 1);
  const whole = [...models, ...variantsOf(file)].filter((one) => memberOf(one, 'timeouts') !== undefined);
  for (const one of whole.slice(0, 1))
    if (isMapping(one))
      report.warning(
        'timeouts',
        'of models and variants are of a request with all of its attempts, and are left out',
        'timeouts.totalMs is of every request; a client may send X-Service-Timeout-Ms.',
      );
  return timeoutsOf(
    {
      completeMs: longest(providers, 'timeouts.non_streaming.total_ms') ?? outbound,
      firstTokenMs: longest(providers, 'timeouts.streaming.ttft_ms') ?? outbound,
    },
    attempts,
  );
}

function basePathOf(gateway: Mapping): string {
  const given = textOf(gateway, 'base_path') ?? '';
  const path = given.endsWith('/') ? given.slice(0, -1) : given;
  return /^(?:\/[\w.~-]+)*$/.test(path) ? path : '';
}

/** The address to listen on, as options of `serve`. */
function serveOptions(gateway: Mapping): string {
  const [, host = '', port = ''] = /^(.*):(\d{1,5})$/.exec(textOf(gateway, 'bind_address') ?? '') ?? [];
  const name = host.replace(/^\[|\]$/g, '');
  return port === '' || !/^[\w.:-]+$/.test(name) ? '' : ` --host ${name} --port ${port}`;
}
