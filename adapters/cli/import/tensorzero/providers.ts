import { Source, type Written } from '../../config-source.ts';
import { type Account, type Accounts, serverName } from '../accounts.ts';
import { decimal, flagOf, isMapping, listOf, type Mapping, mappingAt, memberOf, numberOf, textOf } from '../mapping.ts';
import { type Part, serviceAccount } from '../produced.ts';
import type { Report } from '../report.ts';
import { type Leaf, oneLeaf, type Stages } from '../stages.ts';
import type { Variables } from '../variables.ts';
import { accountText, type Location, locationsIn } from './locations.ts';

/** The things that stages are made with. */
export interface Making {
  file: Mapping;
  accounts: Accounts;
  report: Report;
  variables: Variables;
  parts: Part[];
}

/** Types of providers there, and the built-in providers here. */
const builtIn: Readonly<Record<string, string>> = {
  anthropic: 'anthropic',
  aws_bedrock: 'amazon-bedrock',
  azure: 'azure',
  deepseek: 'deepseek',
  fireworks: 'fireworks',
  gcp_vertex_gemini: 'google-vertex',
  google_ai_studio_gemini: 'google-ai-studio',
  groq: 'groq',
  mistral: 'mistral',
  openai: 'openai',
  together: 'together',
  xai: 'xai',
};

/** Types that are servers which speak chat completions; without an address, the file names it. */
const servers: Readonly<Record<string, string | null>> = {
  hyperbolic: 'https://api.hyperbolic.xyz/v1',
  openrouter: 'https://openrouter.ai/api/v1',
  sglang: null,
  tgi: null,
  vllm: null,
};

const usualKeys: Readonly<Record<string, string>> = { google_ai_studio_gemini: 'GOOGLE_AI_STUDIO_API_KEY' };

/** Tells whether a short name such as `openai::gpt-4o` names a type. */
export function isType(type: string): boolean {
  return Object.hasOwn(builtIn, type) || Object.hasOwn(servers, type);
}

/**
 * The stages of one provider of a model: one for each of its keys.
 * @returns none where nothing here serves it; the report says why
 */
export function stagesOfProvider(provider: Mapping, path: string, making: Making): Stages {
  const { report } = making;
  const type = textOf(provider, 'type') ?? '';
  const model = textOf(provider, 'model_name') ?? textOf(provider, 'model_id') ?? textOf(provider, 'deployment_id');
  if (!isType(type)) {
    const shown = /^[a-z_]{1,40}$/.test(type) ? type : 'a type';
    report.problem(
      `${path}.type`,
      `is ${shown}, which is not served here`,
      'Add it by defineProvider, or leave it out.',
    );
    return [];
  }
  if (model === undefined) {
    report.problem(path, 'names no model of a provider', 'Give it a model_name.');
    return [];
  }
  reportRest(provider, path, report);
  const accounts = accountsOf(type, provider, path, making);
  const pricing = pricingOf(listOf(provider, 'cost'), `${path}.cost`, report);
  return accounts.flatMap((account) => {
    const leaf: Leaf = { endpoint: { provider: making.accounts.slugOf(account), model, pricing }, defaults: {} };
    return oneLeaf(leaf);
  });
}

