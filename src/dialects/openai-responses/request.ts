import { stringifyExact } from '../../base/exact-json.ts';
import { isObject, type Loose, without } from '../../base/values.ts';
import type { Native } from '../../call/native.ts';
import type { ChatRequest, ResponseFormat } from '../../schema/chat/chat.ts';
import type { DialectRequest, EncodedRequest, StructuredOutput } from '../dialect.ts';
import { gatewayFields } from '../shared/gateway-fields.ts';
import { unsupported } from '../shared/unsupported.ts';
import { mostSearchTurns, searchOptionsOf } from '../shared/web-search-options.ts';
import { asksToCompact, encodeCompaction } from './compaction.ts';
import { createDropped, type Dropped } from './dropped.ts';
import { encodeInput } from './input.ts';
import { passNativeFields } from './native/fields.ts';
import { encodeNativeInput } from './native/items.ts';
import { nativeTools } from './native/tools.ts';
import { leastMaxTokens, type ResponsesQuirks } from './quirks.ts';
import { encodeReasoning, reasons } from './reasoning.ts';
import { encodeToolChoice, encodeTools } from './tools.ts';

/** Fields that mean the same in both wire formats. */
const same: readonly string[] = [
  'temperature',
  'top_p',
  'parallel_tool_calls',
  'service_tier',
  'safety_identifier',
  'user',
  'metadata',
  'prompt_cache_key',
  'prompt_cache_retention',
  'prompt_cache_options',
  'truncation',
  'max_tool_calls',
];
/** Fields that are written anew. Their code notes the parts that are left out. */
const rewritten: ReadonlySet<string> = new Set([
  ...gatewayFields,
  'messages',
  'tools',
  'tool_choice',
  'response_format',
  'verbosity',
  'reasoning_effort',
  'logprobs',
  'top_logprobs',
  'cache_control',
  'max_tokens',
  'max_completion_tokens',
  'reasoning',
  'web_search_options',
]);

/**
 * Builds the upstream body. It names nothing that an earlier call has stored, such as `previous_response_id`: with the
 * operator's key, that could be the response of anybody.
 * @see https://platform.openai.com/docs/api-reference/responses/create
 */
export function encodeRequest(input: DialectRequest<ResponsesQuirks>): EncodedRequest {
  const { request, native = null, upstreamModel, quirks } = input;
  const dropped = createDropped();
  if (native !== null && asksToCompact(request, native, quirks)) return encodeCompaction(input, native, dropped);
  const asked = withoutRefused(request, quirks, dropped);
  const payload: Loose = {};
  payload.model = upstreamModel;
  if (native === null) encodeChat(asked, payload, quirks, dropped);
  else encodeNative(asked, native, payload, input, dropped);
  payload.store = false;
  const include = new Set([...includeOf(asked, upstreamModel, quirks), ...(native?.include ?? [])]);
  if (include.size > 0) payload.include = [...include];
  const largest = asked.max_completion_tokens ?? asked.max_tokens ?? null;
  if (largest !== null) payload.max_output_tokens = Math.max(largest, leastMaxTokens(quirks));
  const text = encodeText(asked, dropped);
  if (text !== null) payload.text = text;
  const reasoning = encodeReasoning(asked, upstreamModel, quirks, dropped);
  if (reasoning !== null) payload.reasoning = reasoning;
  passFields(asked, payload, dropped);
  if (asked.stream === true) passStream(asked, payload);
  if (native !== null) passNativeFields(native, payload, input.isLimited === true, dropped);
  addSearch(asked, payload, input, dropped);
  for (const name of quirks.dropParams ?? []) leaveOut(name, payload, dropped);
  return {
    path: '/responses',
    headers: {
      'content-type': 'application/json',
      accept: asked.stream === true ? 'text/event-stream' : 'application/json',
    },
    payload,
    body: stringifyExact(payload),
    choices: 1,
    dropped: dropped.list(),
    ...(native === null ? {} : { reading: { outputItems: true } }),
    ...structuredOutputOf(payload),
  };
}

function encodeChat(asked: ChatRequest, payload: Loose, quirks: ResponsesQuirks, dropped: Dropped): void {
  payload.input = encodeInput(asked.messages, quirks, dropped);
  if (asked.tools) payload.tools = encodeTools(asked.tools, dropped);
  if (asked.tool_choice !== undefined) payload.tool_choice = encodeToolChoice(asked.tool_choice);
}

/** Adds the parts that the caller of a Responses request wrote, where they still stand. */
function encodeNative(
  asked: ChatRequest,
  native: Native,
  payload: Loose,
  { quirks, isLimited = false }: DialectRequest<ResponsesQuirks>,
  dropped: Dropped,
): void {
  const ofCaller = nativeTools(native, isLimited, dropped);
  const { instructions, input, isSent } = encodeNativeInput(asked.messages, native, {
    quirks,
    dropped,
    tools: ofCaller,
    isLimited,
    compacts: false,
  });
  payload.input = input;
  if (instructions !== null) payload.instructions = instructions;
  const tools = ofCaller.list(asked.tools ?? [], isSent);
  if (tools.length > 0) payload.tools = tools;
  const choice = ofCaller.choice(asked.tool_choice, tools.length > 0);
  if (choice !== undefined) payload.tool_choice = choice;
}

/** Models that have a search tool, by their names at OpenAI. */
const searching = /^(?:gpt-(?:4o|4\.1|[5-9])|o[3-9])/;

