import type { Loose } from '../../../base/values.ts';
import type { CallForm } from '../../../call/native.ts';
import { type OutputItem as NativeItem, outputItemOf } from '../../../call/output-item.ts';
import type { FinishReason, ReasoningDetail } from '../../../schema/chat/chat.ts';
import type { ChunkDelta } from '../../../schema/chat/chunk.ts';
import { isResponsesFormat } from '../reasoning-format.ts';
import { AnnotatedTexts } from './annotated.ts';
import { CustomCallItem, FunctionCallItem } from './call.ts';
import { OpenCalls } from './calls.ts';
import type { EventSink } from './events.ts';
import type { ItemIds } from './ids.ts';
import type { OutputItem } from './item.ts';
import { MessageItem, type TextPart } from './message.ts';
import { describe, type NativeOutput, nativeOutput } from './native.ts';
import { ReasoningItem } from './reasoning.ts';
import { ImageItem, OpaqueItem } from './whole-item.ts';

export interface BuilderOptions {
  ids: ItemIds;
  callForms: ReadonlyMap<string, CallForm>;
  /** true: citations of a text may come after a call. Messages then stay open until the end. */
  mayCiteLate: boolean;
}

type Logprobs = readonly unknown[] | null | undefined;

/**
 * Builds the output items of a response out of the deltas of a chat message. JSON and streams both come from here: the
 * sink gets the events, which a response as JSON has no use for.
 *
 * Items end in their order. A message ends when another item begins; a call only at the end, because more fragments of
 * its arguments may come.
 */
export class OutputBuilder {
  readonly #sink: EventSink;
  readonly #options: BuilderOptions;
  readonly #items: OutputItem[] = [];
  /** Index of the first item that is open. */
  #firstOpen = 0;
  /** The message or the reasoning item that is still open. */
  #current: MessageItem | ReasoningItem | null = null;
  /**
   * The item that was written last. If the response is not complete, this item is the one that is not complete. null:
   * none, or a call that is not announced yet.
   */
  #latest: OutputItem | null = null;
  readonly #calls: OpenCalls;
  readonly #native = new Map<number, NativeOutput>();
  readonly #texts = new AnnotatedTexts();
  /** The number of characters of the content of the chat message. */
  #contentLength = 0;

  constructor(sink: EventSink, options: BuilderOptions) {
    this.#sink = sink;
    this.#options = options;
    this.#calls = new OpenCalls(options.callForms, options.ids, sink, (make) => this.#begin(make));
  }

  add(delta: ChunkDelta, logprobs?: Logprobs): void {
    const native = outputItemOf(delta);
    if (native === null) this.#addChat(delta, logprobs);
    else this.#addNative(native, delta, logprobs);
    this.#closeInOrder();
  }

