import type { Clock } from '../../base/clock.ts';
import { createFairCache } from '../../base/fair-cache.ts';

/** A conversation up to the end of one response. */
export interface Conversation {
  /** The response in the store that the conversation begins with; null: it begins with its first item. */
  base: string | null;
  /** The items of input and output behind that, as JSON without brackets. */
  items: string;
}

/** A conversation that nothing was said in. */
export const nothingSaid: Conversation = { base: null, items: '' };

/** The responses that one connection can go on from. */
export interface ResponseMemory {
  get(responseId: string): Conversation | undefined;
  /** Remembers a response for as long as there is room: when it is full, the workspace that has most forgets its oldest. */
  set(responseId: string, conversation: Conversation): void;
  delete(responseId: string): void;
}

/** Opens the memory of a connection. @param connection  its number, which no other has */
export type OpenMemory = (workspaceId: string, connection: number) => ResponseMemory;

/** One place of the memory, in characters: a place is counted for each begun one. */
const charactersOfPlace = 1024;

/**
 * Makes the memory that all connections of a gateway share. It is kept as text, which takes a fraction of what the
 * objects would take. @param bytes  the most characters
 */
export function createResponseMemory(bytes: number, clock: Clock): OpenMemory {
  const cache = createFairCache<string, Conversation>({
    clock,
    max: Math.max(1, Math.floor(bytes / charactersOfPlace)),
    placesOf: (_, { items }) => Math.ceil(items.length / charactersOfPlace) || 1,
  });
  return (workspaceId, connection) => {
    const keyOf = (responseId: string) => `${connection} ${responseId}`;
    return {
      get: (responseId) => cache.get(keyOf(responseId)),
      set: (responseId, conversation) => cache.set(workspaceId, keyOf(responseId), conversation),
      delete: (responseId) => cache.delete(keyOf(responseId)),
    };
  };
}

/** The items as JSON without brackets. */
export function itemsText(items: readonly unknown[]): string {
  return JSON.stringify(items).slice(1, -1);
}

/** Puts items behind a conversation. @param more  as `itemsText` writes them */
export function joined({ base, items }: Conversation, ...more: readonly string[]): Conversation {
  return { base, items: [items, ...more].filter((part) => part !== '').join(',') };
}

/** The items behind the response that the conversation begins with. */
export function itemsOf({ items }: Conversation): unknown[] {
  return JSON.parse(`[${items}]`) as unknown[];
}
