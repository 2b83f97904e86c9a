import { variable } from '../../config-source.ts';
import { createAccounts } from '../accounts.ts';
import { isMapping, listOf, type Mapping, mappingOf, numberOf, textOf } from '../mapping.ts';
import { writtenModel } from '../models.ts';
import { isAccepted } from '../patterns.ts';
import { guardrailsPart, type Imported, type ImportInput, openTelemetry, type Part, usualParts } from '../produced.ts';
import { createReport, type Report } from '../report.ts';
import { createVariables, type Variables, variableName } from '../variables.ts';
import { importCallbacks } from './callbacks.ts';
import { importGuardrails } from './guardrails.ts';
import { withIncluded } from './include.ts';
import { importModels } from './models.ts';
import { addFallbacks, aliasesOf, type Routing, sharingOf, timesOf } from './routing.ts';
import { reportSettings } from './settings.ts';
import { storeOf } from './store.ts';

/** Tells whether a file is a config file of LiteLLM. */
export function isLitellm(file: Mapping): boolean {
  return Array.isArray(file.model_list) || Array.isArray(file.include);
}

/** Imports a config file of LiteLLM, with the files that it includes. */
export async function importLitellm(input: ImportInput): Promise<Imported> {
  const report = createReport();
  const variables = createVariables(environmentName, input.taken, input.reserved);
  const file = await withIncluded(input.file, input.path, input.read, report);
  const router = mappingOf(file, 'router_settings');
  const settings = mappingOf(file, 'litellm_settings');
  const general = mappingOf(file, 'general_settings');
  keepEnvironment(mappingOf(file, 'environment_variables'), report, variables);
  const accounts = createAccounts();
  const parts: Part[] = [];
  const placing = { accounts, report, variables, parts };
  const models = importModels(file, placing, sharingOf(router, report), credentialsOf(file));
  const deployments = listOf(file, 'model_list').flatMap((entry, at) =>
    isMapping(entry) ? [{ path: `model_list[${at}].litellm_params`, params: mappingOf(entry, 'litellm_params') }] : [],
  );
  const routing: Routing = { router, settings, models, deployments, report };
  const aliases = aliasesOf(routing);
  addFallbacks(routing, aliases);
  reportSettings(file, report);
  const callbacks = importCallbacks(settings, report);
  const guardrails = importGuardrails(file, report);
  if (callbacks.patterns.length > 0 && isAccepted('callbacks', callbacks.patterns))
    guardrails.push({ id: 'callbacks', patterns: [...callbacks.patterns] });
  const imposed = guardrailsPart(guardrails);
  const store = storeOf(router, general, report, variables);
  const used = [...parts, store, ...(imposed ? [imposed] : []), ...(callbacks.isTraced ? [openTelemetry] : [])];
  const usual = textOf(general, 'completion_model');
  const defaultModel = usual === undefined ? undefined : (models.get(usual)?.slug ?? aliases.get(usual));
  if (usual !== undefined && defaultModel === undefined)
    report.problem('general_settings.completion_model', 'names a model that was not imported', 'Set defaultModel.');
  return {
    imports: used.flatMap((part) => part.imports),
    packages: [...new Set(used.flatMap((part) => part.packages))],
    report,
    variables,
    options: {
      providers: accounts.options,
      models: [...models.values()].map(writtenModel),
      aliases: aliases.size > 0 ? Object.fromEntries(aliases) : undefined,
      defaultModel,
      ...timesOf(routing),
      ...limitsOf(general),
      guardrails: imposed?.source,
      ...usualParts(store, keyOf(general, report, variables)),
      onRecord: callbacks.isTraced ? openTelemetry.source : undefined,
    },
  };
}

/** The variable that `os.environ/X` names; null: the value is a literal. */
export function environmentName(value: string): string | null {
  return /^os\.environ\/([A-Za-z_]\w*)$/.exec(value)?.[1] ?? null;
}

/** Variables that the file sets for its process. */
function keepEnvironment(given: Mapping, report: Report, variables: Variables): void {
  for (const [name, value] of Object.entries(given)) {
    const text = typeof value === 'number' || typeof value === 'boolean' ? String(value) : value;
    if (variableName(name) === null || typeof text !== 'string')
      report.problem(`environment_variables.${name}`, 'is no text, or its name is none of a variable');
    else if (environmentName(text) === null) variables.set(name, text);
    else if (environmentName(text) !== name)
      report.problem(`environment_variables.${name}`, 'is another variable under a new name', 'Set both.');
  }
}

function credentialsOf(file: Mapping): Map<string, Mapping> {
  const found = new Map<string, Mapping>();
  for (const entry of listOf(file, 'credential_list')) {
    const name = isMapping(entry) ? textOf(entry, 'credential_name') : undefined;
    if (isMapping(entry) && name !== undefined) found.set(name, mappingOf(entry, 'credential_values'));
  }
  return found;
}

/** Limits of the process. */
function limitsOf(general: Mapping) {
  const inFlight = numberOf(general, 'global_max_parallel_requests');
  const megabytes = numberOf(general, 'max_request_size_mb');
  return {
    overload: inFlight !== undefined && inFlight >= 1 ? { maxInFlight: Math.floor(inFlight) } : undefined,
    limits: megabytes !== undefined && megabytes > 0 ? { bodyBytes: Math.ceil(megabytes * 1024 * 1024) } : undefined,
  };
}

/** The key of the operator. The gateway says at its start that it is missing. */
function keyOf(general: Mapping, report: Report, variables: Variables) {
  const key = textOf(general, 'master_key');
  if (key !== undefined) return variables.secret(key, 'GATEWAY_API_KEY');
  report.note('general_settings.master_key', 'is missing, so everybody was let in; here callers need GATEWAY_API_KEY');
  return variable('GATEWAY_API_KEY');
}
