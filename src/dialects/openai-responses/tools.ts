import { isObject, type Loose } from '../../base/values.ts';
import type { ChatTool, FunctionTool, ToolChoice, WebSearchTool } from '../../schema/chat/chat.ts';
import { unsupported } from '../shared/unsupported.ts';
import { noArguments } from '../shared/values.ts';
import type { Dropped } from './dropped.ts';

/**
 * @param first  the index of the first of them
 * @throws UpstreamError for tools that only a gateway can run
 */
export function encodeTools(tools: readonly ChatTool[], dropped: Dropped, first = 0): Loose[] {
  return tools.map((tool, at) => {
    if (isFunction(tool)) return encodeFunction(tool, dropped);
    if (isWebSearch(tool)) return encodeWebSearch(tool, dropped);
    throw unsupported(`tools[${first + at}].type`, '"function" or "web_search" for this provider');
  });
}

function isFunction(tool: ChatTool): tool is FunctionTool {
  return tool.type === 'function';
}

function isWebSearch(tool: ChatTool): tool is WebSearchTool {
  return tool.type.startsWith('web_search');
}

/**
 * Encodes a function, always with `strict`: without it, the provider would hold a tool's arguments to a schema that was
 * not written for it.
 */
function encodeFunction(tool: FunctionTool, dropped: Dropped): Loose {
  const { name, description, parameters, strict } = tool.function;
  dropped.noteOthers('tools[].', tool, ['type', 'function']);
  dropped.noteOthers('tools[].function.', tool.function, ['name', 'description', 'parameters', 'strict']);
  return {
    type: 'function',
    name,
    ...(description === undefined || description === null ? {} : { description }),
    parameters: parameters ?? noArguments,
    strict: strict ?? false,
  };
}

const searchFields = ['type', 'search_context_size', 'user_location', 'filters', 'allowed_domains'];

/** Encodes the provider's own search of the web. */
function encodeWebSearch(tool: WebSearchTool, dropped: Dropped): Loose {
  const { type, search_context_size: size, user_location: place, allowed_domains: domains } = tool;
  const filters = isObject(tool.filters) ? tool.filters : domains ? { allowed_domains: domains } : null;
  dropped.noteOthers('tools[].', tool, searchFields);
  return {
    type,
    ...(size === undefined ? {} : { search_context_size: size }),
    ...(place === undefined ? {} : { user_location: place }),
    ...(filters === null ? {} : { filters }),
  };
}

/**
 * Encodes the choice of a tool. A function's name stands one level higher than in a chat request. Other forms pass: the
 * provider may know them.
 */
export function encodeToolChoice(choice: ToolChoice): unknown {
  if (typeof choice === 'string') return choice;
  const { type } = choice;
  if (type === 'allowed_tools') return encodeAllowedTools(choice);
  return lifted(choice, type);
}

function encodeAllowedTools(choice: Loose): Loose {
  const allowed = isObject(choice.allowed_tools) ? choice.allowed_tools : choice;
  const tools = Array.isArray(allowed.tools) ? allowed.tools : [];
  return {
    type: 'allowed_tools',
    mode: allowed.mode ?? 'auto',
    tools: tools.map((tool) => (isObject(tool) ? lifted(tool, tool.type) : tool)),
  };
}

/** Turns `{ type: 'function', function: { name } }` into `{ type: 'function', name }`; the same for custom tools. */
function lifted(value: Loose, type: unknown): Loose {
  const named = type === 'function' || type === 'custom' ? value[type] : undefined;
  return isObject(named) ? { type, name: named.name } : value;
}
