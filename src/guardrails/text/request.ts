import { originOf, withOrigin } from '../../call/responses-origin.ts';
import type { ChatRequest } from '../../schema/chat.ts';
import type { Texts } from './texts.ts';

/** Fields that say who asks, what of, and how: no model reads them. */
const unread: ReadonlySet<string> = new Set([
  'model',
  'models',
  'provider',
  'plugins',
  'route',
  'user',
  'session_id',
  'metadata',
  'trace',
  'safety_identifier',
  'prompt_cache_key',
  'stop',
  'messages',
  'tools',
]);

/** Looks at everything in a request that a model would read, and knows what it has looked at before. */
export class RequestTexts {
  /** What is left of messages and tools that were looked at: an attempt that is made again needs no second look. */
  readonly #left = new WeakMap<object, object>();

  /** @returns the same request where nothing in it changes; else a copy */
  screen(request: ChatRequest, texts: Texts): ChatRequest {
    const origin = originOf(request);
    const changed: Record<string, unknown> = {};
    const note = (field: string, before: unknown, after: unknown) => {
      if (after !== before) changed[field] = after;
    };
    const screened = <Item extends object>(items: readonly Item[], madeOf: (item: Item) => unknown) => {
      const after = items.map((item) => this.#one(item, madeOf(item), texts));
      return after.every((item, at) => item === items[at]) ? items : after;
    };
    note(
      'messages',
      request.messages,
      screened(request.messages, (message) => origin?.itemsOf.get(message)),
    );
    if (request.tools)
      note(
        'tools',
        request.tools,
        screened(request.tools, (tool) => origin?.toolOf.get(tool)),
      );
    for (const field of Object.keys(request))
      if (!unread.has(field)) note(field, request[field], texts.value(request[field], field));
    const copy = Object.keys(changed).length === 0 ? request : ({ ...request, ...changed } as ChatRequest);
    const hostedTools = origin === null ? [] : texts.value(origin.hostedTools);
    if (origin === null || hostedTools === origin.hostedTools) return copy;
    return withOrigin({ ...copy }, { ...origin, hostedTools });
  }

  /** @param madeOf  the Responses object that the item was made of, which a provider may get in its place */
  #one<Item extends object>(item: Item, madeOf: unknown, texts: Texts): Item {
    const known = this.#left.get(item);
    if (known !== undefined) return known as Item;
    let clean = texts.value(item);
    // A copy stands for itself: what it was made of goes nowhere.
    if (clean === item && madeOf !== undefined && texts.value(madeOf) !== madeOf) clean = { ...item };
    this.#left.set(item, clean);
    this.#left.set(clean, clean);
    return clean;
  }
}
