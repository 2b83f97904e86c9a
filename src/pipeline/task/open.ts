import type { ByteSource } from '../../base/bytes.ts';
import { type FrameEvent, type Framer, type Framing, FramingError } from '../../base/framing/framing.ts';
import { peek } from '../../base/framing/peek.ts';
import type { Redactor } from '../../base/secrets.ts';
import type { TaskDecoder, TaskPart } from '../../dialects/tasks/contract.ts';
import type { TransportResponse } from '../../transport/transport.ts';
import type { AttemptContext } from '../attempt/context.ts';
import { withoutSecrets } from '../secrets/redaction.ts';
import { drain } from '../stream/drain.ts';
import { badStream } from '../stream/events.ts';
import type { TaskBatch } from './task.ts';

const firstOfResponse = 'the first of its response';
/** The most events that may come before the first that says something. */
const mostPreamble = 1000;

/** A streamed response of a task whose first part is there. The owner reads it to its end, or closes it. */
export class OpenTask {
  readonly batch: TaskBatch;
  readonly #context: AttemptContext;
  readonly #decoder: TaskDecoder;
  readonly #source: ByteSource;
  readonly #framer: Framer | null;
  readonly #release: () => void;
  #first: TaskPart[] | null = null;
  #isOver = false;

  private constructor(
    context: AttemptContext,
    batch: TaskBatch,
    decoder: TaskDecoder,
    source: ByteSource,
    release: () => void,
  ) {
    const { limits } = context.settings;
    this.batch = batch;
    this.#context = context;
    this.#decoder = decoder;
    this.#source = source;
    // One event may hold all of an image.
    this.#framer = decoder.framing?.framer(Math.max(limits.eventBytes, limits.bodyBytes)) ?? null;
    this.#release = release;
  }

  /**
   * Reads a response up to its first part.
   * @param release  called once nothing of the upstream is needed any more
   * @returns the rest of a body that is no stream of events, to be read as JSON
   * @throws UpstreamError where it fails before that: another target may take over
   */
  static async read(
    context: AttemptContext,
    response: TransportResponse,
    batch: TaskBatch,
    decoder: TaskDecoder,
    release: () => void,
  ): Promise<OpenTask | TransportResponse> {
    const { timeouts } = context.settings;
    context.watchdog.arm(timeouts.firstEventMs, firstOfResponse);
    const found = await sourceOf(response.body, decoder.framing);
    if (found.isStream === false) return { ...response, body: found.source };
    const open = new OpenTask(context, batch, decoder, found.source, release);
    await open.#readFirst();
    context.watchdog.disarm();
    return open;
  }

  async #readFirst(): Promise<void> {
    const parts: TaskPart[] = [];
    while (!parts.some(({ kind }) => kind === 'piece' || kind === 'done')) {
      const more = this.#isOver ? null : await this.#next();
      if (more === null || parts.length > mostPreamble) throw badStream('The provider sent a stream without content.');
      for (const part of more) if (part.kind === 'error') throw part.error;
      parts.push(...more);
    }
    this.#first = parts;
  }

  /**
   * Returns the next parts, possibly none; null after the last.
   * @throws UpstreamError; the reason of the signal after an abort
   */
  async read(): Promise<readonly TaskPart[] | null> {
    const first = this.#first;
    if (first !== null) {
      this.#first = null;
      return first;
    }
    if (this.#isOver) return null;
    const { settings, watchdog } = this.#context;
    const { idleMs, firstEventMs } = settings.timeouts;
    watchdog.arm(this.#decoder.isSlow === true ? Math.max(idleMs, firstEventMs) : idleMs, 'the next event');
    const parts = await this.#next();
    watchdog.disarm();
    return parts;
  }

  /** The response is complete: reads on to the end of the connection, so that it can be used again. */
  finish(): void {
    if (this.#isOver) this.#release();
    else drain(this.#source, this.#context.settings.clock, () => this.close());
  }

  /** Lets go of the upstream. Safe to call more than once. */
  close(): void {
    this.#isOver = true;
    this.#release();
    this.#source.cancel();
  }

  async #next(): Promise<readonly TaskPart[]> {
    const bytes = await this.#source.read();
    const framer = this.#framer;
    if (bytes === null) this.#isOver = true;
    // Bytes of a medium hold no key in clear.
    if (framer === null) return bytes === null ? this.#decoder.end() : [{ kind: 'piece', piece: bytes }];
    const parts: TaskPart[] = [];
    try {
      if (bytes === null) {
        if (framer.last()) parts.push(...this.#decoded(framer.read()));
      } else {
        framer.push(bytes);
        while (framer.next()) parts.push(...this.#decoded(framer.read()));
        framer.release();
      }
    } catch (error) {
      if (!(error instanceof FramingError)) throw error;
      throw badStream(`The provider's stream broke: ${error.message}.`);
    }
    return bytes === null ? [...parts, ...this.#decoder.end()] : parts;
  }

  #decoded(event: FrameEvent | null): readonly TaskPart[] {
    if (event === null) return [];
    const { redactor } = this.#context;
    const parts = this.#decoder.decode(redactor.redact(event.data), event.name);
    return parts.map((part) => (part.kind === 'error' ? cleaned(part, redactor) : part));
  }
}

function cleaned(part: TaskPart & { kind: 'error' }, redactor: Redactor): TaskPart {
  return { ...part, error: withoutSecrets(part.error, redactor) };
}

/** @returns isStream  null: the body is not cut into events */
async function sourceOf(body: ByteSource, framing: Framing | null) {
  if (framing === null) return { source: body, isStream: null };
  const peeked = await peek(body, framing);
  return { source: peeked as ByteSource, isStream: peeked.isStream };
}
