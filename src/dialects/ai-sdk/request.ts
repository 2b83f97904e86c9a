import { stringifyExact } from '../../base/exact-json.ts';
import type { Loose } from '../../base/values.ts';
import type { ChatRequest, ChatTool, FunctionTool, ToolChoice } from '../../schema/chat/chat.ts';
import type { DialectRequest, EncodedRequest } from '../dialect.ts';
import { allowedTools } from '../shared/allowed-tools.ts';
import { Dropped, leftOut } from '../shared/left-out.ts';
import { asEffort, reasoningAmount } from '../shared/reasoning-request.ts';
import { unsupported } from '../shared/unsupported.ts';
import { noArguments } from '../shared/values.ts';
import { type Metadata, merged } from './metadata.ts';
import { cacheOptions, encodePrompt, options, type PromptContext } from './prompt.ts';
import type { AiSdkQuirks } from './quirks.ts';

/** Numbers with their names there. */
const numbers = {
  temperature: 'temperature',
  top_p: 'topP',
  top_k: 'topK',
  presence_penalty: 'presencePenalty',
  frequency_penalty: 'frequencyPenalty',
  seed: 'seed',
} as const;

const carried: ReadonlySet<string> = new Set([
  ...Object.keys(numbers),
  'max_tokens',
  'max_completion_tokens',
  'stop',
  'tools',
  'tool_choice',
  'response_format',
  'reasoning',
  'reasoning_effort',
  'cache_control',
  // These fields are carried as far as possible; see `addPartlyCarried`.
  'n',
  'parallel_tool_calls',
  'modalities',
  'logprobs',
]);

/** The largest output, of which an effort is a share, where the caller sets no limit. */
const usualMaxOutput = 32_000;

/**
 * Writes the options of a call of an AI SDK language model, as JSON: addresses are texts, and `model` and `stream` are
 * for the caller of the model. Options that only one provider understands are not taken from callers: they could raise
 * limits that money is held by.
 * @see https://github.com/vercel/ai/blob/main/packages/provider/src/language-model/v4/language-model-v4-call-options.ts
 */
export function encodeRequest({ request, upstreamModel, quirks }: DialectRequest<AiSdkQuirks>): EncodedRequest {
  const dropped = new Dropped();
  for (const name of leftOut(request, carried)) dropped.add(name);
  addPartlyCarried(request, dropped);
  const context = { quirks, dropped };
  const isStream = request.stream === true;
  const ofProvider = merged(
    merged(null, (quirks.providerOptions ?? null) as Metadata | null),
    cacheOptions(request, '', context),
  );
  const format = formatOf(request, dropped);
  const payload: Loose = {
    model: upstreamModel,
    stream: isStream,
    prompt: encodePrompt(request.messages, context),
    ...settingsOf(request),
    ...encodeTools(request, context),
    ...(format === null ? {} : { responseFormat: format }),
    ...options(ofProvider),
  };
  return {
    path: '/language-model',
    headers: { 'content-type': 'application/json', accept: isStream ? 'text/event-stream' : 'application/json' },
    payload,
    body: stringifyExact(payload),
    choices: 1,
    dropped: dropped.list(),
    ...(format === null ? {} : { structuredOutput: 'native' as const }),
  };
}

/** Lists fields whose usual value a model keeps without being told. */
function addPartlyCarried(request: ChatRequest, dropped: Dropped): void {
  if (typeof request.n === 'number' && request.n !== 1) dropped.add('n');
  if (request.parallel_tool_calls === false) dropped.add('parallel_tool_calls');
  if (request.logprobs === true) dropped.add('logprobs');
  if (request.modalities?.some((one) => one !== 'text')) dropped.add('modalities');
  if (request.reasoning) dropped.addSet('reasoning', request.reasoning, ['summary']);
  // The number of tokens becomes an effort, which the model's provider may turn into another number.
  const amount = reasoningAmount(request);
  if (amount !== null && 'maxTokens' in amount) dropped.add('reasoning.max_tokens');
}

function settingsOf(request: ChatRequest): Loose {
  const settings: Loose = {};
  for (const [ours, theirs] of Object.entries(numbers)) {
    const value = request[ours];
    if (typeof value === 'number') settings[theirs] = value;
  }
  const largest = request.max_completion_tokens ?? request.max_tokens ?? null;
  if (largest !== null) settings.maxOutputTokens = largest;
  const { stop } = request;
  if (stop !== undefined && stop !== null) settings.stopSequences = typeof stop === 'string' ? [stop] : stop;
  // The AI SDK has the same words for efforts, and none for a number of tokens.
  const amount = reasoningAmount(request);
  if (amount !== null) settings.reasoning = asEffort(amount, largest ?? usualMaxOutput);
  return settings;
}

function formatOf({ response_format: format }: ChatRequest, dropped: Dropped): Loose | null {
  if (format === undefined || format.type === 'text') return null;
  if (format.type === 'json_object') return { type: 'json' };
  if (format.type !== 'json_schema') throw unsupported('response_format.type', 'text, json_object or json_schema');
  dropped.addSet('response_format.json_schema', format.json_schema, ['strict']);
  const { name, description, schema } = format.json_schema;
  return {
    type: 'json',
    name,
    ...(description === undefined ? {} : { description }),
    ...(schema === undefined ? {} : { schema }),
  };
}

/**
 * Writes the tools of a request, and which of them may be called, as an AI SDK language model takes them.
 * @see https://github.com/vercel/ai/blob/main/packages/provider/src/language-model/v4/language-model-v4-tool-choice.ts
 */
function encodeTools({ tools = [], tool_choice: choice }: ChatRequest, context: PromptContext): Loose {
  const { names, toolChoice } = readChoice(choice);
  const functions = tools.map(asFunction);
  const offered = names === null ? functions : functions.filter((tool) => names.has(tool.function.name));
  if (offered.length === 0) {
    // No tool can be called without tools, for every choice.
    if (toolChoice?.type === 'required') context.dropped.add('tool_choice');
    return {};
  }
  return {
    tools: offered.map((tool) => encodeTool(tool, context)),
    ...(toolChoice === null ? {} : { toolChoice }),
  };
}

function asFunction(tool: ChatTool, at: number): FunctionTool {
  if (tool.type !== 'function') throw unsupported(`tools[${at}].type`, 'function');
  return tool as FunctionTool;
}

function encodeTool(tool: FunctionTool, context: PromptContext): Loose {
  const { name, description, parameters, strict } = tool.function;
  return {
    type: 'function',
    name,
    ...(description === undefined ? {} : { description }),
    inputSchema: parameters ?? noArguments,
    ...(typeof strict === 'boolean' ? { strict } : {}),
    ...options(cacheOptions(tool, 'tools[]', context)),
  };
}

/** `names`: only these tools are offered; null: each is. */
function readChoice(choice: ToolChoice | undefined): { names: ReadonlySet<unknown> | null; toolChoice: Loose | null } {
  if (choice === undefined) return { names: null, toolChoice: null };
  if (typeof choice === 'string') return { names: null, toolChoice: { type: choice } };
  if (choice.type === 'function')
    return { names: null, toolChoice: { type: 'tool', toolName: (choice as FunctionTool).function.name } };
  const allowed = allowedTools(choice);
  if (allowed === null) throw unsupported('tool_choice', 'auto, none, required, a function or allowed_tools');
  return { names: allowed.names, toolChoice: { type: allowed.isForced ? 'required' : 'auto' } };
}
