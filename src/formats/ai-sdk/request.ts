import { didYouMean, nearest } from '../../base/text/nearest.ts';
import { isObject, type Loose } from '../../base/values.ts';
import { fieldsWith } from '../../schema/chat/fields.ts';
import { ownName } from './notes.ts';
import { cacheMark, wireMessages } from './prompt.ts';
import type { CallOptions } from './types.ts';
import { shown, Warnings } from './warnings.ts';

/** Options with their names in a chat request. */
const named = {
  maxOutputTokens: 'max_completion_tokens',
  temperature: 'temperature',
  topP: 'top_p',
  topK: 'top_k',
  presencePenalty: 'presence_penalty',
  frequencyPenalty: 'frequency_penalty',
  seed: 'seed',
} as const;

/** Fields that are the model's own work, and that no option may set. */
const reserved: readonly string[] = ['messages', 'stream', 'stream_options'];

/** Fields of the settings that are no fields of a request. */
const ofTranslation: readonly string[] = ['strictJsonSchema', 'headers', 'supportedUrls'];

/** A chat request, and what of the call it has no place for. */
export interface WireRequest {
  body: Loose;
  warnings: Warnings;
}

/**
 * Makes the chat request of a call. Fields in `providerOptions.gateway` win over options, and options over settings.
 * @throws GatewayError invalid_request (400) for a prompt that a chat request has no place for
 * @see https://github.com/vercel/ai/blob/main/packages/provider/src/language-model/v4/language-model-v4-call-options.ts
 */
export function wireRequest(model: string, settings: Loose, options: CallOptions): WireRequest {
  const warnings = new Warnings();
  const own = fieldsIn(options.providerOptions, warnings);
  const isStrict = (own.strictJsonSchema ?? settings.strictJsonSchema) !== false;
  const body: Loose = {
    model,
    ...requestFields(settings, 'settings', warnings),
    messages: wireMessages(options.prompt, warnings),
  };
  add(body, settingsOf(options));
  const format = formatOf(options.responseFormat, isStrict);
  if (format !== null) body.response_format = format;
  addTools(body, options, warnings);
  add(body, requestFields(own, `providerOptions.${ownName}`, warnings));
  return { body, warnings };
}

/** Returns the common settings of a call, by their names in a request. */
function settingsOf(options: CallOptions): Loose {
  const fields: Loose = {};
  for (const [theirs, ours] of Object.entries(named)) {
    const value = options[theirs as keyof typeof named];
    if (value !== undefined && value !== null) fields[ours] = value;
  }
  const { stopSequences: stop, reasoning } = options;
  if (Array.isArray(stop) && stop.length > 0) fields.stop = stop;
  if (typeof reasoning === 'string' && reasoning !== 'provider-default') fields.reasoning = { effort: reasoning };
  return fields;
}

/** Fields that say the same: a later one replaces either. */
const same = [
  ['max_tokens', 'max_completion_tokens'],
  ['reasoning_effort', 'reasoning'],
] as const;

/** Adds fields to a request. They win over those that are there; settings of reasoning are merged. */
function add(body: Loose, fields: Loose): void {
  const { reasoning: before } = body;
  for (const pair of same)
    if (pair.some((name) => fields[name] !== undefined)) for (const name of pair) delete body[name];
  Object.assign(body, fields);
  if (isObject(before) && isObject(fields.reasoning)) body.reasoning = { ...before, ...fields.reasoning };
}

/** Returns the options for the gateway. Those for other providers have no effect. */
function fieldsIn(all: unknown, warnings: Warnings): Loose {
  if (!isObject(all)) return {};
  for (const [name, options] of Object.entries(all))
    if (name !== ownName && isObject(options) && Object.keys(options).some((field) => !isCacheMark(field)))
      warnings.unsupported(
        `providerOptions.${name}`,
        `Options for the gateway are read from providerOptions.${ownName}`,
      );
  const own = all[ownName];
  if (own === undefined) return {};
  if (isObject(own)) return own;
  warnings.unsupported(`providerOptions.${ownName}`, 'expected object');
  return {};
}

function isCacheMark(field: string): boolean {
  return field === 'cacheControl' || field === 'cache_control';
}

/**
 * Returns the fields for a request. An unknown field goes to the provider, as over HTTP; one that is nearly known is a
 * slip.
 */
function requestFields(given: Loose, at: string, warnings: Warnings): Loose {
  const known: readonly string[] = fieldsWith({});
  const fields: Loose = {};
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined || ofTranslation.includes(name)) continue;
    if (reserved.includes(name) || (name === 'n' && value !== 1)) {
      warnings.unsupported(`${at}.${name}`);
      continue;
    }
    if (!known.includes(name)) {
      const near = nearest(
        name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
        known,
        { max: 1 },
      );
      if (near.length > 0) warnings.other(`${at}.${name} is no field of a request${didYouMean(near)}`);
    }
    if (name !== '__proto__') fields[name] = value;
  }
  return fields;
}

function formatOf(format: unknown, isStrict: boolean): Loose | null {
  if (!isObject(format) || format.type !== 'json') return null;
  const { schema, name, description } = format;
  if (!isObject(schema)) return { type: 'json_object' };
  return {
    type: 'json_schema',
    json_schema: {
      name: typeof name === 'string' && name !== '' ? name : 'response',
      ...(typeof description === 'string' ? { description } : {}),
      schema,
      strict: isStrict,
    },
  };
}

function addTools(body: Loose, { tools, toolChoice: choice }: CallOptions, warnings: Warnings): void {
  /** The kinds of server tools, by their names in the call. */
  const served = new Map<unknown, string>();
  const offered = (Array.isArray(tools) ? tools : []).flatMap((tool: unknown) => {
    if (!isObject(tool)) return [];
    if (tool.type === 'function') return [functionTool(tool, warnings)];
    const type = serverToolType(tool);
    if (type === null) {
      warnings.unsupported(`provider tool ${shown(tool.id)}`, `The gateway's own are named ${ownName}.…`);
      return [];
    }
    served.set(tool.name, type);
    const { args } = tool;
    return [{ type, ...(isObject(args) && Object.keys(args).length > 0 ? { parameters: args } : {}) }];
  });
  if (offered.length > 0) body.tools = offered;
  if (!isObject(choice) || (offered.length === 0 && choice.type !== 'required')) return;
  if (choice.type !== 'tool') body.tool_choice = choice.type;
  else {
    const type = served.get(choice.toolName);
    body.tool_choice = type === undefined ? { type: 'function', function: { name: choice.toolName } } : { type };
  }
}

function functionTool(tool: Loose, warnings: Warnings): Loose {
  const { name, description, inputSchema, inputExamples, strict } = tool;
  if (Array.isArray(inputExamples) && inputExamples.length > 0) warnings.unsupported('inputExamples of a tool');
  const mark = cacheMark(tool);
  return {
    type: 'function',
    function: {
      name,
      ...(typeof description === 'string' ? { description } : {}),
      ...(isObject(inputSchema) ? { parameters: inputSchema } : {}),
      ...(typeof strict === 'boolean' ? { strict } : {}),
    },
    ...(mark === null ? {} : { cache_control: mark }),
  };
}

/** `gateway.web_search` is the server tool `service:web_search`. @returns null: it is a tool of another provider */
function serverToolType({ id }: Loose): string | null {
  const prefix = `${ownName}.`;
  return typeof id === 'string' && id.startsWith(prefix) ? `service:${id.slice(prefix.length)}` : null;
}