/** Adds the search tool. It searches in turns, so there must be a limit of them. */
function addSearch(
  asked: ChatRequest,
  payload: Loose,
  { upstreamModel, quirks }: DialectRequest<ResponsesQuirks>,
  dropped: Dropped,
): void {
  const options = searchOptionsOf(asked, (path) => dropped.note(path));
  if (options === null) return;
  if (!searching.test(upstreamModel) || quirks.dropParams?.includes('max_tool_calls')) {
    dropped.note('web_search_options');
    return;
  }
  const { place, contextSize, allowedDomains } = options;
  const tool: Loose = { type: 'web_search' };
  if (contextSize !== null) tool.search_context_size = contextSize;
  if (place !== null) tool.user_location = place;
  if (allowedDomains !== null) tool.filters = { allowed_domains: allowedDomains };
  payload.tools = [...(Array.isArray(payload.tools) ? payload.tools : []), tool];
  const { max_tool_calls: most } = payload;
  payload.max_tool_calls = typeof most === 'number' ? Math.min(most, mostSearchTurns) : mostSearchTurns;
}

/** The fields that make the request, and that limit its cost: they are sent in spite of the quirks. */
const essential: readonly string[] = [
  'messages',
  'stream',
  'max_tokens',
  'max_completion_tokens',
  'model',
  'input',
  'max_output_tokens',
];
/** The fields that the dialect asks for, and not the caller. */
const unasked: readonly string[] = ['store', 'include'];

function withoutRefused(request: ChatRequest, { dropParams }: ResponsesQuirks, dropped: Dropped): ChatRequest {
  if (dropParams === undefined) return request;
  const refused = dropParams.filter((name) => !essential.includes(name) && (request[name] ?? null) !== null);
  for (const name of refused) dropped.note(name);
  return without(refused, request) as unknown as ChatRequest;
}

/** Takes a field out of the finished body, for names that only the body has, such as `text`. */
function leaveOut(name: string, payload: Loose, dropped: Dropped): void {
  if (!Object.hasOwn(payload, name) || essential.includes(name)) return;
  delete payload[name];
  if (!unasked.includes(name)) dropped.note(name);
}

/** Returns the values of `include`: the provider leaves these parts out of its response unless it is asked for them. */
function includeOf(request: ChatRequest, upstreamModel: string, { encryptedReasoning }: ResponsesQuirks): string[] {
  const include: string[] = [];
  if (encryptedReasoning ?? reasons(upstreamModel)) include.push('reasoning.encrypted_content');
  if (request.logprobs === true) include.push('message.output_text.logprobs');
  return include;
}

function passFields(request: ChatRequest, payload: Loose, dropped: Dropped): void {
  for (const key in request) {
    const value = request[key];
    if (value === null || value === undefined) continue;
    if (key === 'prompt_cache_options') payload[key] = withoutComparison(value, dropped);
    else if (same.includes(key)) payload[key] = value;
    else if (!rewritten.has(key) && !isMet(key, value)) dropped.noteOthers('', { [key]: value }, []);
  }
  if (request.cache_control !== undefined) dropped.note('cache_control');
  if ((request.top_logprobs ?? null) === null) return;
  if (request.logprobs === true) payload.top_logprobs = request.top_logprobs;
  else dropped.note('top_logprobs');
}

/**
 * Returns options without a response to compare with, which is stored: with the operator's key, it could be anybody's.
 */
function withoutComparison(options: unknown, dropped: Dropped): unknown {
  if (!isObject(options) || (options.comparison_response_id ?? null) === null) return options;
  dropped.note('prompt_cache_options.comparison_response_id');
  return without(['comparison_response_id'], options);
}

/** true: a field, for which this wire format has no word, asks only for the usual behaviour. */
function isMet(key: string, value: unknown): boolean {
  if (key === 'n') return value === 1;
  if (key === 'store') return value === false;
  if (key === 'modalities') return Array.isArray(value) && value.every((one) => one === 'text');
  return false;
}

function passStream(request: ChatRequest, payload: Loose): void {
  payload.stream = true;
  // The provider hides the length of its tokens by random text, unless it is told not to.
  const obfuscation = request.stream_options?.include_obfuscation;
  if (typeof obfuscation === 'boolean') payload.stream_options = { include_obfuscation: obfuscation };
}

function structuredOutputOf({ text }: Loose): { structuredOutput?: StructuredOutput } {
  const { format } = (text ?? {}) as { format?: { type: string } };
  return format === undefined || format.type === 'text' ? {} : { structuredOutput: 'native' };
}

/** Encodes the form and the length of the text; null: the caller does not say. */
function encodeText(request: ChatRequest, dropped: Dropped): Loose | null {
  const text: Loose = {};
  if (request.response_format !== undefined) text.format = encodeFormat(request.response_format, dropped);
  const verbosity = request.verbosity ?? null;
  if (verbosity !== null) text.verbosity = verbosity;
  return Object.keys(text).length === 0 ? null : text;
}

/** Encodes a format. The schema and its name stand one level higher than in a chat request. */
function encodeFormat(format: ResponseFormat, dropped: Dropped): Loose {
  if (format.type === 'text' || format.type === 'json_object') return { type: format.type };
  if (format.type !== 'json_schema')
    throw unsupported('response_format.type', '"text", "json_object" or "json_schema" for this provider');
  const { name, description, schema, strict } = format.json_schema;
  dropped.noteOthers('response_format.json_schema.', format.json_schema, ['name', 'description', 'schema', 'strict']);
  return {
    type: 'json_schema',
    name,
    ...(description === undefined || description === null ? {} : { description }),
    // The provider insists on a schema; this one allows anything.
    schema: schema ?? {},
    strict: strict ?? false,
  };
}
