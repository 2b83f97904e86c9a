import { isObject, type Loose } from '../../base/values.ts';
import type { Native, NativeObject } from '../../call/native.ts';
import type { ChatRequest, ChatTool, ToolChoice } from '../../schema/chat/chat.ts';
import type { Profile } from './profile.ts';
import type { Names } from './rename.ts';
import { wholeSchema } from './schemas.ts';

/** Fields that mean nothing without tools, and that providers then refuse. */
const ofTools = ['tool_choice', 'parallel_tool_calls'] as const;

/** Tells whether the request speaks of tools in a way that must be changed. Names in the history are not looked at. */
export function speaksOfToolsOtherwise(request: ChatRequest, native: Native | null, { toolNames }: Profile): boolean {
  const { tools, tool_choice: choice } = request;
  if (native !== null && nativeNames(native).some((name) => !toolNames.fits.test(name))) return true;
  if (native?.tools.some((tool) => tool !== null && withWholeSchema(tool) !== tool)) return true;
  if (tools === undefined || tools === null || tools.length === 0)
    return hasNoTools(request, native) && (Array.isArray(tools) || ofTools.some((key) => isSet(request[key])));
  for (const tool of tools) {
    const name = nameOf(tool);
    if (name === null) continue;
    const called = tool.function as Loose;
    if (!toolNames.fits.test(name) || withWholeSchema(called) !== called) return true;
  }
  return isObject(choice) && namesInChoice(choice).some((name) => !toolNames.fits.test(name));
}

/** Tells whether the provider has no tools of any kind to choose among. */
function hasNoTools(request: ChatRequest, native: Native | null): boolean {
  return !isSet(request.web_search_options) && (native === null || native.hostedTools.length === 0);
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** The names of tools in what a client said in its own format. Those in a namespace are names of that. */
function nativeNames({ tools, items }: Native): string[] {
  const named: NativeObject[] = tools.filter((tool) => tool !== null && isNamed(tool)) as NativeObject[];
  for (const ofMessage of items) for (const item of ofMessage ?? []) if (isNamed(item)) named.push(item);
  return named.map(({ name }) => name as string);
}

const namedTypes: ReadonlySet<unknown> = new Set(['function', 'custom', 'function_call', 'custom_tool_call']);

/** Tells whether an item or tool names a tool that the client defined, by that name alone. */
export function isNamed({ type, name, namespace }: NativeObject): boolean {
  return typeof name === 'string' && (namespace === undefined || namespace === null) && namedTypes.has(type);
}

/** Every name of a tool in a request. */
export function namesIn(
  { messages, tools, tool_choice: choice }: ChatRequest,
  native: Native | null,
): ReadonlySet<string> {
  const names = new Set<string>(native === null ? [] : nativeNames(native));
  for (const tool of tools ?? []) {
    const name = nameOf(tool);
    if (name !== null) names.add(name);
  }
  if (isObject(choice)) for (const name of namesInChoice(choice)) names.add(name);
  for (const message of messages) {
    if (message.role === 'assistant') for (const call of message.tool_calls ?? []) names.add(call.function.name);
    else if (message.role === 'tool' && typeof message.name === 'string') names.add(message.name);
  }
  return names;
}

function nameOf(tool: ChatTool): string | null {
  return tool.type === 'function' && isObject(tool.function) && typeof tool.function.name === 'string'
    ? tool.function.name
    : null;
}

/** The places of names in a choice: a function, or OpenAI's list of allowed tools in either of its two shapes. */
function namedIn(choice: Loose): Loose[] {
  const { allowed_tools: inner, tools } = choice;
  const listed = isObject(inner) && Array.isArray(inner.tools) ? inner.tools : Array.isArray(tools) ? tools : [];
  return [choice, ...listed].filter(isObject).flatMap((one) => (isObject(one.function) ? [one, one.function] : [one]));
}

function namesInChoice(choice: Loose): string[] {
  return namedIn(choice).flatMap(({ name }) => (typeof name === 'string' ? [name] : []));
}

/** The fields that speak of tools, as the provider takes them. */
export function toolFields(
  request: ChatRequest,
  native: Native | null,
  names: Names,
  drop: (path: string) => void,
): ChatRequest {
  const { tools } = request;
  if (tools === undefined || tools === null || tools.length === 0) {
    const isIdle = !Array.isArray(tools) && !ofTools.some((key) => isSet(request[key]));
    return isIdle || !hasNoTools(request, native) ? request : withoutTools(request, drop);
  }
  const changed: ChatRequest = { ...request, tools: tools.map((tool) => toolAs(tool, names)) };
  if (names.own.size > 0 && isObject(request.tool_choice))
    changed.tool_choice = renamed(request.tool_choice, names) as ToolChoice;
  return changed;
}

function withoutTools(request: ChatRequest, drop: (path: string) => void): ChatRequest {
  const { tools: _, ...others } = request as Loose;
  for (const key of ofTools) {
    if (isSet(others[key])) drop(key);
    delete others[key];
  }
  return others as unknown as ChatRequest;
}

function toolAs(tool: ChatTool, names: Names): ChatTool {
  const name = nameOf(tool);
  if (name === null) return tool;
  const called = withWholeSchema(tool.function as Loose);
  if (names.of(name) === name && called === tool.function) return tool;
  return { ...tool, function: { ...called, name: names.of(name) } } as ChatTool;
}

/**
 * A function, or a tool of a client's own format, with all that providers insist on in the schema of its arguments. The
 * very same where it has that, or has no schema: such a function takes no arguments.
 */
export function withWholeSchema<Called extends NativeObject>(called: Called): Called {
  const { parameters } = called;
  if (!isObject(parameters)) return called;
  const whole = wholeSchema(parameters);
  return whole === parameters ? called : { ...called, parameters: whole };
}

/** An object that names tools, with the provider's names: a choice, a tool, an item. */
export function renamed(holder: Loose, names: Names): Loose {
  const copy: Loose = { ...holder };
  if (typeof copy.name === 'string') copy.name = names.of(copy.name);
  if (isObject(copy.function)) copy.function = renamed(copy.function, names);
  if (isObject(copy.allowed_tools)) copy.allowed_tools = renamed(copy.allowed_tools, names);
  if (Array.isArray(copy.tools)) copy.tools = copy.tools.map((one) => (isObject(one) ? renamed(one, names) : one));
  return copy;
}
