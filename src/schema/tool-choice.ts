import type { ChatTool, ToolChoice } from './tool.ts';
import { isWebSearch } from './web-search.ts';

/** A choice that names tools. */
type NamingChoice = Exclude<ToolChoice, string>;

/**
 * Finds the tools that a request chooses and does not offer.
 * @param tools  the tools of the request
 * @returns      their places, such as `tool_choice.type`; at most `limit` of them
 */
export function unofferedTools(choice: NamingChoice, tools: readonly ChatTool[] | undefined, limit: number): string[] {
  const offered = new Set(tools?.map(nameOf));
  const paths: string[] = [];
  for (const { path, tool } of toolsIn(choice)) {
    if (paths.length >= limit) return paths;
    if (!offered.has(nameOf(tool))) paths.push(path);
  }
  return paths;
}

/** OpenAI's `allowed_tools` names several tools; every other choice names one. */
function* toolsIn(choice: NamingChoice): Generator<{ path: string; tool: Record<string, unknown> }> {
  if (choice.type !== 'allowed_tools') {
    yield { path: choice.type === 'function' ? 'tool_choice.function.name' : 'tool_choice.type', tool: choice };
    return;
  }
  const path = choice.allowed_tools === undefined ? 'tool_choice' : 'tool_choice.allowed_tools';
  const { tools } = Object(choice.allowed_tools ?? choice);
  if (!Array.isArray(tools)) return;
  for (const [at, tool] of tools.entries()) yield { path: `${path}.tools[${at}]`, tool: Object(tool) };
}

/** Returns the same name for all ways to write a tool. */
function nameOf(tool: ChatTool | Record<string, unknown>): string {
  if (tool.type === 'function') return `function ${Object(tool.function).name}`;
  // The prefix of a server tool is `service` or the operator's brand.
  const type = String(tool.type).replace(/^[^:]*:/, '');
  // All types of web search are short forms of one server tool.
  return isWebSearch(type) ? 'web_search' : type;
}
