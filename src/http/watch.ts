import type { Clock } from '../base/clock.ts';
import type { InFlight, Place } from '../base/in-flight.ts';
import type { Pending } from '../base/pending.ts';
import { StopSwitch } from '../base/stop.ts';
import { CallAborted } from '../call/abort.ts';
import type { HandleContext } from './context.ts';

/** The host app itself waits for what it calls. */
export const neverLeaves = () => () => undefined;

/** A request that is in flight: one signal for all that may stop it, the client, the clock, the gateway. */
export class Watch {
  /** Aborted when the request is stopped. */
  readonly signal = new StopSwitch();
  readonly #open: InFlight<Watch>;
  readonly #place: Place<Watch>;
  readonly #request: Request | null;
  readonly #hasHost: boolean;
  readonly #stopListening: () => void;
  readonly #stopClock: () => void;
  #waiting: ((reason: CallAborted) => void) | null = null;

  constructor(
    open: InFlight<Watch>,
    clock: Clock,
    allowedMs: number,
    /** null: nobody else can stop it. */
    request: Request | null,
    onLeave: HandleContext['onLeave'],
  ) {
    this.#open = open;
    this.#request = request;
    this.#hasHost = onLeave !== undefined;
    const leave = () => this.abort();
    this.#stopListening = onLeave ? onLeave(leave) : onSignal((request as Request).signal, leave);
    this.#stopClock = clock.after(allowedMs, () => this.stop('deadline'));
    this.#place = open.add(this);
  }

  stop(why: CallAborted['why'], cause?: unknown): void {
    const reason = new CallAborted(why, cause);
    this.signal.abort(reason);
    this.#waiting?.(reason);
  }

  /** The client has left. */
  abort(): void {
    this.stop('client_left', this.#hasHost ? undefined : this.#request?.signal.reason);
  }

  /** The client has left a stream, which is its end. */
  left(): void {
    this.abort();
    this.ended();
  }

  /** The request has ended. */
  ended(): void {
    this.#stopClock();
    this.#stopListening();
    this.#open.delete(this.#place);
  }

  /**
   * Waits for one thing, no longer than until the request is stopped. A slot: a listener measured more than its work.
   */
  unlessStopped<T>(pending: Pending<T>, failed: (error: unknown) => unknown): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.signal.aborted) return reject(this.signal.reason);
      this.#waiting = reject;
      pending(
        (value) => {
          this.#waiting = null;
          resolve(value);
        },
        (error) => {
          this.#waiting = null;
          reject(failed(error));
        },
      );
    });
  }
}

/** @returns what stops listening */
function onSignal(signal: AbortSignal, leave: () => void): () => void {
  if (signal.aborted) leave();
  else signal.addEventListener('abort', leave, { once: true });
  return () => signal.removeEventListener('abort', leave);
}
