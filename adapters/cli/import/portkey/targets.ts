import type { Source, Written } from '../../config-source.ts';
import { type Account, type Accounts, serverName, usualKey } from '../accounts.ts';
import { isMapping, type Mapping, mappingOf, memberOf, numberOf, textOf } from '../mapping.ts';
import { type Part, serviceAccount } from '../produced.ts';
import type { Report } from '../report.ts';
import type { Leaf } from '../stages.ts';
import type { Variables } from '../variables.ts';
import { guessedFrom, servedBy } from './providers.ts';

/** The things that leaves are made with. */
export interface Making {
  accounts: Accounts;
  report: Report;
  variables: Variables;
  parts: Part[];
  /** The model that a client asks for, where a target names none; null: not known. */
  askedModel: string | null;
}

/** Fields that a request gets where it sets none. */
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

/**
 * A target that is one provider, as a leaf of the plan. What it leaves out stands in the targets around it.
 * @returns null: nothing here serves it; the report says why
 */
export function leafOf(target: Mapping, path: string, making: Making): Leaf | null {
  const { report } = making;
  const named = providerOf(target, path, making);
  if (named === null) return null;
  const model = modelOf(target, path, named, making);
  if (model === null) return null;
  const account = accountOf(target, path, named, making);
  if (account === null) return null;
  const baseModel = textOf(target, 'azure_model_name');
  const isDeployment = account.like === 'azure' && textOf(target, 'deployment_id') !== undefined;
  const deployment = isDeployment ? (textOf(target, 'deployment_id') as string) : model;
  const known = isDeployment ? (baseModel ?? model) : undefined;
  const defaults = defaultsOf(mappingOf(target, 'override_params'), `${path}.override_params`, report);
  return {
    endpoint: {
      provider: making.accounts.slugOf(account),
      model: deployment,
      baseModel: known === deployment ? undefined : known,
    },
    defaults,
  };
}

interface Named {
  /** The name of the provider there. */
  name: string;
  /** The key in the vault of the other gateway; null: the key stands in the file. */
  vaultKey: string | null;
}

function providerOf(target: Mapping, path: string, { report }: Making): Named | null {
  const override = textOf(mappingOf(target, 'override_params'), 'model');
  const inModel = /^@([^/]+)\//.exec(override ?? '')?.[1];
  const provider = textOf(target, 'provider');
  const vaultKey = textOf(target, 'virtual_key') ?? inModel ?? /^@(.+)$/.exec(provider ?? '')?.[1] ?? null;
  if (vaultKey === null) {
    if (provider !== undefined) return { name: provider, vaultKey: null };
    report.problem(path, 'names no provider', 'Write its provider into the file, and import again.');
    return null;
  }
  const name = provider !== undefined && !provider.startsWith('@') ? provider : guessedFrom(vaultKey);
  if (name === null) {
    const advice = 'Write `provider` beside it, such as openai, and import again.';
    report.problem(path, 'names a key of the vault, and no provider', advice);
    return null;
  }
  report.warning(
    path,
    `is of ${provider === name ? '' : 'what seems to be '}${name}, and its key is in the vault of the other gateway`,
    'Set the variable of the key that is listed below.',
  );
  return { name, vaultKey };
}

