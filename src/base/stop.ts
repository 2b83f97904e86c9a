/** What can be asked of an AbortSignal, and of a `StopSwitch`. */
export interface StopSignal {
  readonly aborted: boolean;
  readonly reason: unknown;
  throwIfAborted(): void;
  addEventListener(type: 'abort', listener: () => void, options?: { once?: boolean }): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/**
 * Stops one piece of work: an AbortController and its signal in one, each listener called once. A request needs several
 * and hardly ever uses one; with the runtime's own they took a tenth of a small request's time. Where somebody wants an
 * AbortSignal, `signal` makes one.
 */
export class StopSwitch implements StopSignal {
  aborted = false;
  reason: unknown;
  /** Most have one, and many none. */
  #listeners: (() => void)[] | null = null;
  #signal: AbortSignal | null = null;

  /** The first call counts. */
  abort(reason: unknown): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    const listeners = this.#listeners;
    this.#listeners = null;
    if (listeners !== null) for (const listener of listeners) listener();
  }

  throwIfAborted(): void {
    if (this.aborted) throw this.reason;
  }

  addEventListener(_type: 'abort', listener: () => void): void {
    if (this.aborted) return;
    if (this.#listeners === null) this.#listeners = [listener];
    else this.#listeners.push(listener);
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    const listeners = this.#listeners;
    if (listeners === null) return;
    const at = listeners.lastIndexOf(listener);
    if (at === listeners.length - 1) listeners.pop();
    else if (at >= 0) listeners.splice(at, 1);
  }

  get signal(): AbortSignal {
    if (this.#signal === null) {
      const controller = new AbortController();
      this.#signal = controller.signal;
      if (this.aborted) controller.abort(this.reason);
      else this.addEventListener('abort', () => controller.abort(this.reason));
    }
    return this.#signal;
  }
}
