import type { Written } from '../../config-source.ts';
import {
  decimal,
  isMapping,
  listOf,
  type Mapping,
  mappingOf,
  memberOf,
  numberOf,
  textOf,
  wholeOf,
} from '../mapping.ts';
import { freeSlug, type ImportedEndpoint, type ImportedModel, isAliasName, isSlug } from '../models.ts';
import type { Report } from '../report.ts';
import { infoNotes, knownInfo, knownParams, paramAdvice } from './params.ts';
import { otherKindAdvice, type Place, type Placing, placeOf } from './places.ts';
import { placeWildcard } from './wildcards.ts';

/** The way in which the deployments of a model share its requests. */
export type Sharing = 'shuffle' | 'price';

/** A deployment: an entry of `model_list`. */
export interface Deployment {
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
  'min_p',
  'frequency_penalty',
  'presence_penalty',
  'repetition_penalty',
  'seed',
  'stop',
  'reasoning_effort',
  'parallel_tool_calls',
  'verbosity',
] as const;

/**
 * Reads `model_list`. Deployments with one `model_name` become the endpoints of one model.
 * @param credentials  the values of `credential_list` by name
 * @returns models by the name that callers use
 */
export function importModels(
  file: Mapping,
  placing: Placing,
  sharing: Sharing,
  credentials: ReadonlyMap<string, Mapping>,
): Map<string, ImportedModel> {
  const { report } = placing;
  const groups = new Map<string, Deployment[]>();
  for (const [at, entry] of listOf(file, 'model_list').entries()) {
    const path = `model_list[${at}]`;
    const name = isMapping(entry) ? textOf(entry, 'model_name') : undefined;
    if (!isMapping(entry) || name === undefined) {
      report.problem(path, 'has no model_name', 'Add one, or remove the entry.');
      continue;
    }
    report.model(name);
    addDeployment(groups, name, path, entry, placing, credentials);
  }
  const models = new Map<string, ImportedModel>();
  const slugs = new Set<string>();
  // Names with an author keep them; the others must not take them.
  for (const name of groups.keys()) if (isSlug(name)) slugs.add(name);
  for (const [name, deployments] of groups) models.set(name, modelOf(name, deployments, sharing, slugs, report));
  return models;
}

function addDeployment(
  groups: Map<string, Deployment[]>,
  name: string,
  path: string,
  entry: Mapping,
  placing: Placing,
  credentials: ReadonlyMap<string, Mapping>,
): void {
  const { report } = placing;
  const paramsPath = `${path}.litellm_params`;
  const params = withCredential(mappingOf(entry, 'litellm_params'), credentials, paramsPath, report);
  const info = mappingOf(entry, 'model_info');
  const mode = textOf(info, 'mode') ?? 'chat';
  if (mode !== 'chat' && mode !== 'responses') {
    report.problem(`${path}.model_info.mode`, `is ${shownMode(mode)}, and only chat is served`, otherKindAdvice);
    report.needsWork(name);
    return;
  }
  reportParams(paramsPath, params, report);
  reportInfo(`${path}.model_info`, info, report);
  const isWildcard = name.includes('*') || (textOf(params, 'model') ?? '').includes('*');
  const place = isWildcard
    ? placeWildcard(name, placing, path, params, info)
    : placeOf(placing, paramsPath, params, info);
  if (place === null) {
    report.needsWork(name);
    return;
  }
  report.imported(name);
  // A name that begins with the slug of a provider goes to that provider.
  if (isWildcard) return;
  const group = groups.get(name);
  if (group) group.push({ path, params, info, place });
  else groups.set(name, [{ path, params, info, place }]);
}

/** A mode is a word. Anything else is not shown. */
function shownMode(mode: string): string {
  return /^[a-z_]{1,40}$/.test(mode) ? mode : 'another one';
}

/** The parameters of a deployment, with those of the credential that it names. */
function withCredential(
  params: Mapping,
  credentials: ReadonlyMap<string, Mapping>,
  path: string,
  report: Report,
): Mapping {
  const name = textOf(params, 'litellm_credential_name');
  if (name === undefined) return params;
  const values = credentials.get(name);
  if (values === undefined) {
    const advice = 'Set the key of its provider in the new config.';
    report.problem(`${path}.litellm_credential_name`, 'names a credential that is not in this file', advice);
    return params;
  }
  return { ...values, ...params };
}

function reportParams(path: string, params: Mapping, report: Report): void {
  for (const name of Object.keys(params)) {
    if (knownParams.has(name) || (defaultFields as readonly string[]).includes(name)) continue;
    const [level, what, advice] = paramAdvice(name);
    report.add(level, `${path}.${name}`, what, advice);
  }
}

function reportInfo(path: string, info: Mapping, report: Report): void {
  for (const name of Object.keys(info)) {
    if (knownInfo.has(name)) continue;
    const note = Object.hasOwn(infoNotes, name) ? infoNotes[name] : undefined;
    report.note(`${path}.${name}`, note ?? 'is not kept');
  }
}

