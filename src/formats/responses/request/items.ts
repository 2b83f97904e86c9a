import type { NativeObject } from '../../../call/native.ts';
import type { ChatMessage } from '../../../schema/chat/chat.ts';
import {
  type AssistantItem,
  type CallOutputItem,
  type CompactionItem,
  type InputItem,
  type InputPart,
  isCommand,
  isMessageItem,
  type MessageItem,
  type ResponsesTool,
  type SearchCallItem,
  type SearchOutputItem,
  type ShellOutputItem,
} from '../../../schema/responses/responses.ts';
import { unpackCompaction } from '../packed-compaction.ts';
import type { Dropped } from './dropped.ts';
import { contentOf, modalityOf, outputOf } from './parts.ts';
import type { ToolNames } from './tool-names.ts';
import { assistantTurn, type Turn, type TurnItem } from './turn.ts';

/** Input items as chat messages. */
export interface ConvertedItems {
  messages: ChatMessage[];
  /** The items that each message was made of, by its place, as an upstream that speaks Responses gets them. */
  itemsOf: readonly (readonly NativeObject[] | null)[];
  onlyNative: readonly { path: string; expected: string }[];
  /** Parts of tool outputs that are no text. */
  toolMedia: readonly { path: string; modality: string }[];
}

/** Fields of items that chat messages have, or that say nothing to a model. */
const usualFields: ReadonlySet<string> = new Set([
  'type',
  'id',
  'status',
  'role',
  'content',
  'call_id',
  'name',
  'namespace',
  'arguments',
  'input',
  'output',
  'action',
  'execution',
  'tools',
  'summary',
  'encrypted_content',
  'signature',
  'format',
  // A client library has read this from `arguments`.
  'parsed_arguments',
]);

const summaryOpening = 'This is a summary of the conversation up to here, which it stands for:\n\n';

/**
 * Makes chat messages of input items, in their order. Texts, thoughts and calls of the model in a row become one
 * message. An item that no message holds goes with the next message, or with the last one.
 */
