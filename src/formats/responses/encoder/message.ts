import { isObject, type Loose } from '../../../base/values.ts';
import { flatAnnotation } from './annotations.ts';
import { OutputItem } from './item.ts';

/** A text of a message, while it grows. */
export class TextPart {
  /** The place where its text begins in the content of the chat message. */
  readonly start: number;
  readonly item: MessageItem;
  readonly number: number;
  readonly head: string;
  text = '';
  readonly annotations: Loose[] = [];
  readonly logprobs: Loose[] = [];

  constructor(item: MessageItem, number: number, start: number, head: string) {
    this.item = item;
    this.number = number;
    this.start = start;
    this.head = head;
  }

  toObject(): Loose {
    return { type: 'output_text', text: this.text, annotations: this.annotations, logprobs: this.logprobs };
  }
}

interface Refusal {
  readonly number: number;
  readonly head: string;
  text: string;
}

/** A message: at most one text and one refusal, as a chat message has. */
export class MessageItem extends OutputItem {
  #text: TextPart | null = null;
  #refusal: Refusal | null = null;
  #parts = 0;

  get text(): TextPart | null {
    return this.#text;
  }

  openText(start: number): TextPart {
    const number = this.#parts++;
    const place = { ...this.place, content_index: number };
    const head = this.sink.deltaHead('response.output_text.delta', { ...place, logprobs: [] });
    const part = new TextPart(this, number, start, head);
    this.#text = part;
    // The event gets a copy: it must not change when the part does.
    this.sink.emit('response.content_part.added', { ...place, part: { ...part.toObject() } });
    return part;
  }

  addText(part: TextPart, delta: string, logprobs: readonly unknown[] | null | undefined): void {
    part.text += delta;
    const added = logprobs ? logprobs.filter(isLogprob).map(logprobOf) : [];
    if (added.length === 0) {
      this.sink.delta(part.head, delta);
      return;
    }
    for (const one of added) part.logprobs.push(one);
    this.sink.emit('response.output_text.delta', {
      ...this.place,
      content_index: part.number,
      delta,
      logprobs: added,
    });
  }

  /** @param start  the place where the text of the part begins, in the count of the annotation */
  annotate(part: TextPart, raw: unknown, start: number = part.start): void {
    const annotation = flatAnnotation(raw, start);
    if (annotation === null) return;
    this.sink.emit('response.output_text.annotation.added', {
      ...this.place,
      content_index: part.number,
      annotation_index: part.annotations.length,
      annotation,
    });
    part.annotations.push(annotation);
  }

  refuse(delta: string): void {
    this.#refusal ??= this.#openRefusal();
    this.#refusal.text += delta;
    this.sink.delta(this.#refusal.head, delta);
  }

  #openRefusal(): Refusal {
    const number = this.#parts++;
    const place = { ...this.place, content_index: number };
    this.sink.emit('response.content_part.added', { ...place, part: { type: 'refusal', refusal: '' } });
    return { number, head: this.sink.deltaHead('response.refusal.delta', place), text: '' };
  }

  protected closeParts(): void {
    const text = this.#text;
    const refusal = this.#refusal;
    if (text !== null && text.number === 0) this.#closeText(text);
    if (refusal !== null) this.#closeRefusal(refusal);
    if (text !== null && text.number > 0) this.#closeText(text);
  }

  #closeText(part: TextPart): void {
    const place = { ...this.place, content_index: part.number };
    this.sink.emit('response.output_text.done', { ...place, text: part.text, logprobs: part.logprobs });
    this.sink.emit('response.content_part.done', { ...place, part: part.toObject() });
  }

  #closeRefusal({ number, text }: Refusal): void {
    const place = { ...this.place, content_index: number };
    this.sink.emit('response.refusal.done', { ...place, refusal: text });
    this.sink.emit('response.content_part.done', { ...place, part: { type: 'refusal', refusal: text } });
  }

  toObject(): Loose {
    const content: Loose[] = [];
    if (this.#refusal !== null) content.push({ type: 'refusal', refusal: this.#refusal.text });
    if (this.#text !== null) content.splice(this.#text.number, 0, this.#text.toObject());
    return { ...this.extra, id: this.id, type: 'message', status: this.status, role: 'assistant', content };
  }
}

function isLogprob(entry: unknown): entry is Loose {
  return isObject(entry) && typeof entry.token === 'string' && typeof entry.logprob === 'number';
}

/** Returns a probability in the form of Responses. `bytes` is a list here: null is not allowed. */
function logprobOf({ token, logprob, bytes, top_logprobs: top }: Loose): Loose {
  const others = Array.isArray(top) ? top.filter(isLogprob) : [];
  return {
    token,
    logprob,
    bytes: bytes ?? [],
    top_logprobs: others.map((one) => ({ token: one.token, logprob: one.logprob, bytes: one.bytes ?? [] })),
  };
}