function modelOf(
  name: string,
  given: readonly Deployment[],
  sharing: Sharing,
  slugs: Set<string>,
  report: Report,
): ImportedModel {
  const ordered = given.some(({ params }) => numberOf(params, 'order') !== undefined);
  const sorted = ordered ? given.toSorted((a, b) => placeInOrder(a) - placeInOrder(b)) : given;
  const deployments = distinct(sorted, report);
  const first = deployments[0] as Deployment;
  const slug = isSlug(name) ? name : freeSlug(first.place.provider, name, slugs);
  const isAlias = slug !== name && isAliasName(name);
  if (slug !== name && !isAlias)
    report.problem(`${first.path}.model_name`, 'cannot be asked for', `Ask for ${JSON.stringify(slug)}.`);
  const firsts = deployments.filter((one) => placeInOrder(one) === placeInOrder(first));
  const others = deployments.filter((one) => placeInOrder(one) > placeInOrder(first));
  if (others.some((one, at) => others.findIndex((other) => placeInOrder(other) === placeInOrder(one)) !== at))
    report.warning(
      `${(others[0] as Deployment).path}.litellm_params.order`,
      'is that of several deployments behind the first ones, which are tried as they are listed',
    );
  const weights = firsts.length > 1 && sharing === 'shuffle' ? weightsOf(firsts, report) : null;
  reportLimits(deployments, weights !== null, report);
  const defaults = defaultsOf(first);
  for (const other of deployments)
    if (JSON.stringify(defaultsOf(other)) !== JSON.stringify(defaults))
      report.warning(
        `${other.path}.litellm_params`,
        'has other default parameters than the first deployment of its model, whose parameters count',
        'Make it a model of its own, and name that as a fallback.',
      );
  return {
    slug,
    aliases: isAlias ? [name] : [],
    fallbacks: [],
    defaults,
    order: sharing === 'price' && !ordered && deployments.length > 1 ? 'price' : undefined,
    endpoints: deployments.map((one) => endpointOf(one, weights?.get(one), report)),
  };
}

function placeInOrder({ params }: Deployment): number {
  return numberOf(params, 'order') ?? Number.MAX_SAFE_INTEGER;
}

/** An endpoint is a model at a provider: the same one twice would be asked twice for nothing. */
function distinct(deployments: readonly Deployment[], report: Report): Deployment[] {
  const seen = new Set<string>();
  return deployments.filter(({ path, place }) => {
    const id = JSON.stringify([place.provider, place.model]);
    if (seen.has(id)) report.note(path, 'is the same model, address and key as an earlier deployment, and is left out');
    return seen.size < seen.add(id).size;
  });
}

/** Weights as LiteLLM has them: by weight, else by requests, else by tokens per minute, else even. */
function weightsOf(deployments: readonly Deployment[], report: Report): Map<Deployment, number> {
  const name = ['weight', 'rpm', 'tpm'].find((one) =>
    deployments.some(({ params }) => (numberOf(params, one) ?? 0) > 0),
  );
  const found = new Map<Deployment, number>();
  for (const one of deployments) {
    const weight = name === undefined ? 1 : (numberOf(one.params, name) ?? 0);
    if (weight > 0) found.set(one, weight);
    else report.note(`${one.path}.litellm_params`, `has no ${name}, and is tried where the others fail`);
  }
  // Tokens per minute may be more than a weight may be.
  const largest = Math.max(...found.values());
  if (largest > 1_000_000) for (const [one, weight] of found) found.set(one, (weight / largest) * 1000);
  return found;
}

/** Requests and tokens per minute: weights there too, and limits in some of the strategies. */
function reportLimits(deployments: readonly Deployment[], isWeighted: boolean, report: Report): void {
  for (const { path, params } of deployments)
    for (const name of ['rpm', 'tpm'] as const) {
      if (numberOf(params, name) === undefined) continue;
      const isWeight = isWeighted && numberOf(params, 'weight') === undefined;
      report.warning(
        `${path}.litellm_params.${name}`,
        isWeight ? 'is the weight of the endpoint, and limits nothing' : 'limits no endpoint',
        'Its provider limits it, and a 429 goes to the next endpoint. rateLimits limits keys and workspaces.',
      );
    }
}

function defaultsOf({ params }: Deployment): Record<string, Written> {
  const defaults: Record<string, Written> = {};
  for (const name of defaultFields) {
    const value = memberOf(params, name);
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') defaults[name] = value;
    else if (name === 'stop' && Array.isArray(value)) defaults[name] = value.filter((one) => typeof one === 'string');
  }
  const thinking = mappingOf(params, 'thinking');
  const budget = wholeOf(thinking, 'budget_tokens');
  if (budget !== undefined) {
    defaults.reasoning = { max_tokens: budget };
    delete defaults.reasoning_effort;
  }
  return defaults;
}

function endpointOf({ path, params, info, place }: Deployment, weight: number | undefined, report: Report) {
  const cost = (name: string) => numberOf(params, name) ?? numberOf(info, name);
  const [prompt, completion] = [cost('input_cost_per_token'), cost('output_cost_per_token')];
  const cacheRead = cost('cache_read_input_token_cost');
  const cacheWrite = cost('cache_creation_input_token_cost');
  if ((prompt === undefined) !== (completion === undefined))
    report.warning(
      `${path}.litellm_params`,
      'has the price of one side only, which is left out',
      'Give the endpoint a pricing with prompt and completion.',
    );
  const endpoint: ImportedEndpoint = {
    provider: place.provider,
    model: place.model,
    baseModel: place.baseModel,
    weight,
    pricing:
      prompt === undefined || completion === undefined
        ? undefined
        : {
            prompt: decimal(prompt),
            completion: decimal(completion),
            inputCacheRead: cacheRead === undefined ? undefined : decimal(cacheRead),
            inputCacheWrite: cacheWrite === undefined ? undefined : decimal(cacheWrite),
          },
    maxPromptTokens: wholeOf(info, 'max_input_tokens'),
    maxCompletionTokens: wholeOf(info, 'max_output_tokens') ?? wholeOf(info, 'max_tokens'),
  };
  return endpoint;
}
