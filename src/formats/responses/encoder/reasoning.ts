import type { Loose } from '../../../base/values.ts';
import type { ReasoningDetail } from '../../../schema/chat/chat.ts';
import { packReasoning } from '../packed-reasoning.ts';
import { isResponsesFormat } from '../reasoning-format.ts';
import type { EventSink } from './events.ts';
import { OutputItem } from './item.ts';

/** The format that requests take a sealed part for, where it names none. */
const usual = 'openai-responses-v1';

/** The formats that clients know. */
const knownFormats: readonly unknown[] = [
  'openai-responses-v1',
  'azure-openai-responses-v1',
  'xai-responses-v1',
  'anthropic-claude-v1',
  'google-gemini-v1',
];

interface Part {
  readonly kind: 'summary' | 'content';
  /** The type of the details that it was made of. */
  readonly source: ReasoningDetail['type'];
  readonly number: number;
  /** The `index` of the details that it was made of. */
  readonly key: unknown;
  readonly head: string;
  text: string;
}

/** The thoughts of a model: summaries, texts, and parts that only its provider can read. */
export class ReasoningItem extends OutputItem {
  readonly #summary: Part[] = [];
  readonly #content: Part[] = [];
  #open: Part | null = null;
  /** All details, those of one part joined: a stream cuts them into a few letters each. */
  readonly #details: ReasoningDetail[] = [];
  #encrypted = 0;
  #signatures = 0;
  #sealed: string | null = null;
  readonly #isNative: boolean;

  /** @param isNative  true: the item is from an upstream that speaks Responses, which gets it back as it was */
  constructor(sink: EventSink, index: number, id: string, isNative = false) {
    super(sink, index, id);
    this.#isNative = isNative;
  }

  /** true: a detail belongs to another item. An encrypted part ends an item, and another id begins one. */
  isFollowedBy(detail: ReasoningDetail): boolean {
    const last = this.#details.at(-1);
    if (last === undefined) return false;
    if (last.type === 'reasoning.encrypted' && isResponsesFormat(last.format)) return true;
    const { id, type, format } = detail;
    if (!id || !last.id || id === last.id || !isResponsesFormat(format)) return false;
    // Some servers give an item another id in each event.
    return type !== 'reasoning.encrypted' || this.#content.length > 0;
  }

  add(detail: ReasoningDetail): void {
    this.#keep(detail);
    const { index } = detail;
    if (detail.type === 'reasoning.summary') this.#more('summary', detail.type, index, detail.summary);
    else if (detail.type === 'reasoning.text') this.#more(this.#kindOf(detail), detail.type, index, detail.text ?? '');
  }

