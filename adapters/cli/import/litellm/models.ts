import type { Written } from '../../config-source.ts';
import { decimal, type Findings, isMapping, type Mapping, mappingOf, memberOf, numberOf, textOf } from '../values.ts';
import type { ImportedProviders, Place } from './providers.ts';

/** The way in which the deployments of a model share its requests. */
export type Sharing = 'shuffle' | 'price' | 'listed';

/** A model of the new config; settings from other places of the file are added later. */
export interface ImportedModel {
  slug: string;
  aliases: string[];
  fallbacks: string[];
  options: Record<string, Written>;
}

interface Deployment {
  path: string;
  params: Mapping;
  info: Mapping;
  place: Place;
}

const defaultFields = [
  'max_tokens',
  'max_completion_tokens',
  'temperature',
  'top_p',
  'top_k',
  'frequency_penalty',
  'presence_penalty',
  'seed',
  'stop',
  'reasoning_effort',
  'parallel_tool_calls',
] as const;

const knownParams = new Set<string>([
  ...defaultFields,
  'model',
  'custom_llm_provider',
  'api_key',
  'api_base',
  'base_url',
  'api_version',
  'rpm',
  'tpm',
  'weight',
  'order',
  'input_cost_per_token',
  'output_cost_per_token',
  'cache_read_input_token_cost',
  'cache_creation_input_token_cost',
]);

const knownInfo = new Set([
  'id',
  'mode',
  'base_model',
  'description',
  'max_tokens',
  'max_input_tokens',
  'max_output_tokens',
  'input_cost_per_token',
  'output_cost_per_token',
  'cache_read_input_token_cost',
  'cache_creation_input_token_cost',
]);

/**
 * Reads `model_list`. Deployments with one `model_name` become the endpoints of one model.
 * @returns models by the name that callers use
 */
export function importModels(
  file: Mapping,
  providers: ImportedProviders,
  sharing: Sharing,
  findings: Findings,
): Map<string, ImportedModel> {
  const list = memberOf(file, 'model_list');
  const groups = new Map<string, Deployment[]>();
  for (const [at, entry] of (Array.isArray(list) ? list : []).entries()) {
    const path = `model_list[${at}]`;
    const name = isMapping(entry) ? textOf(entry, 'model_name') : undefined;
    if (!isMapping(entry) || name === undefined) findings.cannot(path, 'has no model_name');
    else addDeployment(groups, name, path, entry, providers, findings);
  }
  const models = new Map<string, ImportedModel>();
  const slugs = new Set<string>();
  // Names with an author keep them; the others must not take them.
  for (const name of groups.keys()) if (isSlug(name)) slugs.add(name);
  for (const [name, deployments] of groups) models.set(name, modelOf(name, deployments, sharing, slugs, findings));
  return models;
}

function addDeployment(
  groups: Map<string, Deployment[]>,
  name: string,
  path: string,
  entry: Mapping,
  providers: ImportedProviders,
  findings: Findings,
): void {
  const params = mappingOf(entry, 'litellm_params');
  const info = mappingOf(entry, 'model_info');
  const paramsPath = `${path}.litellm_params`;
  const mode = textOf(info, 'mode') ?? 'chat';
  if (mode !== 'chat') {
    findings.cannot(`${path}.model_info.mode`, 'is not chat: only chat completions are served');
    return;
  }
  const place = providers.placeOf(paramsPath, params);
  findings.cannotOthers(paramsPath, params, knownParams, 'has no counterpart for one deployment');
  findings.cannotOthers(`${path}.model_info`, info, knownInfo, 'is not kept');
  if (memberOf(params, 'api_version') !== undefined)
    findings.cannot(`${paramsPath}.api_version`, 'is not sent: the address /openai/v1 needs none');
  if (place === null) return;
  if (name.includes('*') || place.model.includes('*')) {
    if (name !== `${place.provider}/*` || place.model !== '*')
      findings.cannot(`${path}.model_name`, `is a wildcard: ask for ${JSON.stringify(`${place.provider}/…`)} instead`);
    // Otherwise nothing is written: a name that begins with the slug of a provider goes to that provider.
    return;
  }
  for (const limit of ['rpm', 'tpm'])
    if (memberOf(params, limit) !== undefined)
      findings.cannot(
        `${paramsPath}.${limit}`,
        'limits no deployment: it became a weight at most. rateLimits limits keys and workspaces',
      );
  const group = groups.get(name);
  if (group) group.push({ path, params, info, place });
  else groups.set(name, [{ path, params, info, place }]);
}

function isSlug(name: string): boolean {
  return /^[^\s/]+\/\S+$/.test(name) && !name.startsWith('~') && name.length <= 256;
}