export function convertItems(input: readonly InputItem[], names: ToolNames, dropped: Dropped): ConvertedItems {
  const messages: ChatMessage[] = [];
  const itemsOf: (readonly NativeObject[])[] = [];
  const onlyNative: { path: string; expected: string }[] = [];
  const toolMedia: { path: string; modality: string }[] = [];
  let turn: Turn | null = null;
  /** The items that go with the next message. */
  let waiting: NativeObject[] = [];

  function push(message: ChatMessage, items: readonly NativeObject[]): void {
    messages.push(message);
    itemsOf.push(items);
  }

  function endTurn(): void {
    if (turn === null) return;
    const message = turn.message();
    if (message !== null) push(message, turn.items);
    else for (const item of turn.items) waiting.push(item);
    turn = null;
  }

  function takeWaiting(): NativeObject[] {
    const taken = waiting;
    waiting = [];
    return taken;
  }

  function pushOwn(message: ChatMessage, item: NativeObject): void {
    endTurn();
    push(message, [...takeWaiting(), item]);
  }

  function addToTurn(item: TurnItem): void {
    turn ??= assistantTurn(names, takeWaiting());
    turn.add(item);
  }

  function keep(item: InputItem): void {
    if (turn === null) waiting.push(item);
    else turn.keep(item);
  }

  function addOutput(item: CallOutputItem, at: number): void {
    const { output } = item;
    if (typeof output !== 'string') noteMedia(output, `input[${at}].output`);
    pushOwn({ role: 'tool', tool_call_id: item.call_id, content: outputOf(output) }, item);
  }

  function noteMedia(parts: readonly InputPart[], path: string): void {
    for (const [at, part] of parts.entries()) {
      const modality = modalityOf(part);
      if (modality !== null) toolMedia.push({ path: `${path}[${at}]`, modality });
    }
  }

  function addCompaction(item: CompactionItem, at: number): void {
    endTurn();
    const summary = unpackCompaction(item.encrypted_content);
    if (summary !== null) {
      const text = summaryOpening + summary;
      pushOwn(
        { role: 'user', content: text },
        { type: 'message', role: 'user', content: [{ type: 'input_text', text }] },
      );
      return;
    }
    onlyNative.push({ path: `input[${at}]`, expected: 'a compaction that this gateway made' });
    keep(item);
  }

  function addMessage(item: MessageItem): void {
    if (item.role === 'assistant') addToTurn(item);
    else pushOwn({ role: item.role, content: contentOf(item.content) } as ChatMessage, item);
  }

  function addItem(item: InputItem, at: number): void {
    if (isMessageItem(item)) {
      addMessage(item);
      return;
    }
    switch (item.type) {
      case 'function_call':
      case 'custom_tool_call':
      case 'local_shell_call':
      case 'reasoning':
        addToTurn(item as TurnItem);
        return;
      case 'function_call_output':
      case 'custom_tool_call_output':
        addOutput(item as CallOutputItem, at);
        return;
      case 'local_shell_call_output': {
        const { call_id, id, output } = item as ShellOutputItem;
        pushOwn({ role: 'tool', tool_call_id: call_id ?? id ?? '', content: output }, item);
        return;
      }
      case 'tool_search_call':
        if (isOwnSearch(item as SearchCallItem)) addToTurn(item as SearchCallItem);
        else keepDropped(item);
        return;
      case 'tool_search_output': {
        const { call_id: id, tools } = item as SearchOutputItem;
        if (!isOwnSearch(item as SearchOutputItem)) keepDropped(item);
        else pushOwn({ role: 'tool', tool_call_id: id ?? '', content: foundText(tools, names) }, item);
        return;
      }
      case 'additional_tools':
        keep(item);
        return;
      case 'compaction':
      case 'compaction_summary':
        addCompaction(item as CompactionItem, at);
        return;
      default:
        if (isCommand(item.type)) {
          onlyNative.push({ path: `input[${at}]`, expected: 'a message, a call or its output' });
          keep(item);
        } else keepDropped(item);
    }
  }

  function keepDropped(item: InputItem): void {
    dropped.note('input[].', item.type);
    keep(item);
  }

  for (let at = 0; at < input.length; at++) {
    const item = input[at] as InputItem;
    noteFields(item, dropped);
    addItem(item, at);
  }
  endTurn();
  if (waiting.length > 0) attach(takeWaiting());
  return { messages, itemsOf, onlyNative, toolMedia };

  /** Puts items behind the last message. */
  function attach(items: readonly NativeObject[]): void {
    const last = itemsOf.pop();
    // A chat request has a message at least; only an upstream that speaks Responses is asked without one.
    if (last === undefined) push({ role: 'user', content: '' }, items);
    else itemsOf.push([...last, ...items]);
  }
}

/** true: the client ran the search. */
function isOwnSearch({ execution, call_id: id }: SearchCallItem | SearchOutputItem): boolean {
  return execution !== 'server' && Boolean(id);
}

/** Returns the text that tells the model which tools a search has found: their names, as it may call them. */
function foundText(tools: readonly ResponsesTool[], names: ToolNames): string {
  const found: string[] = [];
  for (const { type, name, tools: members } of tools as readonly Record<string, unknown>[]) {
    if ((type === 'function' || type === 'custom') && typeof name === 'string')
      found.push(names.of({ kind: type, name }));
    if (type !== 'namespace' || !Array.isArray(members)) continue;
    for (const member of members)
      found.push(names.of({ kind: member.type, name: member.name, namespace: name as string }));
  }
  return JSON.stringify({ tools: found });
}

/** Lists the fields of an item that a chat message has no place for, such as `phase`. */
function noteFields(item: InputItem, dropped: Dropped): void {
  if (isMessageItem(item) || readTypes.has(item.type))
    for (const key in item) if (!usualFields.has(key) && item[key] !== null) dropped.note('input[].', key);
  const { content } = item as AssistantItem;
  if (item.role !== 'assistant' || !Array.isArray(content)) return;
  for (const part of content)
    if (part.type === 'output_text' && Array.isArray(part.annotations) && part.annotations.length > 0)
      dropped.note('input[].content[].annotations');
}

/**
 * The types of items whose further fields are listed. Items of other types are read only for the fields that they are
 * known for.
 */
const readTypes: ReadonlySet<unknown> = new Set([
  'function_call',
  'custom_tool_call',
  'function_call_output',
  'custom_tool_call_output',
  'reasoning',
]);
