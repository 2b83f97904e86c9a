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
import { describe, isCallItem, type NativeOutput, nativeOutput } from './native.ts';
import { Place } from './place.ts';
import { ReasoningItem } from './reasoning.ts';
import { ImageItem, OpaqueItem } from './whole-item.ts';

/** The sources that may still cite a text that has ended. */
export interface LateCitations {
  /** true: the gateway or a plugin may, whatever the upstream speaks. */
  readonly ofGateway: boolean;
  /** true: an upstream of chat completions may, which has searched the web. */
  readonly ofChat: boolean;
}

export interface BuilderOptions {
  ids: ItemIds;
  callForms: ReadonlyMap<string, CallForm>;
  /** The citations that may come late: then a message stays open until another item than a call or an image follows it. */
  lateCitations: LateCitations;
}

type Logprobs = readonly unknown[] | null | undefined;

/**
 * Builds the output items of a response out of the deltas of a chat message. JSON and streams both come from here: the
 * sink gets the events, which a response as JSON has no use for.
 *
 * Item follows item: the client gets nothing of one before the one before it is done. A message ends when another item
 * begins. A call ends when its arguments are complete and something has followed it, else at the end, because more
 * fragments may come; what follows it waits so long. All that waits is in the items anyway, which end the response.
 */
export class OutputBuilder {
  readonly #sink: EventSink;
  readonly #options: BuilderOptions;
  readonly #places: Place[] = [];
  /** Index of the place that is not done, and whose events the client gets. */
  #front = 0;
  /** The message or the reasoning that goes on. */
  #current: MessageItem | ReasoningItem | null = null;
  /** The latest item that is no call and no image. */
  #spoken: OutputItem | null = null;
  /** The message that has ended, but for citations. */
  #citable: MessageItem | null = null;
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
    this.#calls = new OpenCalls(options.callForms, options.ids, () => this.#begin('call'));
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
        const place = this.#begin('speech');
        item = new ReasoningItem(place.sink, place.index, this.#options.ids.item('rs', place.index, given));
        this.#put(place, item);
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
    let message = this.#current;
    if (!(message instanceof MessageItem) || message.isOver) {
      const place = this.#begin('speech');
      message = new MessageItem(place.sink, place.index, this.#options.ids.item('msg', place.index));
      this.#put(place, message);
      this.#current = message;
    }
    this.#latest = message;
    return message;
  }

  #addImage(url: string): void {
    const { ids } = this.#options;
    const place = this.#begin('image');
    this.#latest = place.put(new ImageItem(place.sink, place.index, ids.item('ig', place.index), url));
  }

  /** The item before ends, and there is a place for a new one. Citations may come after calls and images. */
  #begin(kind: 'call' | 'image' | 'speech'): Place {
    const before = this.#current;
    this.#current = null;
    if (before !== null) this.#end(before, this.#mayCiteLate(false));
    if (kind === 'speech') this.#endCitable();
    this.#calls.settle();
    return this.#nextPlace();
  }

  #mayCiteLate(isNative: boolean): boolean {
    const { ofGateway, ofChat } = this.#options.lateCitations;
    return ofGateway || (ofChat && !isNative);
  }

  /** @param mayCite  true: it stays open for citations, until something is said behind it */
  #end(item: OutputItem, mayCite: boolean): void {
    if (mayCite && item instanceof MessageItem && item === this.#spoken) this.#citable = item;
    else item.isOver = true;
  }

  #endCitable(): void {
    if (this.#citable !== null) this.#citable.isOver = true;
    this.#citable = null;
  }

  #nextPlace(): Place {
    this.#closeInOrder(true);
    const index = this.#places.length;
    const place = new Place(index, this.#sink, index === this.#front ? null : this.#sink.later());
    this.#places.push(place);
    return place;
  }

  #put<Item extends OutputItem>(place: Place, item: Item): Item {
    this.#spoken = item;
    this.#latest = item;
    return place.put(item);
  }

  #addNative(native: NativeItem, delta: ChunkDelta, logprobs: Logprobs): void {
    let item = this.#native.get(native.index);
    if (item === undefined) {
      item = this.#beginNative(native, delta.tool_calls?.[0]?.id);
      this.#native.set(native.index, item);
    } else if (native.isDone === true || item instanceof OpaqueItem) describe(item, native);
    if (!item.isClosed) {
      this.#latest = item;
      this.#fill(item, delta, logprobs);
    }
    if (item instanceof OpaqueItem && native.event !== undefined && !item.isClosed) item.pass(native.event);
    if (native.isDone === true) this.#end(item, this.#mayCiteLate(true));
  }

  #beginNative(native: NativeItem, callId: unknown): NativeOutput {
    const kind = isCallItem(native) ? 'call' : 'speech';
    let place: Place;
    // A tool of the gateway runs between two responses of the model: what was said before has ended.
    if (native.index < 0) place = this.#begin(kind);
    else {
      if (kind === 'speech') this.#endCitable();
      place = this.#nextPlace();
    }
    const item = nativeOutput(place.sink, this.#options.ids, place.index, native, callId);
    if (kind === 'speech') return this.#put(place, item);
    this.#latest = item;
    return place.put(item);
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

  /** @param isFollowed  true: something follows the last place, so that a call there may end */
  #closeInOrder(isFollowed = false): void {
    let place = this.#places[this.#front];
    while (place !== undefined) {
      const mayEnd = isFollowed || this.#front < this.#places.length - 1;
      if (place.item?.isOver !== true && !(mayEnd && this.#calls.end(place))) return;
      this.#close(place);
      place = this.#places[this.#front];
      place?.release();
    }
  }

  #close({ item }: Place): void {
    if (item?.isClosed === false) item.close(item.outcome);
    this.#front++;
  }

  /** The response is complete. What was cut by a limit or a filter is marked as such. */
  finish(reason: FinishReason | null): void {
    const before = this.#latest;
    const latestCall = this.#calls.finish();
    const latest = before ?? latestCall;
    if (this.#texts.hasPending) this.#citeAtEnd();
    const isCut = reason === 'length' || reason === 'content_filter';
    for (const place of this.#places.slice(this.#front)) {
      place.release();
      const { item } = place;
      if (isCut && item !== null && !item.isOver && (item === latest || this.#calls.isCut(place)))
        item.outcome = 'incomplete';
      this.#close(place);
    }
  }

  /** Puts citations of a text that has ended, or of no text, into a message of their own. */
  #citeAtEnd(): void {
    this.#texts.release(this.#textOf(this.#message()));
  }

  /** The response broke: nothing more is said of what is not complete, and nothing of what the client has not seen. */
  abandon(): void {
    const open = this.#places.slice(this.#front).filter(({ isUnseen }) => !isUnseen);
    this.#places.length = this.#front;
    for (const place of open) {
      place.item?.abandon();
      this.#places.push(place);
    }
  }

  get output(): Loose[] {
    return this.#items().map((item) => item.toObject());
  }

  outputJson(): string {
    return `[${this.#items()
      .map((item) => item.toJson())
      .join(',')}]`;
  }

  #items(): OutputItem[] {
    return this.#places.flatMap(({ item }) => item ?? []);
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