/** The model that requests get at a target. */
function modelOf(target: Mapping, path: string, { name }: Named, { report, askedModel }: Making): string | null {
  const override = textOf(mappingOf(target, 'override_params'), 'model')?.replace(/^@[^/]+\//, '');
  const model = override ?? textOf(target, 'azure_model_name') ?? textOf(target, 'vertex_model_name') ?? askedModel;
  if (model !== null) return model;
  const advice = 'Name those that your clients ask for: --model gpt-4o,gpt-4o-mini';
  report.problem(path, `names no model for ${/^[\w-]{1,40}$/.test(name) ? name : 'its provider'}`, advice);
  return null;
}

function accountOf(target: Mapping, path: string, { name, vaultKey }: Named, making: Making): Account | null {
  const { report, variables } = making;
  const served = servedBy(name);
  const host = textOf(target, 'custom_host');
  const shown = /^[\w.-]{1,40}$/.test(name) ? name : 'a provider';
  if (served === null && host === undefined) {
    const advice = 'Where it speaks chat completions, write its custom_host, or add it by defineProvider.';
    report.problem(`${path}.provider`, `is ${shown}, which is not served here`, advice);
    return null;
  }
  const keyOf = (env: string): Written => {
    const key = textOf(target, 'api_key');
    if (key !== undefined) return variables.secret(key, env);
    if (vaultKey === null) return variables.refer(env);
    const own = /^[\w-]{1,60}$/.test(vaultKey) ? `${vaultKey.replaceAll('-', '_').toUpperCase()}_API_KEY` : env;
    return variables.refer(/^\d/.test(own) ? `_${own}` : own);
  };
  if (served === null || 'server' in served) {
    const wanted = host === undefined && served ? served.server : served === null ? name : serverName(host);
    const baseUrl = host === undefined ? served?.baseUrl : variables.address(host, '', `${wanted}_BASE_URL`);
    const isLocal = name === 'ollama' && textOf(target, 'api_key') === undefined;
    return { like: null, wanted, baseUrl, apiKey: isLocal ? undefined : keyOf(`${wanted}_API_KEY`) };
  }
  return ofBuiltIn(served.like, target, path, keyOf, host, making);
}

function ofBuiltIn(
  like: string,
  target: Mapping,
  path: string,
  keyOf: (env: string) => Written,
  host: string | undefined,
  making: Making,
): Account | null {
  const { variables } = making;
  const baseUrl = host === undefined ? undefined : variables.address(host, '', `${like}_BASE_URL`);
  const env = usualKey(like) ?? `${like}_API_KEY`;
  const text = (name: string, otherwise: string) => {
    const value = textOf(target, name);
    return value === undefined ? variables.refer(otherwise) : variables.text(value);
  };
  switch (like) {
    case 'azure': {
      const mode = textOf(target, 'azure_auth_mode');
      if (mode !== undefined && mode !== 'api_key')
        making.report.problem(`${path}.azure_auth_mode`, 'signs in by Microsoft Entra, which is not done here', entra);
      const credential = { resource: text('resource_name', 'AZURE_RESOURCE_NAME') };
      return { like, baseUrl, apiKey: keyOf(env), credential: host === undefined ? credential : undefined };
    }
    case 'amazon-bedrock':
      return { like, baseUrl, ...bedrockKeys(target, path, text, making, keyOf) };
    case 'google-vertex':
      return ofVertex(target, making, keyOf, text);
    case 'cloudflare':
      return {
        like,
        baseUrl,
        apiKey: keyOf(env),
        credential: { accountId: text('workers_ai_account_id', 'CLOUDFLARE_ACCOUNT_ID') },
      };
    case 'openai':
      return { like, baseUrl, apiKey: keyOf(env), headers: openAiHeaders(target, variables) };
    default:
      return { like, baseUrl, apiKey: keyOf(env) };
  }
}

const entra = 'Give the provider an apiKey, or a token in credential.token, or add it by defineProvider.';

function bedrockKeys(
  target: Mapping,
  path: string,
  text: (name: string, otherwise: string) => Written,
  { variables, report }: Making,
  keyOf: (env: string) => Written,
): Pick<Account, 'apiKey' | 'credential'> {
  const region = text('aws_region', 'AWS_REGION');
  if (textOf(target, 'api_key') !== undefined)
    return { apiKey: keyOf('AWS_BEARER_TOKEN_BEDROCK'), credential: { region } };
  if (memberOf(target, 'aws_role_arn') !== undefined)
    report.problem(
      `${path}.aws_role_arn`,
      'signs in by a role, which is not done here',
      'Set AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN for keys of the role, or an API key of Bedrock.',
    );
  const part = (name: string, env: string) => {
    const value = textOf(target, name);
    return value === undefined ? variables.refer(env) : variables.secret(value, env);
  };
  return {
    credential: {
      region,
      accessKeyId: part('aws_access_key_id', 'AWS_ACCESS_KEY_ID'),
      secretAccessKey: part('aws_secret_access_key', 'AWS_SECRET_ACCESS_KEY'),
      sessionToken:
        memberOf(target, 'aws_session_token') === undefined
          ? undefined
          : part('aws_session_token', 'AWS_SESSION_TOKEN'),
    },
  };
}

function ofVertex(
  target: Mapping,
  { variables, parts }: Making,
  keyOf: (env: string) => Written,
  text: (name: string, otherwise: string) => Written,
): Account {
  const like = 'google-vertex';
  const project = textOf(target, 'vertex_project_id');
  const more = {
    ...(project === undefined ? {} : { project: variables.text(project) }),
    location: text('vertex_region', 'GOOGLE_VERTEX_LOCATION'),
  };
  const key = textOf(target, 'api_key');
  // A token of an hour is no key.
  if (key !== undefined && !/^ya29\./.test(key))
    return { like, apiKey: keyOf('GOOGLE_VERTEX_API_KEY'), credential: more };
  const account = memberOf(target, 'vertex_service_account_json');
  const source = isMapping(account)
    ? variables.secret(JSON.stringify(account), 'GOOGLE_SERVICE_ACCOUNT')
    : variables.refer('GOOGLE_APPLICATION_CREDENTIALS');
  const part = serviceAccount(source, more);
  parts.push(part);
  return { like, credential: part.source as Source };
}

function openAiHeaders(target: Mapping, variables: Variables): Record<string, Written> | undefined {
  const headers: Record<string, Written> = {};
  for (const [name, header] of [
    ['openai_organization', 'openai-organization'],
    ['openai_project', 'openai-project'],
  ] as const) {
    const value = textOf(target, name);
    if (value !== undefined) headers[header] = variables.text(value);
  }
  return Object.keys(headers).length > 0 ? headers : undefined;
}

function defaultsOf(params: Mapping, path: string, report: Report): Record<string, Written> {
  const defaults: Record<string, Written> = {};
  for (const [name, value] of Object.entries(params)) {
    if (name === 'model') continue;
    const isDefault = (defaultFields as readonly string[]).includes(name);
    const isPlain = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
    if (isDefault && isPlain) defaults[name] = value;
    else if (name === 'stop' && Array.isArray(value)) defaults[name] = value.filter((one) => typeof one === 'string');
    else report.problem(`${path}.${name}`, 'is not added to requests', 'Let clients send it.');
  }
  if (Object.keys(defaults).length > 0)
    report.warning(path, 'became defaults: a request that sets such a field keeps its own value');
  return defaults;
}

/** The weight of a target. */
export function weightOf(target: Mapping): number {
  return Math.max(0, numberOf(target, 'weight') ?? 1);
}
