import { addAll, type Loose } from '../../base/values.ts';
import type { AssistantMessage, ChatMessage, ToolMessage } from '../../schema/chat/chat.ts';
import { withFailureInWords } from '../shared/failed-result.ts';
import type { Dropped } from './dropped.ts';
import { encodeOutputParts, encodeOwnParts, encodeParts } from './parts.ts';
import type { ResponsesQuirks } from './quirks.ts';
import { itemsOfDetails, type PlacedItem } from './reasoning-items.ts';

/**
 * Encodes the conversation as input items. System and developer messages keep their place among the others.
 * @see https://platform.openai.com/docs/api-reference/responses/create#responses-create-input
 */
export function encodeInput(messages: readonly ChatMessage[], quirks: ResponsesQuirks, dropped: Dropped): Loose[] {
  return messages.flatMap((message, at) => encodeMessage(message, at, quirks, dropped));
}

/** @param at  the index of the message: errors name it */
export function encodeMessage(
  message: ChatMessage,
  at: number,
  quirks: ResponsesQuirks,
  dropped: Dropped,
): readonly Loose[] {
  const path = `messages[${at}]`;
  if (message.role === 'assistant') return encodeAssistant(message, path, quirks, dropped);
  if (message.role === 'tool') return [encodeToolResult(withFailureInWords(message), path, quirks, dropped)];
  const { role, content } = message;
  dropped.noteOthers('messages[].', message, ['role', 'content']);
  return [
    {
      type: 'message',
      role,
      content: typeof content === 'string' ? content : encodeParts(content, path, quirks, dropped),
    },
  ];
}

/** Encodes the result of a tool. Texts go as one text, which older servers insist on. */
function encodeToolResult(message: ToolMessage, path: string, quirks: ResponsesQuirks, dropped: Dropped): Loose {
  const { tool_call_id: callId, content } = message;
  dropped.noteOthers('messages[].', message, ['role', 'content', 'tool_call_id']);
  return {
    type: 'function_call_output',
    call_id: callId,
    output: typeof content === 'string' ? content : encodeOutputParts(content, path, quirks, dropped),
  };
}

const assistantFields = [
  'role',
  'content',
  'refusal',
  'tool_calls',
  'reasoning',
  'reasoning_content',
  'reasoning_details',
];

function encodeAssistant(
  message: AssistantMessage,
  path: string,
  quirks: ResponsesQuirks,
  dropped: Dropped,
): readonly Loose[] {
  dropped.noteOthers('messages[].', message, assistantFields);
  const items: Loose[] = [];
  const content = encodeSaid(message, path, dropped);
  if (content !== null) items.push({ type: 'message', role: 'assistant', content });
  for (const { id, function: called } of message.tool_calls ?? [])
    items.push({ type: 'function_call', call_id: id, name: called.name, arguments: called.arguments });
  return withReasoning(items, message, quirks, dropped);
}

/** @returns null: the message says nothing, it only calls tools or thinks */
function encodeSaid({ content, refusal, tool_calls: calls }: AssistantMessage, path: string, dropped: Dropped) {
  const parts: Loose[] = [];
  // An empty text beside calls only means that there is none.
  const isText = typeof content === 'string' && (content !== '' || (!calls?.length && !refusal));
  if (isText) parts.push({ type: 'output_text', text: content });
  if (Array.isArray(content)) addAll(parts, encodeOwnParts(content, path, dropped));
  if (refusal) parts.push({ type: 'refusal', refusal });
  return parts.length === 0 ? null : parts;
}

/** Puts each reasoning item before the item that it belongs to. */
function withReasoning(
  items: readonly Loose[],
  message: AssistantMessage,
  quirks: ResponsesQuirks,
  dropped: Dropped,
): readonly Loose[] {
  const { reasoning, reasoning_content: thought, reasoning_details: details } = message;
  const sent = itemsOfDetails(details ?? [], quirks);
  // The provider refuses reasoning that nothing follows.
  const placed: readonly PlacedItem[] = items.length === 0 ? [] : sent.items;
  if (sent.isPartial || placed.length < sent.items.length) dropped.note('messages[].reasoning_details');
  // The details hold the words; alone, these prove nothing.
  if (placed.length === 0) {
    if (reasoning) dropped.note('messages[].reasoning');
    if (thought) dropped.note('messages[].reasoning_content');
    return items;
  }
  const earlier = items.map((): Loose[] => []);
  for (const { before, item } of placed) earlier[Math.min(before, items.length - 1)]?.push(item);
  return items.flatMap((item, at) => [...(earlier[at] ?? []), item]);
}