  /**
   * Returns the kind of the part that a detail belongs to. Clients show the summary, and most of them nothing else. So
   * the readable thought of a provider of another wire format is put there; `encrypted_content` keeps its real type. A
   * provider that speaks Responses gets its own items as they were.
   */
  #kindOf({ format }: ReasoningDetail): Part['kind'] {
    return this.#isNative || isResponsesFormat(format) ? 'content' : 'summary';
  }

  #keep(detail: ReasoningDetail): void {
    if (detail.type === 'reasoning.encrypted') this.#encrypted++;
    if (detail.type === 'reasoning.text' && detail.signature) this.#signatures++;
    const last = this.#details.at(-1);
    if (last === undefined || !isSamePart(last, detail)) {
      this.#details.push({ ...detail });
      return;
    }
    // The details of a stream: more text, and at last a signature.
    if (last.type === 'reasoning.summary' && detail.type === 'reasoning.summary') last.summary += detail.summary;
    if (last.type === 'reasoning.text' && detail.type === 'reasoning.text') {
      if (detail.text) last.text = (last.text ?? '') + detail.text;
      if (detail.signature) last.signature = detail.signature;
    }
  }

  #more(kind: Part['kind'], source: Part['source'], key: unknown, text: string): void {
    if (text === '') return;
    let part = this.#open;
    if (part === null || part.source !== source || part.key !== key) {
      this.closeParts();
      part = this.#openPart(kind, source, key);
      this.#open = part;
    }
    part.text += text;
    this.sink.delta(part.head, text);
  }

  #openPart(kind: Part['kind'], source: Part['source'], key: unknown): Part {
    const isSummary = kind === 'summary';
    const parts = isSummary ? this.#summary : this.#content;
    const number = parts.length;
    const place = { ...this.place, [isSummary ? 'summary_index' : 'content_index']: number };
    const type = isSummary ? 'response.reasoning_summary_text.delta' : 'response.reasoning_text.delta';
    this.sink.emit(isSummary ? 'response.reasoning_summary_part.added' : 'response.content_part.added', {
      ...place,
      part: wirePart(kind, ''),
    });
    const part: Part = { kind, source, number, key, head: this.sink.deltaHead(type, place), text: '' };
    parts.push(part);
    return part;
  }

  protected closeParts(): void {
    const part = this.#open;
    if (part === null) return;
    this.#open = null;
    const { kind, number, text } = part;
    const isSummary = kind === 'summary';
    const place = { ...this.place, [isSummary ? 'summary_index' : 'content_index']: number };
    this.sink.emit(isSummary ? 'response.reasoning_summary_text.done' : 'response.reasoning_text.done', {
      ...place,
      text,
    });
    this.sink.emit(isSummary ? 'response.reasoning_summary_part.done' : 'response.content_part.done', {
      ...place,
      part: wirePart(kind, text),
    });
  }

  override close(status: 'completed' | 'incomplete'): void {
    this.#sealed = this.#seal();
    super.close(status);
  }

  /**
   * Returns the text that the client sends back, so that the provider recognises its own reasoning; null: nothing is
   * needed.
   */
  #seal(): string | null {
    const sealed = this.#details.find((one) => one.type === 'reasoning.encrypted');
    // A chat upstream needs the format again, which most clients do not keep.
    const isKnown = this.#isNative ? isResponsesFormat(sealed?.format) : sealed?.format === usual;
    const isOwn = this.#encrypted === 1 && this.#signatures === 0 && isKnown;
    // The provider checks the id. In a stream, it may have come after the item was announced with another.
    if (sealed !== undefined && isOwn && (!sealed.id || sealed.id === this.id)) return sealed.data;
    if (this.#details.length === 0 || (this.#isNative && this.#encrypted === 0)) return null;
    return packReasoning(this.#details);
  }

  toObject(): Loose {
    const item: Loose = {
      ...this.extra,
      id: this.id,
      type: 'reasoning',
      status: this.status,
      summary: this.#summary.map(({ kind, text }) => wirePart(kind, text)),
    };
    if (this.#content.length > 0) item.content = this.#content.map(({ kind, text }) => wirePart(kind, text));
    if (this.#sealed !== null) item.encrypted_content = this.#sealed;
    // Several signatures have no place here: `encrypted_content` has them all.
    const signed = this.#details.find((one) => one.type === 'reasoning.text' && one.signature);
    if (this.isClosed && this.#signatures === 1 && signed?.type === 'reasoning.text') item.signature = signed.signature;
    const format = this.#details[0]?.format;
    if (this.isClosed && knownFormats.includes(format)) item.format = format;
    return item;
  }
}

function wirePart(kind: Part['kind'], text: string): Loose {
  return { type: kind === 'summary' ? 'summary_text' : 'reasoning_text', text };
}

/** Fields that are joined or equal in the fragments of one part. A fragment with other fields stays by itself. */
const joinable: readonly string[] = ['type', 'id', 'index', 'format', 'text', 'summary', 'signature'];

function isSamePart(last: ReasoningDetail, next: ReasoningDetail): boolean {
  if (last.type !== next.type || last.type === 'reasoning.encrypted') return false;
  if (last.index !== next.index || (last.id ?? null) !== (next.id ?? null)) return false;
  if ((last.format ?? null) !== (next.format ?? null)) return false;
  // A signature ends a thought that has no index.
  if (last.type === 'reasoning.text' && last.signature) return false;
  for (const key in next) if (!joinable.includes(key)) return false;
  for (const key in last) if (!joinable.includes(key)) return false;
  return true;
}
