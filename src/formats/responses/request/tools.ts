import { isObject } from '../../../base/values.ts';
import type { CallForm, NativeObject } from '../../../call/native.ts';
import type { ChatTool, FunctionTool, ServerTool } from '../../../schema/chat/chat.ts';
import {
  type CustomTool,
  type InputItem,
  isKnownTool,
  isServerTool,
  type NamespaceTool,
  type ResponsesFunction,
  type ResponsesTool,
  type ToolSearchTool,
} from '../../../schema/responses/responses.ts';
import type { Dropped } from './dropped.ts';
import { type ToolNames, toolNames } from './tool-names.ts';
import { calledIn } from './turn.ts';

/** The tools of a Responses request, for both kinds of upstream. */
export interface ConvertedTools {
  chat: readonly ChatTool[];
  /** The object that each chat tool was made of, by its place; null: a server tool, which the gateway runs. */
  holders: readonly (NativeObject | null)[];
  hosted: readonly NativeObject[];
  names: ToolNames;
}

/** A tool, and the object that an upstream that speaks Responses gets it in. */
interface Given {
  tool: ResponsesTool;
  holder: NativeObject;
}

/** Converts the tools of the request, and those that items bring in. If several have one name, the first counts. */
export function convertTools(
  tools: readonly ResponsesTool[],
  input: string | readonly InputItem[],
  dropped: Dropped,
): ConvertedTools {
  const given: Given[] = tools.map((tool) => ({ tool, holder: tool }));
  if (typeof input !== 'string') addFromItems(input, given);
  const names = namesOf(tools, input);
  const chat: ChatTool[] = [];
  const holders: (NativeObject | null)[] = [];
  const hosted: NativeObject[] = [];
  const made = new Set<string>();
  const serverTools = new Set<string>();
  for (const { tool, holder } of given) {
    if (isServerTool(tool.type)) {
      if (!serverTools.has(tool.type)) {
        chat.push(serverTool(tool));
        holders.push(null);
      }
      serverTools.add(tool.type);
    } else if (isHosted(tool)) {
      dropped.note('tools[].', tool.type);
      if (holder === tool) hosted.push(tool);
    } else
      for (const { form, make } of callablesOf(tool)) {
        const name = names.of(form);
        if (made.has(name)) continue;
        made.add(name);
        chat.push(make(name));
        holders.push(holder);
      }
  }
  return { chat, holders, hosted, names };
}

function addFromItems(input: readonly InputItem[], given: Given[]): void {
  for (const item of input) for (const tool of toolsIn(item)) given.push({ tool, holder: item });
}

/** Returns the tools that an item brings in. */
function toolsIn(item: InputItem): readonly ResponsesTool[] {
  return item.type === 'additional_tools' || item.type === 'tool_search_output'
    ? (item.tools as readonly ResponsesTool[])
    : [];
}

/**
 * Names all tools. Those of the request come first, in an order of their own, because a client may list them in another
 * one in the next turn. Items follow as they stand: what was said before stays as it was.
 */
function namesOf(tools: readonly ResponsesTool[], input: string | readonly InputItem[]): ToolNames {
  const names = toolNames();
  const forms = formsOf(tools, names).map((form) => ({ form, key: keyOf(form) }));
  for (const { form } of forms.sort((one, other) => (one.key < other.key ? -1 : 1))) names.offer(form);
  for (const item of typeof input === 'string' ? [] : input) {
    for (const form of formsOf(toolsIn(item), names)) names.offer(form);
    const called = calledIn(item);
    if (called !== null) names.of(called);
  }
  return names;
}

/** Returns the forms of the tools that the client runs. Plain functions among them are sure to keep their names. */
function formsOf(tools: readonly ResponsesTool[], names: ToolNames): CallForm[] {
  for (const tool of tools) if (isKnownTool(tool) && tool.type === 'function') names.reserve(tool.name);
  return tools.flatMap((tool) => (isHosted(tool) ? [] : callablesOf(tool).map(({ form }) => form)));
}