function accountsOf(type: string, provider: Mapping, path: string, making: Making): Account[] {
  const { variables, report } = making;
  const headers = headersOf(provider, path, making);
  const common = headers === undefined ? {} : { headers };
  if (type === 'gcp_vertex_gemini') return vertexAccounts(provider, path, making).map((one) => ({ ...one, ...common }));
  if (type === 'aws_bedrock') return [{ ...bedrockAccount(provider, path, making), ...common }];
  const keys = keysOf(type, provider, path, making);
  const base = textOf(provider, 'api_base');
  if (type === 'azure') {
    const endpoint = textOf(provider, 'endpoint');
    const written =
      endpoint === undefined ? variables.refer('AZURE_OPENAI_ENDPOINT') : variables.text(originOf(endpoint));
    return keys.map((apiKey) => ({ like: 'azure', apiKey, credential: { endpoint: written }, ...common }));
  }
  const isOpenAi = type === 'openai' && (base === undefined || /^https:\/\/(?:[\w-]+\.)*openai\.com\//.test(base));
  const dialect = textOf(provider, 'api_type') === 'responses' ? 'openai-responses' : undefined;
  const quirks =
    flagOf(provider, 'include_encrypted_reasoning') === true && dialect ? { encryptedReasoning: true } : undefined;
  if (Object.hasOwn(servers, type) || (type === 'openai' && !isOpenAi)) {
    const known = Object.hasOwn(servers, type) ? servers[type] : null;
    if (base === undefined && typeof known !== 'string') {
      report.problem(path, 'names a server without an address', 'Give it an api_base.');
      return [];
    }
    const wanted = type === 'openai' ? serverName(base) : type;
    const baseUrl = base === undefined ? (known as string) : variables.address(base, '', `${wanted}_BASE_URL`);
    return keys.map((apiKey) => ({ like: null, wanted, dialect, quirks, baseUrl, apiKey, ...common }));
  }
  const like = builtIn[type] as string;
  const baseUrl = base === undefined ? undefined : variables.address(base, '', `${like}_BASE_URL`);
  return keys.map((apiKey) => ({ like, dialect, quirks, baseUrl, apiKey, ...common }));
}

function originOf(endpoint: string): string {
  return URL.canParse(endpoint) && /^https?:/.test(endpoint) ? new URL(endpoint).origin : endpoint;
}

function usualLocation(type: string, file: Mapping, name: string, usual: string): unknown {
  return memberOf(mappingAt(file, `provider_types.${type}.defaults`), name) ?? usual;
}

/** The keys of a provider, in the order in which they are tried. */
function keysOf(type: string, provider: Mapping, path: string, { file, variables, report }: Making): Written[] {
  const env = Object.hasOwn(usualKeys, type) ? usualKeys[type] : `${type.toUpperCase()}_API_KEY`;
  const usual = `env::${env}`;
  const given = memberOf(provider, 'api_key_location') ?? usualLocation(type, file, 'api_key_location', usual);
  const keys: Written[] = [];
  for (const location of locationsIn(given, usual)) {
    const key = keyAt(location, `${path}.api_key_location`, variables, report);
    if (key !== null) keys.push(key.key);
  }
  return keys.length > 0 ? keys : [undefined];
}

/** @returns null: no key stands there; the report says why */
function keyAt(location: Location, where: string, variables: Variables, report: Report): { key: Written } | null {
  if (location.kind === 'env') return { key: variables.refer(location.name) };
  if (location.kind === 'none') return { key: undefined };
  if (location.kind === 'dynamic')
    report.problem(
      where,
      'is sent with each request there',
      'Workspaces bring keys of their own: docs/workspaces.md#byok-credentials.',
    );
  else report.problem(where, 'is no variable', 'Set the apiKey of the provider.');
  return null;
}

function bedrockAccount(provider: Mapping, path: string, { variables, report }: Making): Account {
  const part = (name: string, usual: string): Written => {
    const given = textOf(provider, name);
    if (given === undefined || given === 'sdk') return variables.refer(usual);
    const [location] = locationsIn(given, given);
    if (location?.kind === 'env') return variables.refer(location.name);
    if (name === 'region' && location?.kind === 'other') return given;
    report.problem(`${path}.${name}`, 'stands where it cannot be read here', `Set ${usual}.`);
    return variables.refer(usual);
  };
  const endpoint = textOf(provider, 'endpoint_url');
  const isStatic = endpoint !== undefined && /^(?:https?:|env::)/.test(endpoint);
  if (endpoint !== undefined && !isStatic && endpoint !== 'none')
    report.problem(`${path}.endpoint_url`, 'is no fixed address', 'Set the baseUrl of the provider.');
  const region = part('region', 'AWS_REGION');
  const like = 'amazon-bedrock';
  const baseUrl = isStatic ? variables.address(endpoint, '', 'BEDROCK_BASE_URL') : undefined;
  if (textOf(provider, 'api_key') !== undefined)
    return { like, baseUrl, apiKey: part('api_key', 'AWS_BEARER_TOKEN_BEDROCK'), credential: { region } };
  const credential: Record<string, Written> = {
    region,
    accessKeyId: part('access_key_id', 'AWS_ACCESS_KEY_ID'),
    secretAccessKey: part('secret_access_key', 'AWS_SECRET_ACCESS_KEY'),
  };
  if (memberOf(provider, 'session_token') !== undefined)
    credential.sessionToken = part('session_token', 'AWS_SESSION_TOKEN');
  return { like, baseUrl, credential };
}

function vertexAccounts(provider: Mapping, path: string, { file, variables, report, parts }: Making): Account[] {
  if (memberOf(provider, 'endpoint_id') !== undefined)
    report.problem(
      `${path}.endpoint_id`,
      'is an endpoint of your own, which is not asked',
      'Add it by defineProvider.',
    );
  const more: Record<string, Written> = {};
  const project = textOf(provider, 'project_id');
  const location = textOf(provider, 'location');
  if (project !== undefined) more.project = project;
  if (location !== undefined) more.location = location;
  const usual = 'path_from_env::GCP_VERTEX_CREDENTIALS_PATH';
  const given =
    memberOf(provider, 'credential_location') ?? usualLocation('gcp_vertex_gemini', file, 'credential_location', usual);
  return locationsIn(given, usual).flatMap((one) => {
    const text = accountText(one, variables);
    if (text === null) {
      report.problem(`${path}.credential_location`, 'cannot be read here', 'Name the file of a service account.');
      return [];
    }
    const part = serviceAccount(text, more);
    parts.push(part);
    return [{ like: 'google-vertex', credential: part.source as Source }];
  });
}

/** Headers that every request gets; their values may be secrets. */
function headersOf(
  provider: Mapping,
  path: string,
  { variables, report }: Making,
): Record<string, Written> | undefined {
  const headers: Record<string, Written> = {};
  for (const [at, entry] of listOf(provider, 'extra_headers').entries()) {
    const name = isMapping(entry) ? textOf(entry, 'name') : undefined;
    const value = isMapping(entry) ? textOf(entry, 'value') : undefined;
    if (name === undefined || value === undefined || !/^[!#$%&'*+.^_`|~\w-]+$/.test(name))
      report.warning(`${path}.extra_headers[${at}]`, 'is no header with a value, and is left out');
    else headers[name] = new Source(variables.secret(value, `HEADER_${name}`).text.replace('|| undefined', "|| ''"));
  }
  return Object.keys(headers).length > 0 ? headers : undefined;
}

/** The priced kinds of tokens, by the end of the pointer to their count. */
const kinds: readonly [pattern: RegExp, kind: string][] = [
  [/\/(?:prompt_tokens|input_tokens|promptTokenCount|inputTokens)$/, 'prompt'],
  [/\/(?:completion_tokens|output_tokens|candidatesTokenCount|outputTokens)$/, 'completion'],
  [/\/(?:cached_tokens|cache_read_input_tokens|cachedContentTokenCount|cacheReadInputTokens)$/, 'inputCacheRead'],
  [/\/(?:cache_creation_input_tokens|cacheWriteInputTokens)$/, 'inputCacheWrite'],
  [/\/web_search_requests$/, 'webSearch'],
];

function pricingOf(cost: readonly unknown[], path: string, report: Report): Written {
  if (cost.length === 0) return undefined;
  const prices = new Map<string, number>();
  for (const [at, entry] of cost.entries()) {
    if (!isMapping(entry)) continue;
    const pointer = textOf(entry, 'pointer') ?? textOf(entry, 'pointer_nonstreaming') ?? '';
    const perMillion = numberOf(entry, 'cost_per_million');
    const price = perMillion === undefined ? numberOf(entry, 'cost_per_unit') : perMillion / 1e6;
    const kind = kinds.find(([pattern]) => pattern.test(pointer))?.[1];
    if (kind === undefined || price === undefined)
      report.warning(`${path}[${at}]`, 'is the price of what is not counted here', 'Look at pricing of the endpoint.');
    else prices.set(kind, price);
  }
  const [prompt, completion] = [prices.get('prompt'), prices.get('completion')];
  if (prompt === undefined || completion === undefined) {
    report.warning(path, 'has no price of prompt and response, and is left out', 'Give the endpoint a pricing.');
    return undefined;
  }
  // A price below zero takes off what the price of the prompt has counted.
  const read = prices.get('inputCacheRead');
  if (read !== undefined && read < 0) prices.set('inputCacheRead', Math.max(0, prompt + read));
  return Object.fromEntries([...prices].map(([kind, price]) => [kind, decimal(price)]));
}

const known = new Set([
  'type',
  'model_name',
  'model_id',
  'deployment_id',
  'endpoint',
  'endpoint_id',
  'endpoint_url',
  'region',
  'access_key_id',
  'secret_access_key',
  'session_token',
  'api_key',
  'api_key_location',
  'credential_location',
  'project_id',
  'location',
  'api_base',
  'api_type',
  'include_encrypted_reasoning',
  'extra_headers',
  'cost',
  'timeouts',
]);

const rest: Readonly<Record<string, string>> = {
  batch_cost: 'is the price of batches, which are not served',
  discard_unknown_chunks: 'is not needed: what is no chunk is left out',
  extra_body: 'is not added to requests',
  provider_tools: 'is not added to requests: the client sends the tools of a provider',
};

function reportRest(provider: Mapping, path: string, report: Report): void {
  for (const name of Object.keys(provider)) {
    if (known.has(name)) continue;
    const what = Object.hasOwn(rest, name) ? rest[name] : undefined;
    if (name === 'batch_cost' || name === 'discard_unknown_chunks') report.note(`${path}.${name}`, what as string);
    else report.warning(`${path}.${name}`, what ?? 'has no counterpart here');
  }
}
