import { stringifyExact } from '../../../base/exact-json.ts';
import { isObject, type Loose } from '../../../base/values.ts';
import type { NativeObject } from '../../../call/native.ts';
import type { ChatMessage, ReasoningDetail } from '../../../schema/chat/chat.ts';
import type { ToolCall } from '../../../schema/chat/message.ts';
import type { ContentPart } from '../../../schema/chat/part.ts';
import type { MessagesBlock, MessagesMessage, MessagesRequest } from '../../../schema/messages/request.ts';
import type { Leftover } from '../../leftover.ts';
import { openHidden, openThought } from '../thoughts.ts';
import { partsOf, textParts } from './parts.ts';

/** The messages of a chat request, and what each was made of. */
export interface ConvertedMessages {
  messages: ChatMessage[];
  /** By the place of a chat message: the messages that it stands for. Each of the caller's is in one of these lists. */
  itemsOf: (readonly NativeObject[])[];
  /** By the place of a chat message: the place of the caller's message; -1: `system`. */
  places: number[];
}

/** A first block of instructions by which a client names itself: it is no instruction, and models need not read it. */
const attribution = /^x-anthropic-billing-header:/;

/** Converts the instructions and the conversation. */
export function convertMessages({ system, messages }: MessagesRequest, leftover: Leftover): ConvertedMessages {
  const made: ConvertedMessages = { messages: [], itemsOf: [], places: [] };
  // What no chat message was made of yet. An upstream of the same wire gets it, so the next chat message stands for it.
  let open: NativeObject[] = [];
  const add = (message: ChatMessage, at: number) => {
    made.messages.push(message);
    made.itemsOf.push(open);
    made.places.push(at);
    open = [];
  };
  const instructions = typeof system === 'string' ? system : instructionsOf(system);
  const said = textParts(instructions, leftover);
  if (system) open.push({ system });
  if (said.length > 0) add({ role: 'system', content: said }, -1);
  for (const [at, message] of messages.entries()) {
    // The first chat message stands for all of the caller's: if one of them changes, none is sent as it came.
    open.push(message as NativeObject);
    for (const one of convertMessage(message, at, leftover)) add(one, at);
  }
  if (made.messages.length === 0) add({ role: 'user', content: '' }, 0);
  // Nothing follows the last ones, so the message before stands for them too.
  if (open.length > 0) made.itemsOf.push([...(made.itemsOf.pop() ?? []), ...open]);
  return made;
}

function instructionsOf(system: unknown): unknown {
  if (!Array.isArray(system)) return [];
  const [first, ...others] = system as MessagesBlock[];
  return typeof first?.text === 'string' && attribution.test(first.text) ? others : system;
}

function convertMessage(message: MessagesMessage, at: number, leftover: Leftover): ChatMessage[] {
  for (const key in message) if (key !== 'role' && key !== 'content') leftover.note('messages[].', key);
  const { role, content } = message;
  if (role === 'assistant') return [convertAssistant(content, leftover)];
  if (role === 'system') {
    const said = textParts(content ?? '', leftover);
    return said.length === 0 ? [] : [{ role: 'system', content: said }];
  }
  if (!Array.isArray(content)) return [{ role: 'user', content: content ?? '' }];
  return convertUser(content as MessagesBlock[], at, leftover);
}

/** The results of tools come first: chat upstreams take them right behind their calls alone. */
function convertUser(blocks: readonly MessagesBlock[], at: number, leftover: Leftover): ChatMessage[] {
  const made: ChatMessage[] = [];
  const others: MessagesBlock[] = [];
  for (const [place, block] of blocks.entries()) {
    if (block.type === 'tool_result') made.push(convertResult(block, leftover));
    else if (block.type === 'container_upload')
      leftover.need(`messages[${at}].content[${place}]`, 'a provider that has containers', {
        leftOutAs: 'messages[].content[].container_upload',
      });
    else others.push(block);
  }
  const parts = partsOf(others, leftover);
  const [only] = parts;
  const isText = parts.length === 1 && only?.type === 'text' && only.cache_control === undefined;
  if (parts.length > 0) made.push({ role: 'user', content: isText ? only.text : parts });
  return made;
}

function convertResult(block: MessagesBlock, leftover: Leftover): ChatMessage {
  const { tool_use_id: id, content, is_error: isError, cache_control: mark } = block;
  let parts: ContentPart[] = partsOf(content, leftover);
  if (isError === true && parts.length === 0) parts = [{ type: 'text', text: 'Error' }];
  const last = parts.at(-1);
  if (isObject(mark) && last !== undefined) parts[parts.length - 1] = { ...last, cache_control: mark } as ContentPart;
  const [only] = parts;
  const isText = parts.length === 1 && only?.type === 'text' && only.cache_control === undefined;
  const said = parts.length === 0 ? '' : isText ? only.text : parts;
  const message: Loose = { role: 'tool', tool_call_id: id, content: said };
  if (isError === true) message.is_error = true;
  return message as unknown as ChatMessage;
}

function convertAssistant(content: MessagesMessage['content'], leftover: Leftover): ChatMessage {
  if (!Array.isArray(content)) return { role: 'assistant', content: content ?? '' };
  const parts: ContentPart[] = [];
  const details: ReasoningDetail[] = [];
  const calls: ToolCall[] = [];
  for (const [at, block] of (content as MessagesBlock[]).entries()) {
    if (block.type === 'thinking') details.push(...openThought(textOf(block.thinking), textOf(block.signature), at));
    else if (block.type === 'redacted_thinking') details.push(...openHidden(block.data as string, at));
    else if (block.type === 'tool_use')
      calls.push({
        id: block.id as string,
        type: 'function',
        function: { name: block.name as string, arguments: stringifyExact(block.input as Loose) },
      });
    else if (block.type === 'compaction') parts.push(...partsOf(textOf(block.content), leftover));
    else parts.push(...partsOf([block], leftover));
  }
  const areTexts = parts.every((part) => part.type === 'text' && part.cache_control === undefined);
  const text = areTexts ? parts.map((part) => (part as { text: string }).text).join('') : null;
  return {
    role: 'assistant',
    // No text is needed beside calls. Servers refuse a message that has neither.
    content: text === null ? parts : text !== '' || calls.length === 0 ? text : null,
    ...(details.length > 0 ? { reasoning_details: details } : {}),
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
  };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
