import type { Clock } from '../../base/clock.ts';
import { createFairCache } from '../../base/fair-cache.ts';

/** A conversation up to the end of one response: the items of its input and of its output, as JSON without brackets. */
export type Conversation = string;

/** The responses that connections can go on from. */
export interface ResponseMemory {
  get(connection: number, responseId: string): Conversation | undefined;
  /** Remembers a response for as long as there is room: when it is full, the workspace that has most forgets its oldest. */
  set(workspaceId: string, connection: number, responseId: string, conversation: Conversation): void;
  delete(connection: number, responseId: string): void;
}

/** One place of the memory, in characters: a place is counted for each begun one. */
const charactersOfPlace = 1024;

/**
 * Makes the memory that all connections of a gateway share. It is kept as text, which takes a fraction of what the
 * objects would take. @param bytes  the most characters
 */
export function createResponseMemory(bytes: number, clock: Clock): ResponseMemory {
  const cache = createFairCache<string, Conversation>({
    clock,
    max: Math.max(1, Math.floor(bytes / charactersOfPlace)),
    placesOf: (_, { length }) => Math.ceil(length / charactersOfPlace) || 1,
  });
  const keyOf = (connection: number, responseId: string) => `${connection} ${responseId}`;
  return {
    get: (connection, responseId) => cache.get(keyOf(connection, responseId)),
    set: (workspaceId, connection, responseId, conversation) =>
      cache.set(workspaceId, keyOf(connection, responseId), conversation),
    delete: (connection, responseId) => cache.delete(keyOf(connection, responseId)),
  };
}

/** The items as JSON without brackets. */
export function itemsText(items: readonly unknown[]): Conversation {
  return JSON.stringify(items).slice(1, -1);
}

/** Puts items behind others. */
export function joined(...parts: readonly Conversation[]): Conversation {
  return parts.filter((part) => part !== '').join(',');
}

export function itemsOf(conversation: Conversation): unknown[] {
  return JSON.parse(`[${conversation}]`) as unknown[];
}
