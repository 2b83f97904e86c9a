import type { InFlight, Place } from '../base/async/in-flight.ts';
import type { Pending } from '../base/async/pending.ts';
import { StopSwitch } from '../base/async/stop.ts';
import type { Clock } from '../base/clock.ts';
import { CallAborted } from '../call/abort.ts';
import type { HandleContext } from './context.ts';

/** A request in flight. It has one signal for all that may stop it: the client, the clock, the gateway. */
export class Watch {
  /** Aborted when the request is stopped. */
  readonly signal = new StopSwitch();
  readonly #open: InFlight<Watch>;
  readonly #place: Place<Watch>;
  readonly #ofClient: AbortSignal | null;
  readonly #stopListening: () => void;
  readonly #stopClock: () => void;
  #waiting: ((reason: CallAborted) => void) | null = null;

  constructor(
    open: InFlight<Watch>,
    clock: Clock,
    allowedMs: number,
    /** The client's own signal; null: it has none. Never its request, whose body would live as long as a stream. */
    ofClient: AbortSignal | null,
    onLeave?: HandleContext['onLeave'],
  ) {
    this.#open = open;
    this.#ofClient = ofClient;
    const leave = () => this.abort();
    this.#stopListening = onLeave ? onLeave(leave, () => this.stop('closing')) : onSignal(ofClient, leave);
    this.#stopClock = clock.after(allowedMs, () => this.stop('deadline'));
    this.#place = open.add(this);
  }

  stop(why: CallAborted['why'], cause?: unknown): void {
    const reason = new CallAborted(why, cause);
    this.signal.abort(reason);
    this.#waiting?.(reason);
  }

  /** Stops the request, because the client has left. */
  abort(): void {
    this.stop('client_left', this.#ofClient?.reason);
  }

  /** Ends a stream, because the client has left. */
  left(): void {
    this.abort();
    this.ended();
  }

  /** Ends the request. */
  ended(): void {
    this.#stopClock();
    this.#stopListening();
    this.#open.delete(this.#place);
  }

  /**
   * Waits for one result, at most until the request is stopped. A single field instead of a listener: a listener cost
   * more than the work itself.
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

/** @returns a function that stops listening */
function onSignal(signal: AbortSignal | null, leave: () => void): () => void {
  if (signal === null) return () => undefined;
  if (signal.aborted) leave();
  else signal.addEventListener('abort', leave, { once: true });
  return () => signal.removeEventListener('abort', leave);
}
