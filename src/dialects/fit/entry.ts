import type { ChatMessage } from '../../schema/chat/chat.ts';

/** A message on its way to a provider. */
export interface Entry {
  readonly message: ChatMessage;
  /** Its place in the request, or that of the first of the messages that it was made of; null: it was added. */
  readonly from: number | null;
  /** true: it says what the message at that place says, in the same parts. */
  readonly isWhole: boolean;
}

/** The message in place of another one. */
export function inPlaceOf({ from, isWhole }: Entry, message: ChatMessage): Entry {
  return { message, from, isWhole };
}

/** A message that the caller did not send. */
export function added(message: ChatMessage): Entry {
  return { message, from: null, isWhole: false };
}

/** A message that says what the caller said in another way. */
export function reworded({ from }: Entry, message: ChatMessage): Entry {
  return { message, from, isWhole: false };
}

export function isInstruction({ role }: ChatMessage): boolean {
  return role === 'system' || role === 'developer';
}
