import { GatewayError } from '../../base/errors.ts';
import { refusal } from '../../base/refusal.ts';
import { cleanName } from '../../base/text/clean-text.ts';
import type { ChatRequest, ChatTool, FunctionTool, ToolChoice } from '../../schema/chat/chat.ts';
import { isWebSearch } from '../../schema/chat/tool.ts';
import { checkBy } from '../../schema/schema.ts';
import type { ServerTool } from '../../server-tools/server-tool.ts';

/** A server tool that a request offers to the model. */
export interface OfferedTool {
  tool: ServerTool;
  /** The parameters of the tool in the request, checked. */
  settings: unknown;
}

/** A request with functions in the place of its server tools. */
export interface Offer {
  request: ChatRequest;
  /** The conditions that end the loop of the tools. Absent: the request names none. */
  stopWhen: ChatRequest['stop_server_tools_when'];
  /** The tools, by the name of the function. */
  tools: ReadonlyMap<string, OfferedTool>;
}

/** true: the request offers server tools. Most requests offer none. */
export function offersServerTools({ tools }: ChatRequest): boolean {
  return tools?.some(({ type }) => type !== 'function') === true;
}

/**
 * Puts a function in the place of each server tool.
 * @throws GatewayError invalid_request (400) for a tool that this gateway does not have, and for wrong parameters
 */
export function offerServerTools(request: ChatRequest, known: readonly ServerTool[]): Offer {
  const tools = new Map<string, OfferedTool>();
  const taken = new Set((request.tools ?? []).map((tool) => (isFunction(tool) ? tool.function.name : '')));
  const nameOf = new Map<ServerTool, string>();
  const functions = (request.tools ?? []).flatMap((one, at): FunctionTool[] => {
    if (isFunction(one)) return [one];
    const tool = toolOf(one.type, known);
    if (nameOf.has(tool)) return [];
    const name = freeName(tool.name, taken);
    taken.add(name);
    nameOf.set(tool, name);
    tools.set(name, { tool, settings: settingsOf(tool, one, at) });
    return [{ type: 'function', function: { name, description: tool.description, parameters: tool.parameters } }];
  });
  const { tool_choice: choice } = request;
  const chosen = choice === undefined ? {} : { tool_choice: chosenTool(choice, known, nameOf) };
  if (tools.size > 0 && Number((request as { n?: unknown }).n ?? 1) > 1)
    throw refusal('invalid_request', [{ path: 'n', message: 'expected 1: server tools work on one choice' }]);
  const { stop_server_tools_when: stopWhen, ...rest } = request;
  return { request: { ...rest, tools: functions, ...chosen } as ChatRequest, stopWhen, tools };
}

function isFunction(tool: ChatTool): tool is FunctionTool {
  return tool.type === 'function';
}

/**
 * Finds the tool of a type, such as `service:datetime`, also under the operator's brand; `web_search` is short for
 * `service:web_search`.
 */
function toolOf(type: string, known: readonly ServerTool[]): ServerTool {
  const found = known.find(({ name }) => name === nameIn(type));
  if (found !== undefined) return found;
  const others = known.map(({ name }) => `service:${name}`).join(', ');
  throw new GatewayError(
    'invalid_request',
    `tool not available: ${cleanName(type, 80)}; only function tools and ${others} are`,
    { metadata: { tool: cleanName(type, 80) } },
  );
}

function nameIn(type: string): string {
  return isWebSearch(type) ? 'web_search' : type.slice(type.indexOf(':') + 1);
}

function freeName(name: string, taken: ReadonlySet<string>): string {
  if (!taken.has(name)) return name;
  for (let number = 2; ; number++) if (!taken.has(`${name}_${number}`)) return `${name}_${number}`;
}

function settingsOf(tool: ServerTool, one: ChatTool, at: number): unknown {
  const parameters = parametersOf(one);
  if (tool.settings === undefined) return parameters;
  const checked = checkBy(tool.settings(), parameters);
  if (checked.issues === null) return checked.value;
  const place = `tools[${at}].parameters`;
  throw refusal(
    'invalid_request',
    checked.issues.map(({ path, message }) => ({ path: path === '' ? place : `${place}.${path}`, message })),
  );
}

/** Returns the parameters of a tool. The short form of web search has them at the top level. */
function parametersOf(one: ChatTool): unknown {
  const { type, parameters, ...fields } = one as { type: string; parameters?: object };
  return isWebSearch(type) ? { ...fields, ...parameters } : (parameters ?? {});
}

/** Returns a choice of a server tool as a choice of its function. */
function chosenTool(
  choice: ToolChoice,
  known: readonly ServerTool[],
  nameOf: ReadonlyMap<ServerTool, string>,
): ToolChoice {
  if (typeof choice === 'string' || choice.type === 'function' || choice.type === 'allowed_tools') return choice;
  const tool = known.find(({ name }) => name === nameIn(choice.type));
  const name = tool && nameOf.get(tool);
  return name === undefined ? choice : { type: 'function', function: { name } };
}
