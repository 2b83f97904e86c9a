import type { Revision } from '../../call/ask.ts';
import type { Native } from '../../call/native.ts';
import type { ChatRequest } from '../../schema/chat/chat.ts';
import { fieldRow } from '../../schema/chat/fields.ts';
import { isMemberName, routingFields } from './exceptions.ts';
import type { Work } from './pace.ts';
import type { Texts } from './texts.ts';
import { placeOf } from './walk.ts';

/** A message or tool that was looked at. */
interface Looked {
  left: object;
  /** true: nothing was found in it, nor in what it was made of. */
  isWhole: boolean;
}

/** A request that was checked, without what guardrails took out. */
type Screened = Required<Pick<Revision, 'request' | 'native'>>;

const none: readonly never[] = [];

/** Checks everything in a request that a model would read, and remembers checked parts. */
export class RequestTexts {
  /** Messages and tools that were looked at, and what is left of them: a further attempt needs no second look. */
  readonly #looked = new WeakMap<object, Looked>();

  /** @returns the same request and the same `native` where nothing in them changes; else copies */
  *screen(request: ChatRequest, native: Native | null, texts: Texts): Work<Screened> {
    const changed: Record<string, unknown> = {};
    const note = (field: string, before: unknown, after: unknown) => {
      if (after !== before) changed[field] = after;
    };
    const { messages, tools = none } = request;
    const ofMessages = yield* this.#all('messages', messages, native?.items ?? none, texts);
    const ofTools = yield* this.#all('tools', tools, native?.tools ?? none, texts);
    note('messages', messages, ofMessages.left);
    note('tools', tools, ofTools.left);
    for (const field of Object.keys(request)) {
      if (routingFields.has(field) || field === 'messages' || field === 'tools') continue;
      if (!isMemberName(field)) yield* texts.fixed(field, () => placeOf([field]));
      note(field, request[field], yield* texts.value(request[field], field, fieldRow(field)?.guarded ?? 'wire'));
    }
    const left = Object.keys(changed).length === 0 ? request : ({ ...request, ...changed } as ChatRequest);
    if (native === null) return { request: left, native };
    return { request: left, native: yield* cleanNative(native, ofMessages.madeOf, ofTools.madeOf, texts) };
  }

  /** @param madeOf  what each item was made of, by its place */
  *#all<Item extends object, MadeOf>(
    field: string,
    items: readonly Item[],
    madeOf: readonly (MadeOf | null)[],
    texts: Texts,
  ): Work<{ left: readonly Item[]; madeOf: readonly (MadeOf | null)[] }> {
    const left: Item[] = [];
    const kept: (MadeOf | null)[] = [];
    for (const [at, item] of items.entries()) {
      const own = madeOf[at] ?? null;
      const looked = yield* this.#one(item, own, texts, [field, at]);
      left.push(looked.left as Item);
      kept.push(looked.isWhole ? own : null);
    }
    return {
      left: left.every((item, at) => item === items[at]) ? items : left,
      madeOf: madeOf.every((own, at) => own === kept[at]) ? madeOf : kept,
    };
  }

  /** @param madeOf  the object of the client's format that the item was made of, which a provider may get in its place */
  *#one(item: object, madeOf: unknown, texts: Texts, at: readonly (string | number)[]): Work<Looked> {
    const known = this.#looked.get(item);
    if (known !== undefined) return known;
    const left = yield* texts.value(item, '', 'wire', at);
    // What was changed stands for itself: what it was made of goes nowhere. Nor does that which holds more than the item.
    const isWhole = left === item && (madeOf === null || (yield* texts.value(madeOf, '', 'wire', at)) === madeOf);
    const looked = { left, isWhole };
    this.#looked.set(item, looked);
    this.#looked.set(left, looked);
    return looked;
  }
}

/** Checks the parts that an upstream that speaks the client's own format gets beside the messages and tools. */
function* cleanNative(native: Native, items: Native['items'], tools: Native['tools'], texts: Texts): Work<Native> {
  const hostedTools = yield* texts.value(native.hostedTools, 'tools');
  const fields = yield* texts.value(native.fields);
  yield* texts.value(native.include, 'include', 'fixed');
  // Their names are shown in the routing metadata.
  for (const path of native.dropped) yield* texts.fixed(path, () => 'input');
  if (native.toolChoice !== null) yield* texts.value(native.toolChoice.own, 'tool_choice', 'fixed');
  const input = yield* texts.again(native.input, 'input');
  const clean = { items, tools, hostedTools, fields, input };
  const isSame = items === native.items && tools === native.tools && hostedTools === native.hostedTools;
  return isSame && fields === native.fields && input === native.input ? native : { ...native, ...clean };
}
