import { Source, type Written } from '../../config-source.ts';
import { type Account, type Accounts, dropping, serverName, speaksChat, usualKey } from '../accounts.ts';
import { isMapping, type Mapping, mappingOf, memberOf, textOf, textsOf } from '../mapping.ts';
import { type Part, serviceAccount } from '../produced.ts';
import type { Report } from '../report.ts';
import type { Variables } from '../variables.ts';
import { isOfOtherKind, type OtherServer, servedBy, splitModel } from './providers.ts';

/** The place of a deployment: a provider of the new config, and the provider's own name for the model. */
export interface Place {
  provider: string;
  /** The built-in provider that it is an account of; null: a server of the user's own. */
  like: string | null;
  model: string;
  baseModel?: string | undefined;
}

/** The things that places are made with. */
export interface Placing {
  accounts: Accounts;
  report: Report;
  variables: Variables;
  /** Gets the imports that the accounts need. */
  parts: Part[];
}

/** One deployment of the file. */
interface Asked extends Placing {
  path: string;
  params: Mapping;
  like: string | null;
  model: string;
  dialect?: string | undefined;
}

/**
 * Finds the place of a deployment, and sets up its account.
 * @param wanted  the slug that its provider should have
 * @returns null: nothing here serves it; the report says why
 */
export function placeOf(
  placing: Placing,
  path: string,
  params: Mapping,
  info: Mapping,
  wanted?: string | undefined,
): Place | null {
  const { report } = placing;
  const at = `${path}.model`;
  const named = textOf(params, 'model') ?? '';
  const [prefix, rest] = splitModel(named, textOf(params, 'custom_llm_provider'));
  if (textOf(info, 'mode') === undefined && isOfOtherKind(named)) {
    report.problem(at, 'is, by its name, no model for chat, and only chat is served', otherKindAdvice);
    return null;
  }
  if (prefix === null || rest === '') {
    const what = prefix === null ? 'names no provider that is known here' : 'names no model';
    report.problem(at, what, 'Write it as provider/model.');
    return null;
  }
  const served = servedBy(prefix);
  const base = textOf(params, 'api_base') ?? textOf(params, 'base_url');
  if (served === null) {
    const advice =
      'Where it speaks chat completions, write it as openai/… with its api_base, or add it by defineProvider.';
    report.problem(at, 'is of a provider that is not served here', advice);
    return null;
  }
  const isResponses = /^responses\//.test(rest) || textOf(info, 'mode') === 'responses';
  const model = rest.replace(/^responses\//, '');
  if ('server' in served) return atServer({ ...placing, path, params, like: null, model }, prefix, served.server, base);
  const dialect = isResponses ? 'openai-responses' : undefined;
  const asked: Asked = { ...placing, path, params, like: served.like, model, dialect };
  const place = (prefix === 'azure_ai' ? atFoundry(asked, base) : null) ?? ofBuiltIn(asked, base, wanted);
  if (place === null) return null;
  return { ...place, baseModel: baseModelOf(info, params, place) };
}

export const otherKindAdvice = 'Ask its provider itself, or keep the proxy for it.';

/** The name by which the price list knows the model. `azure/gpt-4o`, `openai/gpt-4o` and `gpt-4o` are the same. */
function baseModelOf(info: Mapping, params: Mapping, { like, model }: Place): string | undefined {
  const given = textOf(info, 'base_model') ?? textOf(params, 'base_model');
  if (given === undefined || like === null) return undefined;
  const [prefix, name] = splitModel(given, undefined);
  const known = prefix === null ? given : servedBy(prefix) === null ? given : name;
  const base = known.replace(/^(?:us|eu|global|global-standard)\/(?=\S)/, '');
  return base === model ? undefined : base;
}

function atServer(asked: Asked, prefix: string, server: OtherServer, base: string | undefined): Place | null {
  const { report, variables, path, model, accounts } = asked;
  if (base === undefined && server.baseUrl === undefined) {
    report.problem(`${path}.model`, 'names a server without an address', 'Give it an api_base.');
    return null;
  }
  const wanted = prefix === 'custom_openai' || prefix === 'openai_like' ? serverName(base) : prefix;
  const suffix = base === undefined || /\/v1\/?$/.test(base) ? '' : (server.suffix ?? '');
  const baseUrl = base === undefined ? server.baseUrl : variables.address(base, suffix, `${wanted}_BASE_URL`);
  const apiKey = keyOf(asked, server.env, `${wanted}_API_KEY`);
  const provider = accounts.slugOf({ like: null, wanted, baseUrl, apiKey, ...commonOf(asked) });
  return { provider, like: null, model };
}

function ofBuiltIn(asked: Asked, base: string | undefined, wanted: string | undefined): Place | null {
  switch (asked.like) {
    case 'azure':
      return atAzure(asked, base, wanted);
    case 'amazon-bedrock':
      return atBedrock(asked, base, wanted);
    case 'google-vertex':
      return atVertex(asked, wanted);
    case 'openai':
      return base === undefined || isOpenAis(base) ? usual(asked, base, wanted) : atOwnServer(asked, base);
    default:
      return usual(asked, base, wanted);
  }
}

function isOpenAis(base: string): boolean {
  return URL.canParse(base) && /(?:^|\.)openai\.com$/.test(new URL(base).hostname);
}

/** `openai/…` with an address of its own: any server that speaks the same. */
function atOwnServer(asked: Asked, base: string): Place {
  const { variables, accounts, model, dialect } = asked;
  const wanted = serverName(base);
  const apiKey = keyOf(asked, 'OPENAI_API_KEY', `${wanted}_API_KEY`);
  const baseUrl = variables.address(base, '', `${wanted}_BASE_URL`);
  const provider = accounts.slugOf({ like: null, wanted, dialect, baseUrl, apiKey, ...commonOf(asked) });
  return { provider, like: null, model };
}

function usual(asked: Asked, base: string | undefined, wanted: string | undefined): Place {
  const { variables, accounts, model, like, dialect, params } = asked;
  const slug = like as string;
  const env = usualKey(slug);
  const suffix = slug === 'anthropic' && base !== undefined && !/\/v1\/?(?:messages\/?)?$/.test(base) ? '/v1' : '';
  const account: Account = {
    like: slug,
    wanted,
    dialect,
    baseUrl: base === undefined ? undefined : variables.address(base, suffix, `${slug}_BASE_URL`),
    apiKey: keyOf(asked, env, env ?? `${slug}_API_KEY`),
    credential: slug === 'cloudflare' ? { accountId: partOf(asked, 'account_id', 'CLOUDFLARE_ACCOUNT_ID') } : undefined,
    ...commonOf(asked),
  };
  if (slug === 'openai' && textOf(params, 'organization') !== undefined)
    account.headers = {
      ...account.headers,
      'openai-organization': variables.text(textOf(params, 'organization') ?? ''),
    };
  return { provider: accounts.slugOf(account), like: slug, model };
}

const azureHost = /^https:\/\/[\w-]+\.(?:openai|cognitiveservices|services\.ai)\.azure\.(?:com|us|cn)/i;

function atAzure(asked: Asked, base: string | undefined, wanted: string | undefined): Place {
  const { variables, accounts, params, report, path, dialect } = asked;
  const model = asked.model.replace(/^(?:o_series|gpt5_series|o1)\/(?=.)/, '');
  for (const name of ['tenant_id', 'client_id', 'client_secret', 'azure_username', 'azure_password'])
    if (memberOf(params, name) !== undefined)
      report.problem(
        `${path}.${name}`,
        'signs in by Microsoft Entra, which is not done here',
        'Give the provider an apiKey, or a token in credential.token, or add it by defineProvider.',
      );
  if (memberOf(params, 'api_version') !== undefined)
    report.note(`${path}.api_version`, 'is not sent: the address /openai/v1 needs none');
  const token = textOf(params, 'azure_ad_token');
  // An address behind a gateway of one's own is no address of Azure.
  const isEndpoint = base === undefined || /^os\.environ\//.test(base) || azureHost.test(base);
  const origin = base !== undefined && URL.canParse(base) ? new URL(base).origin : base;
  const endpoint = origin === undefined ? variables.refer('AZURE_API_BASE') : variables.text(origin);
  const provider = accounts.slugOf({
    like: 'azure',
    wanted,
    dialect,
    baseUrl: isEndpoint ? undefined : variables.address(base ?? '', azureSuffix(base ?? ''), 'AZURE_BASE_URL'),
    apiKey: token === undefined ? keyOf(asked, 'AZURE_API_KEY', 'AZURE_API_KEY') : undefined,
    credential: credentialOf({
      endpoint: isEndpoint ? endpoint : undefined,
      token: token === undefined ? undefined : variables.secret(token, 'AZURE_AD_TOKEN'),
    }),
    ...commonOf(asked),
  });
  return { provider, like: 'azure', model };
}

/** Models of other authors at Azure. @returns null: they are at the usual address */
function atFoundry(asked: Asked, base: string | undefined): Place | null {
  const { accounts, variables, model } = asked;
  const isClaude = model.startsWith('claude');
  if (base === undefined || (azureHost.test(base) && !isClaude)) return null;
  const wanted = isClaude ? 'azure-anthropic' : serverName(base);
  const suffix = /\/v1\/?$/.test(base) ? '' : !isClaude || /\/anthropic\/?$/.test(base) ? '/v1' : '/anthropic/v1';
  const provider = accounts.slugOf({
    like: null,
    wanted,
    dialect: isClaude ? 'anthropic-messages' : undefined,
    baseUrl: variables.address(base, suffix, `${wanted}_BASE_URL`),
    apiKey: keyOf(asked, 'AZURE_AI_API_KEY', `${wanted}_API_KEY`),
    ...commonOf(asked),
  });
  return { provider, like: null, model };
}

function azureSuffix(base: string): string {
  if (/\/openai\/v1\/?$/.test(base)) return '';
  return /\/openai\/?$/.test(base) ? '/v1' : '/openai/v1';
}

const regionForm = /^[a-z]{2,3}(?:-[a-z]{2,12}){1,3}-\d{1,2}$/;

function atBedrock(asked: Asked, base: string | undefined, wanted: string | undefined): Place | null {
  const { variables, accounts, params, report, path } = asked;
  let model = asked.model.replace(/^(?:converse|invoke|converse_like)\//, '');
  const [first = '', ...others] = model.split('/');
  const inPath = regionForm.test(first) && others.length > 0 ? first : undefined;
  if (inPath !== undefined) model = others.join('/');
  if (/^(?:agent|agentcore|async_invoke)\//.test(model)) {
    report.problem(`${path}.model`, 'is an agent, and only models are served', otherKindAdvice);
    return null;
  }
  // `llama/arn:…` names the family of an imported model.
  model = model.replace(/^[\w.]+\/(?=arn:)/, '');
  for (const name of ['aws_role_name', 'aws_session_name', 'aws_profile_name', 'aws_web_identity_token'])
    if (memberOf(params, name) !== undefined)
      report.problem(
        `${path}.${name}`,
        'signs in by a role or a profile, which is not done here',
        'Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and AWS_SESSION_TOKEN for keys of a role, or give an API key of Bedrock.',
      );
  const region = textOf(params, 'aws_region_name');
  const regionPart = inPath ?? (region === undefined ? variables.refer('AWS_REGION') : variables.text(region));
  const apiKey = textOf(params, 'api_key');
  const endpoint = textOf(params, 'aws_bedrock_runtime_endpoint') ?? base;
  const provider = accounts.slugOf({
    like: 'amazon-bedrock',
    wanted,
    baseUrl: endpoint === undefined ? undefined : variables.address(endpoint, '', 'BEDROCK_BASE_URL'),
    apiKey: apiKey === undefined ? undefined : variables.secret(apiKey, 'AWS_BEARER_TOKEN_BEDROCK'),
    credential: credentialOf({
      region: regionPart,
      ...(apiKey === undefined
        ? {
            accessKeyId: partOf(asked, 'aws_access_key_id', 'AWS_ACCESS_KEY_ID'),
            secretAccessKey: partOf(asked, 'aws_secret_access_key', 'AWS_SECRET_ACCESS_KEY'),
            sessionToken:
              memberOf(params, 'aws_session_token') === undefined
                ? undefined
                : partOf(asked, 'aws_session_token', 'AWS_SESSION_TOKEN'),
          }
        : {}),
    }),
    ...commonOf(asked),
  });
  return { provider, like: 'amazon-bedrock', model };
}

function atVertex(asked: Asked, wanted: string | undefined): Place | null {
  const { variables, accounts, params, report, path, parts } = asked;
  const model = asked.model.replace(/^(?:gemini|publishers\/google\/models)\/(?=.)/, '');
  if (model !== '*' && !/^(?:gemini|gemma|google\/)/.test(model)) {
    report.problem(
      `${path}.model`,
      'is a model of another author at Vertex AI, and only those of Google are served there',
      'Ask for it at its author, or at Amazon Bedrock.',
    );
    return null;
  }
  const name = (text: string | undefined) => (text === undefined ? undefined : variables.text(text));
  const project = name(textOf(params, 'vertex_project') ?? textOf(params, 'vertex_ai_project'));
  const location = name(textOf(params, 'vertex_location') ?? textOf(params, 'vertex_ai_location'));
  const apiKey = textOf(params, 'api_key');
  const given = memberOf(params, 'vertex_credentials');
  const more = credentialOf({ project, location }) ?? {};
  let credential: Account['credential'] = more;
  if (apiKey === undefined) {
    const part = serviceAccount(accountText(given, variables), more);
    parts.push(part);
    credential = part.source as Source;
  }
  const provider = accounts.slugOf({
    like: 'google-vertex',
    wanted,
    apiKey: apiKey === undefined ? undefined : variables.secret(apiKey, 'GOOGLE_VERTEX_API_KEY'),
    credential,
    ...commonOf(asked),
  });
  return { provider, like: 'google-vertex', model: model.replace(/^google\//, '') };
}

/** The file of a service account: its path, its text, or the variable of one of these. */
function accountText(given: unknown, variables: Variables): Source {
  if (isMapping(given)) return variables.secret(JSON.stringify(given), 'GOOGLE_SERVICE_ACCOUNT');
  if (typeof given !== 'string' || given === '') return variables.refer('GOOGLE_APPLICATION_CREDENTIALS');
  if (given.trimStart().startsWith('{')) return variables.secret(given, 'GOOGLE_SERVICE_ACCOUNT');
  const text = variables.text(given);
  return text instanceof Source ? text : new Source(JSON.stringify(given));
}

/** The key of a deployment: its own, else the variable that LiteLLM reads. */
function keyOf({ params, variables }: Asked, env: string | undefined, wanted: string): Written {
  const key = textOf(params, 'api_key');
  if (key !== undefined) return variables.secret(key, wanted);
  return env === undefined ? undefined : variables.refer(env);
}

function partOf({ params, variables }: Asked, name: string, env: string): Source {
  const value = textOf(params, name);
  return value === undefined ? variables.refer(env) : variables.secret(value, env);
}

function credentialOf(parts: Record<string, Written>): Record<string, Written> | undefined {
  const given = Object.entries(parts).filter(([, part]) => part !== undefined);
  return given.length === 0 ? undefined : Object.fromEntries(given);
}

/** The settings that every account may have: headers, and the fields that it is not sent. */
function commonOf({ params, variables, like, dialect, report, path }: Asked): Pick<Account, 'headers' | 'quirks'> {
  const given = { ...mappingOf(params, 'headers'), ...mappingOf(params, 'extra_headers') };
  const headers: Record<string, Written> = {};
  for (const [name, value] of Object.entries(given)) {
    if (/^[!#$%&'*+.^_`|~\w-]+$/.test(name) && (typeof value === 'string' || typeof value === 'number'))
      headers[name] = headerText(String(value), name, variables);
    else report.problem(`${path}.extra_headers.${name}`, 'is no header with a text');
  }
  const dropped = textsOf(params, 'additional_drop_params');
  const canDrop = speaksChat(like) && dialect === undefined;
  if (dropped.length > 0 && !canDrop)
    report.warning(`${path}.additional_drop_params`, 'has no counterpart: this dialect has no list of such fields');
  return {
    headers: Object.keys(headers).length > 0 ? headers : undefined,
    quirks: dropped.length > 0 && canDrop ? dropping(like, dropped) : undefined,
  };
}

/** A header is taken for a secret: it may be a key. Without its variable the gateway sends an empty one. */
function headerText(value: string, name: string, variables: Variables): Written {
  const source = variables.secret(value, `HEADER_${name}`);
  return new Source(source.text.replace('|| undefined', "|| ''"));
}
