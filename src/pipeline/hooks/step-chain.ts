import { disregard } from '../../base/async/tell.ts';
import type { ResponseEnd } from '../../call/generation.ts';
import type { ResponseStep } from '../../call/hooks.ts';
import type { ChatChunk } from '../../schema/chat/chunk.ts';

const nothing: readonly ChatChunk[] = [];

/** @throws TypeError for a promise: such a step says `isAsync` */
function listOf(released: ReturnType<ResponseStep['push']>): readonly ChatChunk[] {
  if (Array.isArray(released)) return released;
  disregard(released);
  throw new TypeError('A step without isAsync: expected it to return a list of chunks');
}

/** Several steps as one. */
export class StepChain {
  readonly #steps: readonly ResponseStep[];
  #hasEnded = false;

  constructor(steps: readonly ResponseStep[]) {
    this.#steps = steps;
  }

  get isEmpty(): boolean {
    return this.#steps.length === 0;
  }

  /** @throws the error of a step */
  async push(chunks: readonly ChatChunk[]): Promise<readonly ChatChunk[]> {
    return this.#through(chunks, 0);
  }

  /**
   * Ends the steps after the last chunk. @returns the chunks that they have held back, each through the steps behind it
   */
  async end(end: ResponseEnd): Promise<readonly ChatChunk[]> {
    if (this.#hasEnded) return nothing;
    this.#hasEnded = true;
    const released: ChatChunk[] = [];
    for (let at = 0; at < this.#steps.length; at++) released.push(...(await this.#endOf(at, end)));
    return released;
  }

  async #endOf(at: number, end: ResponseEnd): Promise<readonly ChatChunk[]> {
    const step = this.#steps[at] as ResponseStep;
    const held = step.end?.(end) ?? nothing;
    const chunks = step.isAsync === true ? await held : listOf(held);
    return chunks.length === 0 ? nothing : this.#through(chunks, at + 1);
  }

  /** Ends the steps when nobody gets their chunks any more: they still learn of the end. */
  abandon(end: ResponseEnd): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    void this.#tellAll(end);
  }

  /** Tells all steps of the end. An error of one reaches nobody: the steps behind it still learn of the end. */
  async #tellAll(end: ResponseEnd): Promise<void> {
    for (let at = 0; at < this.#steps.length; at++) {
      try {
        await this.#endOf(at, end);
      } catch {}
    }
  }

  async #through(chunks: readonly ChatChunk[], from: number): Promise<readonly ChatChunk[]> {
    let current = chunks;
    for (let at = from; at < this.#steps.length && current.length > 0; at++) {
      const step = this.#steps[at] as ResponseStep;
      const next: ChatChunk[] = [];
      for (const chunk of current) {
        const pushed = step.push(chunk);
        next.push(...(step.isAsync === true ? await pushed : listOf(pushed)));
      }
      current = next;
    }
    return current;
  }
}
