import type { ReplyEnd, ReplyStream } from '../../call/reply.ts';

/** The facts of its parts that a joined stream asks for. */
interface JoinedSourceInput {
  /** Returns the place of the first part whose events have told of a failure; null: none has. */
  failedAt(): number | null;
  /** Returns the frames for a part that failed before it had a stream; null: the stream breaks. */
  framesOf(error: unknown, at: number): string | null;
  /** Stops the parts that have not ended. */
  stop(): void;
}

type Read = { readonly at: number } & ({ readonly bytes: Uint8Array | null } | { readonly error: unknown });

/**
 * The streams of several prompts as one: each is read as soon as the client wants more, and what comes first goes first.
 * The failure of one ends it, and stops the others.
 */
export class JoinedSource implements ReplyStream {
  readonly #sources: readonly Promise<ReplyStream>[];
  readonly #input: JoinedSourceInput;
  /** The parts that have not ended and of which no read is pending. */
  readonly #idle: Set<number>;
  /** The number of parts that have not ended. */
  #left: number;
  #read: Read[] = [];
  #wake: (() => void) | null = null;
  #end: ReplyEnd | null = null;
  #listener: ((end: ReplyEnd) => void) | null = null;
  #cutListener: ((error: unknown) => void) | null = null;

  constructor(sources: readonly Promise<ReplyStream>[], input: JoinedSourceInput) {
    this.#sources = sources;
    this.#input = input;
    this.#idle = new Set(sources.keys());
    this.#left = sources.length;
    for (const source of sources)
      source.then(
        (opened) => {
          if (this.#end !== null) opened.cancel();
          else opened.onCut?.((error) => this.#cut(error));
        },
        () => {
          // The read of this part says so.
        },
      );
  }

  onEnd(listener: (end: ReplyEnd) => void): void {
    if (this.#end !== null) listener(this.#end);
    else this.#listener = listener;
  }

  onCut(listener: (error: unknown) => void): void {
    this.#cutListener = listener;
  }

  async read(): Promise<Uint8Array | null> {
    for (;;) {
      if (this.#end !== null) return null;
      for (const at of this.#idle) void this.#pull(at);
      this.#idle.clear();
      if (this.#left === 0) {
        this.#finish('sent');
        return null;
      }
      if (this.#read.length === 0)
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      const next = this.#read.shift();
      if (next === undefined || this.#end !== null) continue;
      if ('error' in next) return this.#broken(next.error, next.at);
      if (next.bytes === null) {
        this.#left--;
        continue;
      }
      if (this.#input.failedAt() === next.at) {
        this.#stopOthers();
        this.#finish('sent');
        return next.bytes;
      }
      this.#idle.add(next.at);
      if (next.bytes.length > 0) return next.bytes;
    }
  }

  cancel(): void {
    if (this.#end !== null) return;
    this.#stopOthers();
    this.#finish('cancelled');
  }

  async #pull(at: number): Promise<void> {
    let read: Read;
    try {
      const source = (await this.#sources[at]) as ReplyStream;
      read = { at, bytes: await source.read() };
    } catch (error) {
      read = { at, error };
    }
    this.#read.push(read);
    this.#awake();
  }

  #broken(error: unknown, at: number): Uint8Array {
    const frames = this.#input.framesOf(error, at);
    this.#stopOthers();
    this.#finish('sent');
    if (frames === null) throw error;
    return new TextEncoder().encode(frames);
  }

  #stopOthers(): void {
    this.#input.stop();
    for (const source of this.#sources)
      source.then(
        (opened) => opened.cancel(),
        () => {
          // It has failed by itself.
        },
      );
  }

  #cut(error: unknown): void {
    if (this.#end === null) this.#cutListener?.(error);
  }

  #awake(): void {
    const wake = this.#wake;
    this.#wake = null;
    wake?.();
  }

  #finish(end: ReplyEnd): void {
    if (this.#end !== null) return;
    this.#end = end;
    this.#awake();
    this.#listener?.(end);
  }
}
