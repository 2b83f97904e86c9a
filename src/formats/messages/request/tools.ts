import { isObject, type Loose } from '../../../base/values.ts';
import type { NativeObject } from '../../../call/native.ts';
import type { ChatTool, ToolChoice } from '../../../schema/chat/chat.ts';
import type { MessagesBlock, MessagesRequest, MessagesTool } from '../../../schema/messages/request.ts';
import type { Leftover } from '../../leftover.ts';

/** The tools of a request, for both kinds of upstream. */
export interface ConvertedTools {
  chat: ChatTool[];
  /** The tool that each chat tool was made of. */
  holders: NativeObject[];
  /** Tools that the provider runs, and those that wait until a search names them. */
  hosted: NativeObject[];
}

const objectOf = (properties: Loose, required: string[]) => ({ type: 'object', properties, required });

/** The tools that the client runs and that models of this wire know by their type alone. @see Anthropic's tool reference */
const known: readonly (readonly [RegExp, { description: string; parameters: Loose }])[] = [
  [
    /^bash_\d+$/,
    {
      description: 'Runs a command in a persistent bash session, and returns its output.',
      parameters: objectOf(
        {
          command: { type: 'string', description: 'The command. Not needed with restart.' },
          restart: { type: 'boolean', description: 'true: starts the session anew.' },
        },
        [],
      ),
    },
  ],
  [
    /^text_editor_\d+$/,
    {
      description: 'Views, creates and edits text files.',
      parameters: objectOf(
        {
          command: { type: 'string', enum: ['view', 'create', 'str_replace', 'insert'] },
          path: { type: 'string', description: 'The file or folder.' },
          view_range: { type: 'array', items: { type: 'integer' }, description: 'First and last line, with view.' },
          file_text: { type: 'string', description: 'The content, with create.' },
          old_str: { type: 'string', description: 'The text to replace, with str_replace.' },
          new_str: { type: 'string', description: 'The new text, with str_replace.' },
          insert_line: { type: 'integer', description: 'The line to insert after, with insert.' },
          insert_text: { type: 'string', description: 'The text to insert, with insert.' },
        },
        ['command', 'path'],
      ),
    },
  ],
  [
    /^memory_\d+$/,
    {
      description: 'Reads and writes files below /memories, which outlive the conversation.',
      parameters: objectOf(
        {
          command: { type: 'string', enum: ['view', 'create', 'str_replace', 'insert', 'delete', 'rename'] },
          path: { type: 'string' },
          view_range: { type: 'array', items: { type: 'integer' } },
          file_text: { type: 'string' },
          old_str: { type: 'string' },
          new_str: { type: 'string' },
          insert_line: { type: 'integer' },
          insert_text: { type: 'string' },
          old_path: { type: 'string' },
          new_path: { type: 'string' },
        },
        ['command'],
      ),
    },
  ],
];

/** Fields of a tool that chat tools have, or that say something to clients and to upstreams of this wire alone. */
const taken = new Set(['type', 'name', 'description', 'input_schema', 'strict', 'cache_control', 'defer_loading']);

export function convertTools({ tools, messages }: MessagesRequest, leftover: Leftover): ConvertedTools {
  const made: ConvertedTools = { chat: [], holders: [], hosted: [] };
  const given = tools ?? [];
  // A tool that is deferred is shown once the client's own search has named it.
  const named = given.some(({ defer_loading: isDeferred }) => isDeferred === true) ? referenced(messages) : new Set();
  for (const tool of given) {
    const form = formOf(tool);
    if (form === null) {
      const hosted = hostedOf(tool);
      made.hosted.push(hosted);
      leftover.note('tools[].', String(hosted.type));
      continue;
    }
    if (tool.defer_loading === true && !named.has(tool.name)) {
      made.hosted.push(tool as NativeObject);
      continue;
    }
    for (const key in tool) if (!taken.has(key) && tool[key] !== null) leftover.note('tools[].', key);
    made.chat.push({
      type: 'function',
      function: { name: tool.name as string, ...form, ...(tool.strict === true ? { strict: true } : {}) },
      ...(isObject(tool.cache_control) ? { cache_control: tool.cache_control } : {}),
    } as ChatTool);
    made.holders.push(tool as NativeObject);
  }
  return made;
}

/** Returns the description and the schema of a tool that the client runs; null: the provider runs it. */
function formOf({ type, name, description, input_schema: schema }: MessagesTool): Loose | null {
  if (type === undefined || type === null || type === 'custom')
    return {
      ...(description ? { description } : {}),
      parameters: schema ?? { type: 'object', properties: {} },
    };
  const found = typeof name === 'string' ? known.find(([form]) => form.test(type)) : undefined;
  return found === undefined ? null : { ...found[1] };
}

/** A search of the provider is named in the words of the gateway's own, which takes its place where no provider has one. */
function hostedOf(tool: MessagesTool): NativeObject {
  if (typeof tool.type !== 'string' || !/^web_search_\d+$/.test(tool.type)) return tool as NativeObject;
  const { allowed_domains: allowed, blocked_domains: blocked, user_location: place } = tool;
  return {
    type: 'web_search',
    ...(Array.isArray(allowed) ? { allowed_domains: allowed } : {}),
    ...(Array.isArray(blocked) ? { excluded_domains: blocked } : {}),
    ...(isObject(place) ? { user_location: place } : {}),
  };
}

function referenced(messages: MessagesRequest['messages']): Set<unknown> {
  const names = new Set<unknown>();
  const look = (content: unknown): void => {
    if (!Array.isArray(content)) return;
    for (const block of content as MessagesBlock[]) {
      if (block.type === 'tool_reference') names.add(block.tool_name);
      else if (block.type === 'tool_use') names.add(block.name);
      else if (block.type === 'tool_result') look(block.content);
    }
  };
  for (const { content } of messages) look(content);
  return names;
}

/** Converts the choice of a tool. A choice without a tool is left out: chat upstreams refuse it. */
export function convertChoice(
  { tool_choice: choice }: MessagesRequest,
  { chat }: ConvertedTools,
  leftover: Leftover,
): { tool_choice?: ToolChoice; parallel_tool_calls?: false } {
  if (!choice) return {};
  if (chat.length === 0) {
    if (choice.type !== 'auto' && choice.type !== 'none') leftover.note('tool_choice');
    return {};
  }
  const single = choice.disable_parallel_tool_use === true ? { parallel_tool_calls: false as const } : {};
  if (choice.type === 'any') return { tool_choice: 'required', ...single };
  if (choice.type !== 'tool') return { tool_choice: choice.type, ...single };
  const isThere = chat.some((tool) => 'function' in tool && (tool.function as Loose).name === choice.name);
  if (!isThere) {
    leftover.note('tool_choice');
    return single;
  }
  return { tool_choice: { type: 'function', function: { name: choice.name as string } }, ...single };
}