function keyOf({ kind, name, namespace }: CallForm): string {
  return `${namespace ?? ''}\n${name}\n${kind}`;
}

/** Makes a server tool. The pipeline puts a function in its place, or refuses it. */
function serverTool({ type, parameters }: ResponsesTool): ServerTool {
  return { type: type as ServerTool['type'], ...(isObject(parameters) ? { parameters } : {}) };
}

/** true: the provider itself runs the tool. */
function isHosted(tool: ResponsesTool): boolean {
  return !isKnownTool(tool) || (tool.type === 'tool_search' && (tool as ToolSearchTool).execution !== 'client');
}

/** A tool that the client runs. */
interface Callable {
  form: CallForm;
  /** Makes the function that stands for it in a chat request. */
  make(name: string): FunctionTool;
}

function callablesOf(tool: ResponsesTool): readonly Callable[] {
  switch (tool.type) {
    case 'function':
    case 'custom':
      return [callableOf(tool as ResponsesFunction | CustomTool)];
    case 'namespace': {
      const { name, tools } = tool as NamespaceTool;
      return tools.map((member) => callableOf(member, name));
    }
    case 'local_shell':
      return [{ form: { kind: 'local_shell', name: 'local_shell' }, make: shellFunction }];
    case 'tool_search':
      return [
        {
          form: { kind: 'tool_search', name: 'tool_search' },
          make: (name) => searchFunction(name, tool as ToolSearchTool),
        },
      ];
    default:
      return [];
  }
}

function callableOf(tool: ResponsesFunction | CustomTool, namespace?: string): Callable {
  const { type: kind, name } = tool;
  return {
    form: namespace === undefined ? { kind, name } : { kind, name, namespace },
    make: (chatName) => (tool.type === 'function' ? asFunction(chatName, tool) : customFunction(chatName, tool)),
  };
}

function asFunction(name: string, { description, parameters, strict, cache_control: mark }: ResponsesFunction) {
  const tool: FunctionTool = { type: 'function', function: { name } };
  if (description) tool.function.description = description;
  if (parameters) tool.function.parameters = parameters;
  if (typeof strict === 'boolean') tool.function.strict = strict;
  if (mark) tool.cache_control = mark;
  return tool;
}

/** Makes a function with one text: the model writes the input of the custom tool into it. */
function customFunction(name: string, { description, format }: CustomTool): FunctionTool {
  const texts = description ? [description] : [];
  if (format?.definition) {
    const syntax = format.syntax === 'regex' ? 'regular expression' : `${format.syntax ?? 'lark'} grammar`;
    texts.push(`The argument "input" is one text of the form that this ${syntax} defines:\n${format.definition}`);
  }
  return {
    type: 'function',
    function: {
      name,
      ...(texts.length > 0 ? { description: texts.join('\n\n') } : {}),
      parameters: {
        type: 'object',
        properties: { input: { type: 'string', description: 'The complete input of the tool, as plain text.' } },
        required: ['input'],
        additionalProperties: false,
      },
    },
  };
}

function shellFunction(name: string): FunctionTool {
  return {
    type: 'function',
    function: {
      name,
      description: 'Runs a command on the machine of the user and returns what it printed.',
      parameters: {
        type: 'object',
        properties: {
          command: {
            type: 'array',
            items: { type: 'string' },
            description: 'The program and its arguments, such as ["bash", "-lc", "ls"].',
          },
          working_directory: { type: 'string', description: 'Where the command runs.' },
          timeout_ms: { type: 'integer', description: 'After so many milliseconds the command is stopped.' },
          env: { type: 'object', additionalProperties: { type: 'string' }, description: 'Environment variables.' },
        },
        required: ['command'],
      },
    },
  };
}

function searchFunction(name: string, { description, parameters }: ToolSearchTool): FunctionTool {
  return {
    type: 'function',
    function: {
      name,
      description: description || 'Searches for further tools. The tools that are found can be called afterwards.',
      parameters: parameters ?? {
        type: 'object',
        properties: { query: { type: 'string', description: 'What the tool should be able to do.' } },
        required: ['query'],
      },
    },
  };
}
