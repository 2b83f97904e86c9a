/** The part of AbortSignal that `StopSwitch` also has. */
export interface StopSignal {
  /** true: no caller waits for the result any more. */
  readonly aborted: boolean;
  /** The reason for the stop. */
  readonly reason: unknown;
  /** Throws the reason if the signal is aborted. */
  throwIfAborted(): void;
  /** Calls the listener when the signal is aborted. */
  addEventListener(type: 'abort', listener: () => void, options?: { once?: boolean }): void;
  /** Removes the listener. */
  removeEventListener(type: 'abort', listener: () => void): void;
}

/**
 * Stops one task. It is an AbortController and its signal in one object, and calls each listener once. A request needs
 * several and rarely uses one. The runtime's own AbortController took a tenth of a small request's time. `signal` makes
 * an AbortSignal for code that needs one.
 */
export class StopSwitch implements StopSignal {
  aborted = false;
  reason: unknown;
  /** The first of a linked list: most switches have one listener, many have none. */
  #first: Listening | null = null;
  #signal: AbortSignal | null = null;

  /** Only the first call has an effect. */
  abort(reason: unknown): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    let listening = this.#first;
    this.#first = null;
    for (; listening !== null; listening = listening.next) listening.listener();
  }

  throwIfAborted(): void {
    if (this.aborted) throw this.reason;
  }

  addEventListener(_type: 'abort', listener: () => void): void {
    if (this.aborted) return;
    const added = new Listening(listener);
    if (this.#first === null) {
      this.#first = added;
      return;
    }
    let last = this.#first;
    while (last.next !== null) last = last.next;
    last.next = added;
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    let before: Listening | null = null;
    for (let at = this.#first; at !== null; at = at.next) {
      if (at.listener === listener) {
        if (before === null) this.#first = at.next;
        else before.next = at.next;
        return;
      }
      before = at;
    }
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

/**
 * One listener, with the next one. A class, not a literal or an array: docs/performance.md, "Classes instead of literals".
 */
class Listening {
  readonly listener: () => void;
  next: Listening | null = null;

  constructor(listener: () => void) {
    this.listener = listener;
  }
}
