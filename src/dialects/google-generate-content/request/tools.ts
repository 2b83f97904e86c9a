import { isObject, type Loose } from '../../../base/values.ts';
import type { ChatRequest, ChatTool, FunctionTool } from '../../../schema/chat/chat.ts';
import { isWebSearch } from '../../../schema/chat/tool.ts';
import { unsupported } from '../../shared/unsupported.ts';
import { searchOptionsOf } from '../../shared/web-search-options.ts';
import type { ModelFamily } from '../model-family.ts';
import { type Drop, dropOthers } from './generation-config.ts';
import { googleSchema } from './json-schema.ts';

const toolFields: ReadonlySet<string> = new Set(['type', 'function']);
const functionFields: ReadonlySet<string> = new Set(['name', 'description', 'parameters', 'strict']);

/** The fields `tools` and `toolConfig` of a request. */
export interface EncodedTools {
  tools?: Loose[];
  toolConfig?: Loose;
}

/**
 * Declares the tools, and tells which of them the model may or must call.
 * @param output  the tool by which structured output is asked for: some tool must then be called
 * @see https://ai.google.dev/gemini-api/docs/function-calling
 */
export function encodeTools(request: ChatRequest, output: Loose | null, family: ModelFamily, drop: Drop): EncodedTools {
  const { tools = [], tool_choice: choice, parallel_tool_calls: parallel } = request;
  if (parallel === false) drop('parallel_tool_calls');
  const functions: Loose[] = [];
  let searches = asksForSearch(request, family, drop);
  tools.forEach((tool, at) => {
    if (isFunction(tool)) functions.push(declarationOf(tool, drop));
    else if (isWebSearch(tool.type)) {
      searches = true;
      for (const field in tool) if (field !== 'type') drop(`tools[].${field}`);
    } else throw unsupported(`tools[${at}]`, 'a function or a web search');
  });
  if (output !== null) functions.push(output);
  if (searches && functions.length > 0)
    throw unsupported('tools', 'either functions or a web search: this provider does not take both');
  if (searches) {
    // A mode steers functions only: the model decides whether it searches.
    if (choice === 'none') return {};
    if (choice !== undefined && choice !== 'auto') drop('tool_choice');
    return { tools: [{ googleSearch: {} }] };
  }
  if (functions.length === 0) {
    if (choice !== undefined && choice !== 'none' && choice !== 'auto') drop('tool_choice');
    return {};
  }
  const isStrict = tools.some((tool) => isFunction(tool) && tool.function.strict === true);
  const calling = output === null ? callingConfig(choice, isStrict) : { mode: 'ANY' };
  return {
    tools: [{ functionDeclarations: functions }],
    ...(calling === null ? {} : { toolConfig: { functionCallingConfig: calling } }),
  };
}

/** true: the request asks for a search. Google cannot be told how to search: it only may, or may not. */
function asksForSearch(request: ChatRequest, family: ModelFamily, drop: Drop): boolean {
  const options = searchOptionsOf(request, drop);
  if (options === null) return false;
  const isAble = family.generation >= 2 && !family.isGemma && !family.isImage;
  if (!isAble) drop('web_search_options');
  if (options.place !== null) drop('web_search_options.user_location');
  if (options.allowedDomains !== null) drop('web_search_options.filters');
  if (options.contextSize !== null) drop('web_search_options.search_context_size');
  return isAble;
}

export function isFunction(tool: ChatTool): tool is FunctionTool {
  return tool.type === 'function';
}

function declarationOf(tool: FunctionTool, drop: Drop): Loose {
  dropOthers(tool, toolFields, 'tools[]', drop);
  dropOthers(tool.function, functionFields, 'tools[].function', drop);
  const { name, description, parameters } = tool.function;
  const declaration: Loose = { name };
  if (description) declaration.description = description;
  if (parameters !== undefined) declaration.parametersJsonSchema = googleSchema(parameters);
  return declaration;
}

/**
 * Returns the mode of calls. In the mode `VALIDATED` the model may respond with text, and calls follow their schema
 * exactly.
 */
function callingConfig(choice: ChatRequest['tool_choice'], isStrict: boolean): Loose | null {
  if (choice === 'none') return { mode: 'NONE' };
  if (choice === 'required') return { mode: 'ANY' };
  if (choice === 'auto') return { mode: isStrict ? 'VALIDATED' : 'AUTO' };
  if (choice === undefined || choice === null) return isStrict ? { mode: 'VALIDATED' } : null;
  const named = (choice as Loose).function;
  if (choice.type === 'function' && isObject(named)) return { mode: 'ANY', allowedFunctionNames: [named.name] };
  if (choice.type === 'allowed_tools') return allowedOf((choice as Loose).allowed_tools ?? choice);
  throw unsupported('tool_choice', 'none, auto, required or a function');
}

/** Returns the mode where only some of the tools may or must be called. */
function allowedOf(allowed: unknown): Loose {
  const { mode, tools } = isObject(allowed) ? allowed : {};
  const names = (Array.isArray(tools) ? tools : []).map((tool) => {
    const name =
      isObject(tool) && isObject(tool.function) ? tool.function.name : isObject(tool) ? tool.name : undefined;
    if (typeof name !== 'string') throw unsupported('tool_choice', 'names of functions');
    return name;
  });
  return { mode: mode === 'required' ? 'ANY' : 'VALIDATED', allowedFunctionNames: names };
}
