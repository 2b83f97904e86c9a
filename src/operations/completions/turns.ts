import type { StopSignal } from '../../base/async/stop.ts';
import { isGatewayError } from '../../base/errors.ts';

/** Waits for its turn. */
interface Waiting {
  resolve(): void;
  reject(reason: unknown): void;
}

/**
 * The prompts of one request: none is sent before the money of all is held, and some are sent at once. After the first
 * failure no further one is sent, and its money is given back.
 */
export class Turns {
  readonly #signal: StopSignal;
  readonly #stopped: () => Error;
  #free: number;
  /** The prompts whose money is not held. */
  readonly #missing: Set<number>;
  readonly #running = new Set<number>();
  #waiting: (Waiting & { prompt: number })[] = [];
  #failure: { error: unknown } | null = null;

  /**
   * @param signal   of the request
   * @param stopped  makes the end of a prompt for whose response nobody waits any more
   */
  constructor(prompts: number, atOnce: number, signal: StopSignal, stopped: () => Error) {
    this.#signal = signal;
    this.#stopped = stopped;
    this.#free = atOnce;
    this.#missing = new Set(Array.from({ length: prompts }, (_, at) => at));
    signal.addEventListener('abort', () => this.#stop(signal.reason));
  }

  /** The error of the first prompt that failed; null: none has. */
  get failure(): { error: unknown } | null {
    return this.#failure;
  }

  /** The money of a prompt is held. Resolves when it is its turn. @throws the end of a prompt that is not sent, as another one has failed */
  held(prompt: number): Promise<void> {
    this.begins(prompt);
    // A plugin has asked a second model for it.
    if (this.#running.has(prompt)) return Promise.resolve();
    if (this.#signal.aborted) return Promise.reject(this.#signal.reason);
    if (this.#failure !== null) return Promise.reject(this.#stopped());
    return new Promise((resolve, reject) => {
      this.#waiting.push({ prompt, resolve, reject });
      this.#next();
    });
  }

  /** A prompt has a response, which may need no money. */
  begins(prompt: number): void {
    if (this.#missing.delete(prompt)) this.#next();
  }

  /** A prompt has come to its end. */
  ended(prompt: number): void {
    this.begins(prompt);
    if (!this.#running.delete(prompt)) return;
    this.#free++;
    this.#next();
  }

  /** A prompt has failed. @returns the error, which names the prompt */
  failed(prompt: number, error: unknown): unknown {
    const named = isGatewayError(error) ? error.with({ metadata: { prompt } }) : error;
    if (this.#failure === null) {
      this.#failure = { error: named };
      this.#stop(this.#stopped());
    }
    this.ended(prompt);
    return named;
  }

  #next(): void {
    if (this.#missing.size > 0) return;
    while (this.#free > 0) {
      const next = this.#waiting.shift();
      if (next === undefined) return;
      this.#free--;
      this.#running.add(next.prompt);
      next.resolve();
    }
  }

  #stop(reason: unknown): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const { reject } of waiting) reject(reason);
  }
}