  #addChat(delta: ChunkDelta, logprobs: Logprobs): void {
    const { reasoning, reasoning_details: details, content, refusal, annotations, tool_calls: calls, images } = delta;
    if (reasoning || details) this.#reason(thoughtsOf(reasoning, details));
    if (content || logprobs?.length) this.#addText(this.#message(), content ?? '', logprobs);
    if (refusal) this.#message().refuse(refusal);
    if (annotations) for (const one of annotations) this.#texts.annotate(one);
    if (calls) for (const call of calls) this.#latest = this.#calls.add(call);
    if (images) for (const { image_url: image } of images) this.#addImage(image.url);
  }

  #reason(details: readonly ReasoningDetail[]): void {
    for (const detail of details) {
      let item = this.#current;
      if (!(item instanceof ReasoningItem) || item.isFollowedBy(detail)) {
        const given = isResponsesFormat(detail.format) ? detail.id : null;
        item = this.#begin((index) => new ReasoningItem(this.#sink, index, this.#options.ids.item('rs', index, given)));
        this.#current = item;
      }
      this.#latest = item;
      item.add(detail);
    }
  }

  #addText(message: MessageItem, content: string, logprobs: Logprobs): void {
    message.addText(this.#textOf(message), content, logprobs);
    this.#contentLength += content.length;
  }

  #textOf(message: MessageItem): TextPart {
    if (message.text !== null) return message.text;
    const part = message.openText(this.#contentLength);
    this.#texts.add(part);
    return part;
  }

  #message(): MessageItem {
    if (!(this.#current instanceof MessageItem) || this.#current.isOver) {
      this.#current = this.#begin((index) => new MessageItem(this.#sink, index, this.#options.ids.item('msg', index)));
    }
    this.#latest = this.#current;
    return this.#current as MessageItem;
  }

  #addImage(url: string): void {
    this.#begin((index) => new ImageItem(this.#sink, index, this.#options.ids.item('ig', index), url));
  }

  /** Ends the item before, and announces the new one. */
  #begin<Item extends OutputItem>(make: (index: number) => Item): Item {
    const before = this.#current;
    this.#current = null;
    if (before !== null && !(before instanceof MessageItem && this.#options.mayCiteLate)) before.isOver = true;
    this.#calls.settle();
    this.#closeInOrder();
    return this.#append(make);
  }

  #append<Item extends OutputItem>(make: (index: number) => Item): Item {
    const item = make(this.#items.length);
    this.#items.push(item);
    this.#latest = item;
    item.announce();
    return item;
  }

  #addNative(native: NativeItem, delta: ChunkDelta, logprobs: Logprobs): void {
    let item = this.#native.get(native.index);
    if (item === undefined) {
      const callId = delta.tool_calls?.[0]?.id;
      // A tool of the gateway runs between two responses of the model: the items before it have ended.
      const begin = native.index < 0 ? this.#begin.bind(this) : this.#append.bind(this);
      item = begin<NativeOutput>((index) => nativeOutput(this.#sink, this.#options.ids, index, native, callId));
      this.#native.set(native.index, item);
    } else if (native.isDone === true || item instanceof OpaqueItem) describe(item, native);
    if (!item.isClosed) {
      this.#latest = item;
      this.#fill(item, delta, logprobs);
    }
    if (item instanceof OpaqueItem && native.event !== undefined && !item.isClosed) item.pass(native.event);
    const staysOpen = item instanceof MessageItem && this.#options.mayCiteLate;
    if (native.isDone === true && !staysOpen) item.isOver = true;
  }

  #fill(item: NativeOutput, delta: ChunkDelta, logprobs: Logprobs): void {
    const { reasoning, reasoning_details: details, content, refusal, annotations, tool_calls: calls } = delta;
    if (item instanceof MessageItem) {
      if (content || logprobs?.length) this.#addText(item, content ?? '', logprobs);
      if (refusal) item.refuse(refusal);
      // The places count from the beginning of the item.
      if (annotations) for (const one of annotations) item.annotate(this.#textOf(item), one, 0);
    } else if (item instanceof ReasoningItem) {
      for (const detail of thoughtsOf(reasoning, details)) item.add(detail);
    } else if (item instanceof FunctionCallItem || item instanceof CustomCallItem) {
      if (calls) for (const { function: called } of calls) item.add(called?.arguments ?? '');
    }
  }

  #closeInOrder(): void {
    let item = this.#items[this.#firstOpen];
    while (item?.isOver === true) {
      if (!item.isClosed) item.close(item.outcome);
      this.#firstOpen++;
      item = this.#items[this.#firstOpen];
    }
  }

  /** Ends the response. An item that was cut by a limit or a filter is marked as such. */
  finish(reason: FinishReason | null): void {
    const before = this.#latest;
    const latestCall = this.#calls.finish();
    const latest = before ?? latestCall;
    if (this.#texts.hasPending) this.#citeAtEnd();
    const isCut = reason === 'length' || reason === 'content_filter';
    const cut = isCut && latest !== null && !latest.isOver ? latest : null;
    for (const item of this.#items.slice(this.#firstOpen)) item.close(item === cut ? 'incomplete' : item.outcome);
    this.#firstOpen = this.#items.length;
  }

  /** Puts citations of a text that has ended, or of no text, into a message of their own. */
  #citeAtEnd(): void {
    this.#texts.release(this.#textOf(this.#message()));
  }

  /** Ends a response that broke: no event says that its open items are complete. */
  abandon(): void {
    for (const item of this.#items.slice(this.#firstOpen)) {
      if (item.isOver) item.close(item.outcome);
      else item.abandon();
    }
  }

  get output(): Loose[] {
    return this.#items.map((item) => item.toObject());
  }

  outputJson(): string {
    return `[${this.#items.map((item) => item.toJson()).join(',')}]`;
  }
}

/**
 * Returns the thoughts of the model, once: servers that write `reasoning_details` repeat their text in `reasoning`.
 * Where the details hold only encrypted parts, the text stands in `reasoning` alone.
 */
function thoughtsOf(reasoning: unknown, details: readonly ReasoningDetail[] = []): readonly ReasoningDetail[] {
  const said = details.filter((detail) => textIn(detail) || detail.type === 'reasoning.encrypted' || isSigned(detail));
  if (typeof reasoning !== 'string' || reasoning === '' || said.some(textIn)) return said;
  return [{ type: 'reasoning.text', text: reasoning }, ...said];
}

function textIn(detail: ReasoningDetail): string | null | undefined {
  if (detail.type === 'reasoning.encrypted') return null;
  return detail.type === 'reasoning.summary' ? detail.summary : detail.text;
}

function isSigned(detail: ReasoningDetail): boolean {
  return detail.type === 'reasoning.text' && Boolean(detail.signature);
}
