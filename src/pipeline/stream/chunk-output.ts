import type { Framer } from '../../base/framing/framing.ts';
import type { Redactor } from '../../base/secrets.ts';
import { OutputBuffer } from '../../base/text/output.ts';
import type { ResponseEncoder, ResponseHead } from '../../call/response-encoder.ts';
import type { ChatChunk } from '../../schema/chat/chunk.ts';
import type { OpenSecrets } from '../secrets/open-secrets.ts';
import type { EventReader } from './events.ts';
import { forwardMatch, learnTemplate, type Template } from './passthrough-template.ts';

/** Takes the chunks of an upstream's stream in one of two ways: as objects, or as bytes in the client's format. */
export interface ChunkOutput {
  chunk(chunk: ChatChunk): void;
  /**
   * Forwards the event that the framer stands at as bytes.
   * @returns bytes of output text in it; -1: the event has to be decoded
   */
  forward(framer: Framer): number;
  /** The event that was just decoded is exactly this chunk: the next one like it may be forwarded. */
  learn(reader: EventReader, chunk: ChatChunk): void;
}

/** Takes the chunks of a stream as the bytes that the client gets. */
export abstract class Forwarding implements ChunkOutput {
  protected readonly head: ResponseHead;
  protected readonly encoder: ResponseEncoder;
  readonly #redactor: Redactor;
  readonly #secrets: OpenSecrets;
  readonly #out = new OutputBuffer();

  /**
   * @param redactor  takes out keys that the upstream repeats: an event that holds one is decoded
   * @param secrets   the secrets that earlier events have begun
   */
  constructor(head: ResponseHead, encoder: ResponseEncoder, redactor: Redactor, secrets: OpenSecrets) {
    this.head = head;
    this.encoder = encoder;
    this.#redactor = redactor;
    this.#secrets = secrets;
  }

  abstract forward(framer: Framer): number;
  abstract learn(reader: EventReader, chunk: ChatChunk): void;

  chunk(chunk: ChatChunk): void {
    this.#out.write(this.encoder.chunk(withHead(chunk, this.head)));
  }

  /** Makes room for the output of a buffer of this size. */
  begin(size: number): void {
    this.#out.begin(size);
  }

  take(): Uint8Array<ArrayBuffer> {
    return this.#out.take();
  }

  /** Forwards the event that the framer stands at, where it matches the template. @returns as `forward` */
  protected forwardBy(template: Template, framer: Framer): number {
    return forwardMatch(template, framer, this.#redactor, this.#secrets, this.#out);
  }
}

/** Collects chunks, for steps that need to see objects. */
export class ChunkCollector implements ChunkOutput {
  readonly #head: ResponseHead;
  #chunks: ChatChunk[] = [];

  constructor(head: ResponseHead) {
    this.#head = head;
  }

  chunk(chunk: ChatChunk): void {
    this.#chunks.push(withHead(chunk, this.#head));
  }

  forward(): number {
    return -1;
  }

  learn(): void {}

  take(): readonly ChatChunk[] {
    const chunks = this.#chunks;
    this.#chunks = [];
    return chunks;
  }
}

/**
 * The most shapes that are learned. A stream whose events keep changing shape is decoded; learning from each would only
 * cost.
 */
const maxLearned = 8;

/**
 * Passthrough: forwards events as bytes. Within a stream, nearly all events differ in one string only. The output
 * learns the constant bytes around that string from an event that was decoded. Events that match are compared and
 * copied.
 */
export class Passthrough extends Forwarding {
  #templates: Template[] = [];
  #learned = 0;

  forward(framer: Framer): number {
    for (const template of this.#templates) {
      const textBytes = this.forwardBy(template, framer);
      if (textBytes >= 0) return textBytes;
    }
    return -1;
  }

  learn({ framer }: EventReader, chunk: ChatChunk): void {
    if (this.#learned >= maxLearned) return;
    const template = learnTemplate(textOfEvent(framer), withHead(chunk, this.head), (one) => this.encoder.chunk(one));
    if (!template) return;
    this.#learned++;
    // The newest first: a stream alternates between two, its reasoning and its text.
    this.#templates = [template, ...this.#templates.slice(0, 1)];
  }
}

/** Returns the event that the framer stands at as text, with its blank line. */
export function textOfEvent({ buffer, start, end }: Framer): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(buffer.subarray(start, end));
}

export function withHead(chunk: ChatChunk, head: ResponseHead): ChatChunk {
  const { id: _id, object: _object, created: _created, model: _model, provider: _provider, choices, ...rest } = chunk;
  return {
    id: head.id,
    object: 'chat.completion.chunk',
    created: head.created,
    model: head.model,
    provider: head.provider,
    ...rest,
    choices,
  };
}
