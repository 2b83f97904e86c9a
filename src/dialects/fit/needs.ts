import type { ChatMessage, ChatRequest, ContentPart } from '../../schema/chat/chat.ts';
import type { AssistantMessage, ToolMessage } from '../../schema/chat/message.ts';
import { isObjectText } from './arguments.ts';
import { hasMedia, hasOtherType, isRefusedText, urlIn } from './contents.ts';
import { isInstruction } from './entry.ts';
import type { Profile } from './profile.ts';
import { areOneTurn } from './turns.ts';

/** The part of a conversation that may have to be changed: nothing, the order of the messages alone, or more. */
export type Needs = 'nothing' | 'order' | 'all';

/** Finds what may have to be changed. Makes no copies: most conversations fit. */
export function needsOf({ messages }: ChatRequest, profile: Profile): Needs {
  let ids: Set<string> | null = null;
  /** The calls of the last message of the assistant, and how many of them have their result. */
  let calls: NonNullable<AssistantMessage['tool_calls']> = [];
  let results = 0;
  let hasTurn = false;
  let isOrdered = true;
  for (let at = 0; at < messages.length; at++) {
    const message = messages[at] as ChatMessage;
    const { role } = message;
    if (role === 'tool') {
      if (results === calls.length || !isResultOf(message, calls, results, profile)) return 'all';
      results++;
      continue;
    }
    if (results < calls.length) return 'all';
    const before = at === 0 ? null : (messages[at - 1] as ChatMessage);
    isOrdered &&= !isOutOfTurn(message, before, hasTurn, profile);
    hasTurn ||= !isInstruction(message);
    if (hasOtherContent(message, profile)) return 'all';
    calls = [];
    results = 0;
    if (role !== 'assistant' || message.tool_calls === undefined || message.tool_calls === null) continue;
    calls = message.tool_calls;
    if (calls.length === 0) return 'all';
    ids ??= new Set();
    for (const { id, function: called } of calls) {
      if (ids.has(id) || !profile.toolIds.fits.test(id) || !profile.toolNames.fits.test(called.name)) return 'all';
      if (!isObjectText(called.arguments)) return 'all';
      ids.add(id);
    }
  }
  if (results < calls.length) return 'all';
  return isOrdered ? 'nothing' : 'order';
}

function isOutOfTurn(message: ChatMessage, before: ChatMessage | null, hasTurn: boolean, profile: Profile): boolean {
  if (profile.instructions === 'first' && before !== null && isInstruction(message)) return true;
  if (profile.opens === 'user' && !hasTurn && message.role === 'assistant') return true;
  if (before === null) return false;
  if (profile.bridgesResults && message.role === 'user' && before.role === 'tool') return true;
  return profile.turns === 'alternate' && areOneTurn(before, message);
}

/** Tells whether a result belongs to a call that waits for it: in the order of the calls where the profile demands that. */
function isResultOf(
  message: ToolMessage,
  calls: NonNullable<AssistantMessage['tool_calls']>,
  results: number,
  profile: Profile,
): boolean {
  const { content, tool_call_id: id } = message;
  if (Array.isArray(content) && ((!profile.resultMedia && hasMedia(message)) || hasOtherParts(content, profile)))
    return false;
  if (typeof message.name === 'string' && !profile.toolNames.fits.test(message.name)) return false;
  // Out of order, of which two may be of one call: that is looked at closely.
  return calls[results]?.id === id;
}

function hasOtherContent(message: ChatMessage, profile: Profile): boolean {
  const { content } = message;
  if (Array.isArray(content) && content.length > 0) return hasOtherParts(content as readonly ContentPart[], profile);
  if (profile.refusedTexts === 'none') return false;
  // An assistant that calls tools need not say anything.
  if (message.role === 'assistant' && message.tool_calls?.length) return false;
  return typeof content === 'string' ? isRefusedText(content, profile.refusedTexts) : true;
}

function hasOtherParts(parts: readonly ContentPart[], { refusedTexts }: Profile): boolean {
  for (const part of parts) {
    if (part.type === 'text') {
      if (isRefusedText(part.text, refusedTexts)) return true;
      continue;
    }
    const url = urlIn(part);
    if (url !== null && hasOtherType(url)) return true;
  }
  return false;
}
