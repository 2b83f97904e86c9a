import type { Loose } from '../../base/values.ts';
import type { ChatRequest, ChatTool, FunctionTool, ToolChoice } from '../../schema/chat/chat.ts';
import { allowedTools } from '../shared/allowed-tools.ts';
import { unsupported } from '../shared/unsupported.ts';
import { noArguments } from '../shared/values.ts';
import { mostSearchTurns, searchOptionsOf } from '../shared/web-search-options.ts';
import { mark } from './cache.ts';
import type { Encoding } from './encoding.ts';
import { grammarSchema } from './json-schema.ts';
import type { OutputPlan } from './output-format.ts';

export interface ToolPlan {
  tools: Loose[];
  /** The field `tool_choice`. Absent: the model decides. */
  choice?: Loose;
}

/** @see https://platform.claude.com/docs/en/agents-and-tools/tool-use/define-tools */
export function planTools(request: ChatRequest, output: OutputPlan, encoding: Encoding): ToolPlan {
  const { tools: given = [], tool_choice: choice, parallel_tool_calls: parallel } = request;
  const allowed = allowedTools(choice);
  const tools = given
    .map((tool, at) => encodeTool(tool, `tools[${at}]`, encoding))
    .filter(({ name }) => allowed === null || allowed.names.has(name));
  const search = choice === 'none' ? null : searchTool(request, encoding);
  if (search !== null) tools.push(search);
  const isOne = parallel === false;
  if (output.tool) {
    // The output is one of the calls that the model may choose, and the only one where it may choose none of the others.
    const isOnly = tools.length === 0 || choice === 'none';
    const forced = isOnly ? { type: 'tool', name: output.tool.name } : { type: 'any' };
    return { tools: [...tools, output.tool], choice: isOnly || isOne ? oneAtATime(forced) : forced };
  }
  if (tools.length === 0) {
    for (const field of ['tool_choice', 'parallel_tool_calls'] as const)
      if (request[field] !== undefined && request[field] !== null) encoding.dropped.add(field);
    return { tools };
  }
  const encoded = encodeChoice(choice, encoding);
  if (!isOne || encoded?.type === 'none') return encoded ? { tools, choice: encoded } : { tools };
  return { tools, choice: oneAtATime(encoded ?? { type: 'auto' }) };
}

/**
 * Makes the provider's own search tool. Claude has no word for the amount of the pages that is read.
 * @see https://platform.claude.com/docs/en/agents-and-tools/tool-use/web-search-tool
 */
function searchTool(request: ChatRequest, { traits, dropped }: Encoding): Loose | null {
  const options = searchOptionsOf(request, (path) => dropped.add(path));
  if (options === null) return null;
  if (!traits.searchesWeb) {
    dropped.add('web_search_options');
    return null;
  }
  const { place, contextSize, allowedDomains } = options;
  if (contextSize !== null) dropped.add('web_search_options.search_context_size');
  const tool: Loose = { type: 'web_search_20250305', name: 'web_search', max_uses: mostSearchTurns };
  if (allowedDomains !== null) tool.allowed_domains = allowedDomains;
  if (place !== null) tool.user_location = place;
  return tool;
}

function oneAtATime(choice: Loose): Loose {
  return { ...choice, disable_parallel_tool_use: true };
}

const takenFields = new Set(['type', 'function', 'cache_control', 'eager_input_streaming']);
const takenOfFunction = new Set(['name', 'description', 'parameters', 'strict']);

function encodeTool(tool: ChatTool, path: string, encoding: Encoding): Loose {
  if (!isFunction(tool)) throw unsupported(`${path}.type`, '"function": this provider is given no other tools');
  const { name, description, parameters, strict } = tool.function;
  const schema = parameters ?? noArguments;
  const encoded: Loose = { name, ...(description ? { description } : {}), input_schema: schema };
  if (strict === true) {
    const shaped = encoding.traits.strictTools ? grammarSchema(schema, encoding.schemas) : null;
    if (shaped) Object.assign(encoded, { input_schema: shaped, strict: true });
    else encoding.dropped.add('tools[].function.strict');
  }
  if (typeof tool.eager_input_streaming === 'boolean') encoded.eager_input_streaming = tool.eager_input_streaming;
  for (const key in tool) if (!takenFields.has(key)) encoding.dropped.add(`tools[].${key}`);
  for (const key in tool.function) if (!takenOfFunction.has(key)) encoding.dropped.add(`tools[].function.${key}`);
  return mark(encoded, tool, encoding);
}

function isFunction(tool: ChatTool): tool is FunctionTool {
  return tool.type === 'function';
}

/** @see https://platform.claude.com/docs/en/agents-and-tools/tool-use/define-tools "Forcing tool use" */
function encodeChoice(choice: ToolChoice | undefined, { traits, dropped }: Encoding): Loose | undefined {
  if (choice === undefined || choice === 'auto') return undefined;
  if (choice === 'none') return { type: 'none' };
  const encoded = forcedChoice(choice);
  if (encoded && !traits.forcedTools) {
    dropped.add('tool_choice');
    return undefined;
  }
  return encoded;
}

function forcedChoice(choice: Exclude<ToolChoice, 'none' | 'auto'>): Loose | undefined {
  if (choice === 'required') return { type: 'any' };
  if (choice.type === 'function') return { type: 'tool', name: (choice as FunctionTool).function.name };
  const allowed = allowedTools(choice);
  if (allowed === null) throw unsupported('tool_choice.type', '"function" or "allowed_tools"');
  return allowed.isForced ? { type: 'any' } : undefined;
}
