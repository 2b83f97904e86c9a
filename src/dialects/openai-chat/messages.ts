import { isObject, type Loose } from '../../base/values.ts';
import type { ChatMessage } from '../../schema/chat/chat.ts';
import { withFailureInWords } from '../shared/failed-result.ts';
import { addedMessageFields, type ChatQuirks, reasoningFields } from './quirks.ts';
import { moveReasoning } from './reasoning.ts';

/** Fields of an assistant message that the provider may not take, or not there. */
const movedFields = [...reasoningFields, ...addedMessageFields, 'audio'];

/**
 * Encodes messages. Returns the same list where no message has to change, which is the usual case.
 * @param learntField  the field in which the provider has sent thoughts, for want of a quirk
 */
export function encodeMessages(
  messages: readonly ChatMessage[],
  quirks: ChatQuirks,
  dropped: string[],
  learntField?: string | null,
): readonly unknown[] {
  let out: unknown[] | null = null;
  for (let i = 0; i < messages.length; i++) {
    const message = messages[i] as ChatMessage;
    const encoded = encodeMessage(message, quirks, dropped, learntField);
    if (encoded !== message) {
      out ??= messages.slice(0, i);
    }
    out?.push(encoded);
  }
  return out ?? messages;
}

/** Encodes a message. Returns the message itself where nothing has to change. */
function encodeMessage(
  message: ChatMessage,
  quirks: ChatQuirks,
  dropped: string[],
  learntField: string | null | undefined,
): unknown {
  const asSystem = message.role === 'developer' && quirks.developerRole !== true;
  const moved = message.role === 'assistant' && movedFields.some((field) => field in message);
  const hasNull = hasUnset(message);
  const parts = message.content;
  const isMarked =
    ('cache_control' in message || (Array.isArray(parts) && parts.some((part) => 'cache_control' in part))) &&
    quirks.cacheControl?.includes('messages') !== true;
  // Some servers refuse a message without the field, beside tool calls too.
  const lacksContent = parts === undefined;
  const mayHaveFailed = message.role === 'tool' && 'is_error' in message;
  if (!asSystem && !moved && !isMarked && !hasNull && !lacksContent && !mayHaveFailed) return message;
  const encoded: Loose = { ...(mayHaveFailed ? withFailureInWords(message) : message) };
  if (lacksContent) encoded.content = null;
  if (hasNull) for (const field of Object.keys(encoded)) if (isUnset(encoded, field)) delete encoded[field];
  if (asSystem) encoded.role = 'system';
  if (moved) encodeAssistant(encoded, quirks, dropped, learntField);
  if (isMarked) removeMarks(encoded, dropped);
  return encoded;
}

/**
 * true: a message has unset fields. Clients send back a message with all fields that they know. A strict provider
 * refuses those that it does not know.
 */
function hasUnset(message: object): boolean {
  for (const field in message) if (isUnset(message as Loose, field)) return true;
  return false;
}

/** true: a field is null, which means "not set", except in the content: some providers want it beside tool calls. */
function isUnset(message: Loose, field: string): boolean {
  return message[field] === null && field !== 'content';
}

/** @param message  changed */
function encodeAssistant(
  message: Loose,
  quirks: ChatQuirks,
  dropped: string[],
  learntField: string | null | undefined,
): void {
  for (const field of addedMessageFields) {
    if (quirks.assistantFields?.includes(field) || !(field in message)) continue;
    if (hasContent(message[field])) note(dropped, `messages[].${field}`);
    delete message[field];
  }
  for (const field of moveReasoning(message, quirks, learntField)) note(dropped, `messages[].${field}`);
  // The id stands for the sound that the provider still has: it takes nothing beside it.
  if (isObject(message.audio) && typeof message.audio.id === 'string') message.audio = { id: message.audio.id };
}

/** @param message  changed */
function removeMarks(message: Loose, dropped: string[]): void {
  if ('cache_control' in message) {
    if (message.cache_control !== null) note(dropped, 'messages[].cache_control');
    delete message.cache_control;
  }
  if (!Array.isArray(message.content)) return;
  message.content = message.content.map((part: Loose) => {
    if (!('cache_control' in part)) return part;
    note(dropped, 'messages[].content[].cache_control');
    const { cache_control: _, ...others } = part;
    return others;
  });
}

function hasContent(value: unknown): boolean {
  return value !== null && value !== undefined && !(Array.isArray(value) && value.length === 0);
}

/** Notes each path once, even if many messages have it. */
function note(dropped: string[], path: string): void {
  if (!dropped.includes(path)) dropped.push(path);
}
