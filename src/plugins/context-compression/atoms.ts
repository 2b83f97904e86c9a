import type { ChatMessage } from '../../schema/chat.ts';

/** Messages that stay together or go together: a single one, or calls of tools with their results. */
export interface Atom {
  /** Places in the conversation, in ascending order. */
  places: number[];
  tokens: number;
}

/** A conversation in parts. */
export interface Conversation {
  /** Places of the messages that always stay as they are. */
  instructions: number[];
  /** Of the instructions together. */
  instructionTokens: number;
  /** All other messages, in order of their first. */
  atoms: Atom[];
  /** The part with the last message of the user; null: there is none. */
  question: Atom | null;
  /** The part with the last message of all; null: there is none. */
  last: Atom | null;
}

/** @param counts  the tokens of each message */
export function conversationOf(messages: readonly ChatMessage[], counts: readonly number[]): Conversation {
  const parts: Conversation = { instructions: [], instructionTokens: 0, atoms: [], question: null, last: null };
  /** By the id of a call: some providers give the same id again in a later turn. */
  const callers = new Map<string, Atom>();
  for (const [place, message] of messages.entries()) {
    const tokens = counts[place] as number;
    if (message.role === 'system' || message.role === 'developer') {
      parts.instructions.push(place);
      parts.instructionTokens += tokens;
      continue;
    }
    const caller = message.role === 'tool' ? callers.get(message.tool_call_id) : undefined;
    if (caller !== undefined) {
      caller.places.push(place);
      caller.tokens += tokens;
      parts.last = caller;
      continue;
    }
    const atom: Atom = { places: [place], tokens };
    parts.atoms.push(atom);
    parts.last = atom;
    if (message.role === 'user') parts.question = atom;
    if (message.role === 'assistant') for (const { id } of message.tool_calls ?? []) callers.set(id, atom);
  }
  return parts;
}
