import { addAll, type Loose } from '../../base/values.ts';
import type { AssistantMessage, ChatMessage } from '../../schema/chat/chat.ts';
import type { ToolCall, ToolMessage } from '../../schema/chat/message.ts';
import { cutText, interleave, type PlacedBlock } from '../shared/interleave.ts';
import { readsThoughtsOf } from '../shared/thought-bindings.ts';
import { unsupported } from '../shared/unsupported.ts';
import { argumentsObject } from '../shared/values.ts';
import { mark } from './cache.ts';
import type { Encoding } from './encoding.ts';
import { encodeContent, textBlocks } from './parts.ts';
import { thoughtBlocks } from './thoughts.ts';

export interface Turn {
  role: 'user' | 'assistant' | 'system';
  content: Loose[];
}

/** A conversation as Anthropic takes it: instructions apart, and turns of user and assistant. */
export interface Conversation {
  system: Loose[];
  turns: Turn[];
}

/**
 * Encodes messages. Instructions at the start become `system`. Later ones keep their place: moved to the start, they
 * would come before the messages that they refer to, and every cached prefix would be lost. Where model and place allow
 * it, they remain instructions, else they are text of the user. Messages of one side in a row are one turn, in which
 * the results of tools come first, as Anthropic requires.
 * @see https://platform.claude.com/docs/en/build-with-claude/working-with-messages
 * @see https://platform.claude.com/docs/en/build-with-claude/mid-conversation-system-messages
 */
export function encodeMessages(messages: readonly ChatMessage[], encoding: Encoding): Conversation {
  const system: Loose[] = [];
  const turns: Turn[] = [];
  const mayInstruct = placesOfInstructions(messages, encoding);
  // A conversation needs a turn: if all messages are instructions, they become the turn.
  let isStart = messages.some(({ role }) => !isInstruction(role));
  messages.forEach((message, at) => {
    const path = `messages[${at}]`;
    noteOthers(message, encoding);
    isStart &&= isInstruction(message.role);
    if (message.role === 'assistant') add(turns, 'assistant', encodeAssistant(message, path, encoding));
    else if (message.role === 'tool') add(turns, 'user', [encodeResult(message, path, encoding)]);
    else {
      const content = encodeContent(message.content, `${path}.content`, encoding);
      const before = turns.at(-1)?.role;
      if (isStart) addAll(system, content);
      else add(turns, mayInstruct[at] && (before === 'user' || before === 'system') ? 'system' : 'user', content);
    }
  });
  for (const turn of turns) turn.content = resultsFirst(turn.content);
  endTurns(turns, messages.length - 1, encoding);
  if (turns.length === 0) throw unsupported('messages', 'a message that is not empty');
  return { system, turns };
}

/**
 * Finds the messages that are instructions at a place where Anthropic takes them: at the end, or before an assistant's
 * turn.
 */
function placesOfInstructions(messages: readonly ChatMessage[], { traits }: Encoding): readonly boolean[] {
  const places: boolean[] = [];
  let isBeforeAnswer = traits.laterInstructions;
  for (let at = messages.length - 1; at >= 0; at--) {
    const role = (messages[at] as ChatMessage).role;
    places[at] = isBeforeAnswer && isInstruction(role);
    if (!isInstruction(role)) isBeforeAnswer = traits.laterInstructions && role === 'assistant';
  }
  return places;
}

function isInstruction(role: ChatMessage['role']): boolean {
  return role === 'system' || role === 'developer';
}

const takenFields: Record<ChatMessage['role'], ReadonlySet<string>> = {
  system: new Set(['role', 'content']),
  developer: new Set(['role', 'content']),
  user: new Set(['role', 'content']),
  tool: new Set(['role', 'content', 'tool_call_id', 'is_error']),
  // Reasoning is listed where it does not go back.
  assistant: new Set([
    'role',
    'content',
    'tool_calls',
    'refusal',
    'reasoning',
    'reasoning_content',
    'reasoning_details',
  ]),
};

