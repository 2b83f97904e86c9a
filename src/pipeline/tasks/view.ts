import type { Needs } from '../../routing/needs.ts';
import type { ChatMessage, ChatRequest } from '../../schema/chat/chat.ts';
import type { TaskFields } from '../../schema/task-fields.ts';

/** The part of a view that stands for one item: a text, or parts of a message. */
export type Viewed = string | readonly { readonly type: string; readonly [field: string]: unknown }[];

/**
 * Returns the view of a task: a user's message for each item, in order.
 * @param further  other fields with texts of the caller, by their own names
 */
export function viewOf(
  fields: TaskFields,
  items: readonly Viewed[],
  further: Readonly<Record<string, unknown>> = {},
): ChatRequest {
  const { model, models, provider, user, session_id: sessionId, trace } = fields;
  return {
    ...further,
    messages: items.map((content) => ({ role: 'user', content }) as ChatMessage),
    ...(model === undefined ? {} : { model }),
    ...(models === undefined ? {} : { models }),
    ...(provider ? { provider } : {}),
    ...(user ? { user } : {}),
    ...(sessionId === undefined ? {} : { session_id: sessionId }),
    ...(trace ? { trace } : {}),
  };
}

/**
 * Reads the items of a view that a guardrail has returned.
 * @throws Error where it holds other messages than it was given: an item cannot be added or left out
 */
export function itemsOf({ messages }: ChatRequest, count: number): readonly Viewed[] {
  if (messages.length !== count) throw new Error(`expected ${count} messages, one for each item of the request`);
  return messages.map(({ role, content }) => {
    if (role !== 'user' || content === null || content === undefined)
      throw new Error('expected a message of the user for each item of the request');
    return content as Viewed;
  });
}

/** Returns the fields of a task as a view has them. */
export function fieldsOf<Fields extends TaskFields>(fields: Fields, view: ChatRequest): Fields {
  const { user, session_id: sessionId, trace, provider, model, models } = view;
  return { ...fields, user, session_id: sessionId, trace, provider, model, models };
}

/** Returns the needs of a task whose input is short, and which writes no text. @param more  what it needs beside */
export function needsOf(more: Partial<Needs> = {}): Needs {
  return { parameters: [], modalities: [], outputs: [], promptTokens: 0, maxTokens: null, isShortened: false, ...more };
}

/** Tells whether there is a picture among the items. */
export function hasImages(items: readonly Viewed[]): boolean {
  return items.some((one) => typeof one !== 'string' && one.some(({ type }) => type === 'image_url'));
}
