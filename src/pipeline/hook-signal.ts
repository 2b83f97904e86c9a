import { type StopSignal, StopSwitch } from '../base/stop.ts';

/** The signal of a hook. It is made when a hook looks at it: most do not. */
export class HookSignal {
  readonly #ofCall: StopSignal;
  #own: StopSwitch | null = null;
  #aborted: { reason: unknown } | null = null;

  /** @param ofCall  the signal of the client call: what aborts that one aborts this one */
  constructor(ofCall: StopSignal) {
    this.#ofCall = ofCall;
  }

  get signal(): AbortSignal {
    if (this.#own === null) {
      const own = new StopSwitch();
      this.#own = own;
      if (this.#aborted !== null) own.abort(this.#aborted.reason);
      else if (this.#ofCall.aborted) own.abort(this.#ofCall.reason);
      else this.#ofCall.addEventListener('abort', () => own.abort(this.#ofCall.reason), { once: true });
    }
    return this.#own.signal;
  }

  abort(reason: unknown): void {
    this.#aborted ??= { reason };
    this.#own?.abort(reason);
  }
}