/** Lists the fields of a message that this wire has no word for. */
function noteOthers(message: ChatMessage, { dropped }: Encoding): void {
  const taken = takenFields[message.role];
  for (const key in message) {
    const value = (message as Loose)[key];
    if (value !== undefined && value !== null && !taken.has(key)) dropped.add(`messages[].${key}`);
  }
}

function add(turns: Turn[], role: Turn['role'], content: Loose[]): void {
  if (content.length === 0) return;
  const last = turns.at(-1);
  if (last?.role === role) addAll(last.content, content);
  else turns.push({ role, content });
}

function resultsFirst(content: Loose[]): Loose[] {
  const results = content.filter(({ type }) => type === 'tool_result');
  return results.length === 0 ? content : [...results, ...content.filter(({ type }) => type !== 'tool_result')];
}

/** Ends the turns. The model continues an assistant's turn at the end, and Anthropic refuses white space at its end. */
function endTurns(turns: Turn[], at: number, { traits }: Encoding): void {
  const last = turns.at(-1);
  const block = last?.content.at(-1);
  if (last?.role !== 'assistant') return;
  if (!traits.prefill && block?.type !== 'tool_use')
    throw unsupported(`messages[${at}]`, 'a message of a user or a tool: this model continues none');
  if (block?.type === 'text') block.text = (block.text as string).trimEnd();
}

function encodeResult(message: ToolMessage, path: string, encoding: Encoding): Loose {
  const own: Encoding = { ...encoding, marked: [] };
  const content = encodeContent(message.content, `${path}.content`, own);
  const result: Loose = { type: 'tool_result', tool_use_id: message.tool_call_id };
  // A mark inside of a result marks the result.
  const last = own.marked.at(-1);
  if (last) mark(result, { cache_control: last.cache_control }, encoding);
  for (const block of own.marked) delete block.cache_control;
  if (content.length > 0) result.content = content;
  if (message.is_error === true) result.is_error = true;
  return result;
}

function encodeAssistant(message: AssistantMessage, path: string, encoding: Encoding): Loose[] {
  const { content, refusal, tool_calls: calls = [] } = message;
  if (Array.isArray(content)) {
    const at = content.findIndex(({ type }) => type !== 'text');
    if (at >= 0) throw unsupported(`${path}.content[${at}]`, 'text: this provider takes nothing else of an assistant');
  }
  const { thoughts, textEnds } = encodeThoughts(message, encoding);
  const said: PlacedBlock[] =
    typeof content === 'string'
      ? cutText(content, textEnds).flatMap(({ start, text }) => textBlocks(text).map((block) => ({ start, block })))
      : encodeContent(content ?? '', `${path}.content`, encoding).map((block) => ({ block }));
  const others = [...textBlocks(refusal ?? ''), ...calls.map(encodeCall)];
  return interleave(thoughts, [...said, ...others.map((block) => ({ block }))]);
}

/** Encodes thoughts. Only signed ones that the model can read go back. */
function encodeThoughts(message: AssistantMessage, encoding: Encoding) {
  const { dropped, upstreamModel } = encoding;
  const { blocks: signed, isComplete, textEnds } = thoughtBlocks(message.reasoning_details ?? []);
  const blocks = signed.filter(({ signer }) => signer === null || readsThoughtsOf(upstreamModel, signer));
  if (!isComplete || blocks.length < signed.length) dropped.add('messages[].reasoning_details');
  if (blocks.length > 0) encoding.hasThoughts = true;
  else {
    for (const field of ['reasoning', 'reasoning_content']) {
      if (typeof message[field] === 'string' && message[field] !== '') dropped.add(`messages[].${field}`);
    }
  }
  return { thoughts: blocks, textEnds };
}

function encodeCall({ id, function: called }: ToolCall): Loose {
  return { type: 'tool_use', id, name: called.name, input: argumentsObject(called.arguments) };
}
