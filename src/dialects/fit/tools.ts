import { isObject, type Loose } from '../../base/values.ts';
import type { Native, NativeObject } from '../../call/native.ts';
import type { ChatRequest, ChatTool, ToolChoice } from '../../schema/chat/chat.ts';
import type { Profile } from './profile.ts';
import { type Names, sameNames } from './rename.ts';
import { wholeSchema } from './schemas.ts';

/** Fields that mean nothing without tools, and that providers then refuse. */
const ofTools = ['tool_choice', 'parallel_tool_calls'] as const;

/** Tells whether the request speaks of tools in a way that must be changed. Names in the history are not looked at. */
export function speaksOfToolsOtherwise(request: ChatRequest, native: Native | null, { toolNames }: Profile): boolean {
  const { tools, tool_choice: choice } = request;
  if (native !== null) {
    for (const name of nativeNames(native)) if (!toolNames.fits.test(name)) return true;
    for (const tool of new Set(native.tools)) if (tool !== null && withWholeSchemas(tool) !== tool) return true;
  }
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

/** The names in what a client said in its own format: those of tools, and of the groups that they are in. */
function nativeNames({ tools, items }: Native): ReadonlySet<string> {
  const names = new Set<string>();
  const holders = new Set<NativeObject | null>(tools);
  for (const ofMessage of items) for (const item of ofMessage ?? []) holders.add(item);
  for (const holder of holders) if (holder !== null) addNames(holder, names);
  return names;
}

function addNames(holder: NativeObject, names: Set<string>): void {
  const { name, namespace } = holder;
  if (isNamed(holder)) {
    names.add(name as string);
    if (typeof namespace === 'string' && namespace !== '') names.add(namespace);
  }
  for (const tool of toolsIn(holder)) addNames(tool, names);
}

const namedTypes: ReadonlySet<unknown> = new Set([
  'function',
  'custom',
  'namespace',
  'function_call',
  'custom_tool_call',
]);

/** Tells whether an item or tool names a tool that the client defined, or a group of them. */
function isNamed({ type, name }: NativeObject): boolean {
  return typeof name === 'string' && namedTypes.has(type);
}

const holdingTypes: ReadonlySet<unknown> = new Set(['namespace', 'additional_tools', 'tool_search_output']);

/** The tools in a group, or in an item that brings tools in. */
function toolsIn({ type, tools }: NativeObject): readonly NativeObject[] {
  return holdingTypes.has(type) && Array.isArray(tools) ? tools.filter(isObject) : [];
}

/**
 * A tool or an item of a client's own format as the provider takes it: its names, those of the tools in it, and their
 * schemas. The very same where nothing has to be changed.
 */
export function nativeAs(holder: NativeObject, names: Names): NativeObject {
  const whole = withWholeSchema(holder);
  const inside = toolsIn(whole).length === 0 ? null : (whole.tools as readonly unknown[]);
  const tools = inside?.map((tool) => (isObject(tool) ? nativeAs(tool, names) : tool));
  const isNew = tools?.some((tool, at) => tool !== inside?.[at]) === true;
  const changed = isNew ? { ...whole, tools } : whole;
  if (names.own.size === 0 || !isNamed(changed)) return changed;
  const { name, namespace } = changed as { name: string; namespace?: unknown };
  const isSpaced = typeof namespace === 'string';
  if (names.of(name) === name && (!isSpaced || names.of(namespace) === namespace)) return changed;
  return { ...changed, name: names.of(name), ...(isSpaced ? { namespace: names.of(namespace) } : {}) };
}

/** The same with all that providers insist on in schemas alone. */
function withWholeSchemas(holder: NativeObject): NativeObject {
  return nativeAs(holder, sameNames);
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
function withWholeSchema<Called extends NativeObject>(called: Called): Called {
  const { parameters } = called;
  if (!isObject(parameters)) return called;
  const whole = wholeSchema(parameters);
  return whole === parameters ? called : { ...called, parameters: whole };
}

/** A choice of tools, with the provider's names. */
export function renamed(holder: Loose, names: Names): Loose {
  const copy: Loose = { ...holder };
  if (typeof copy.name === 'string') copy.name = names.of(copy.name);
  if (typeof copy.namespace === 'string') copy.namespace = names.of(copy.namespace);
  if (isObject(copy.function)) copy.function = renamed(copy.function, names);
  if (isObject(copy.allowed_tools)) copy.allowed_tools = renamed(copy.allowed_tools, names);
  if (Array.isArray(copy.tools)) copy.tools = copy.tools.map((one) => (isObject(one) ? renamed(one, names) : one));
  return copy;
}