function modelOf(
  name: string,
  given: readonly Deployment[],
  sharing: Sharing,
  slugs: Set<string>,
  findings: Findings,
): ImportedModel {
  const ordered = given.some(({ params }) => numberOf(params, 'order') !== undefined);
  const deployments = ordered ? [...given].sort((a, b) => placeOf(a) - placeOf(b)) : given;
  const first = deployments[0] as Deployment;
  const slug = isSlug(name) ? name : freeSlug(first.place.provider, name, slugs);
  const isAlias = slug !== name && /^[^\s~]\S*$/.test(name) && name.length <= 256;
  if (slug !== name && !isAlias)
    findings.cannot(`${first.path}.model_name`, `cannot be asked for; ask for ${JSON.stringify(slug)}`);
  const weights = deployments.length > 1 && sharing === 'shuffle' && !ordered ? weightsOf(deployments) : null;
  const defaults = defaultsOf(first);
  for (const other of deployments)
    if (JSON.stringify(defaultsOf(other)) !== JSON.stringify(defaults))
      findings.cannot(
        `${other.path}.litellm_params`,
        'has other default parameters than the first deployment of its model',
      );
  return {
    slug,
    aliases: isAlias ? [name] : [],
    fallbacks: [],
    options: {
      ...(Object.keys(defaults).length > 0 ? { defaults } : {}),
      ...(sharing === 'price' && !ordered && deployments.length > 1 ? { order: 'price' } : {}),
      endpoints: distinct(deployments, findings).map((one) => endpointOf(one, weights?.get(one), findings)),
    },
  };
}

function placeOf({ params }: Deployment): number {
  return numberOf(params, 'order') ?? Number.POSITIVE_INFINITY;
}

function freeSlug(author: string, name: string, slugs: Set<string>): string {
  const clean = name.replace(/\s+/g, '-').slice(0, 200);
  for (let at = 1; ; at++) {
    const slug = `${at === 1 ? author : `${author}-${at}`}/${clean}`;
    if (slugs.has(slug)) continue;
    slugs.add(slug);
    return slug;
  }
}

/** An endpoint is a model at a provider: the same one twice would be asked twice for nothing. */
function distinct(deployments: readonly Deployment[], findings: Findings): Deployment[] {
  const seen = new Set<string>();
  return deployments.filter(({ path, place }) => {
    const id = JSON.stringify(place);
    if (seen.has(id)) findings.cannot(path, 'is the same model, address and key as an earlier deployment');
    return seen.size < seen.add(id).size;
  });
}

/** Weights as LiteLLM has them: by weight, else by requests, else by tokens per minute, else even. */
function weightsOf(deployments: readonly Deployment[]): Map<Deployment, number> {
  const name = ['weight', 'rpm', 'tpm'].find((one) =>
    deployments.some(({ params }) => (numberOf(params, one) ?? 0) > 0),
  );
  const found = new Map<Deployment, number>();
  for (const one of deployments) {
    const weight = name === undefined ? 1 : (numberOf(one.params, name) ?? 0);
    if (weight > 0) found.set(one, weight);
  }
  // Tokens per minute may be more than a weight may be.
  const largest = Math.max(...found.values());
  if (largest > 1_000_000) for (const [one, weight] of found) found.set(one, (weight / largest) * 1000);
  return found;
}

function defaultsOf({ params }: Deployment): Record<string, Written> {
  const defaults: Record<string, Written> = {};
  for (const name of defaultFields) {
    const value = memberOf(params, name);
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') defaults[name] = value;
    else if (name === 'stop' && Array.isArray(value)) defaults[name] = value.filter((one) => typeof one === 'string');
  }
  return defaults;
}

function endpointOf({ path, params, info, place }: Deployment, weight: number | undefined, findings: Findings) {
  const cost = (name: string) => numberOf(params, name) ?? numberOf(info, name);
  const [prompt, completion] = [cost('input_cost_per_token'), cost('output_cost_per_token')];
  const cacheRead = cost('cache_read_input_token_cost');
  const cacheWrite = cost('cache_creation_input_token_cost');
  if ((prompt === undefined) !== (completion === undefined))
    findings.cannot(`${path}.litellm_params`, 'has the price of one side only; pricing needs prompt and completion');
  const pricing =
    prompt === undefined || completion === undefined
      ? undefined
      : {
          prompt: decimal(prompt),
          completion: decimal(completion),
          inputCacheRead: cacheRead === undefined ? undefined : decimal(cacheRead),
          inputCacheWrite: cacheWrite === undefined ? undefined : decimal(cacheWrite),
        };
  return {
    provider: place.provider,
    model: place.model,
    weight,
    pricing,
    maxPromptTokens: wholeOf(info, 'max_input_tokens'),
    maxCompletionTokens: wholeOf(info, 'max_output_tokens'),
  };
}

function wholeOf(mapping: Mapping, name: string): number | undefined {
  const number = numberOf(mapping, name);
  return number !== undefined && Number.isSafeInteger(number) && number > 0 ? number : undefined;
}
