import type { InFlight, Place } from '../base/async/in-flight.ts';
import type { Pending } from '../base/async/pending.ts';
import { StopSwitch } from '../base/async/stop.ts';
import type { Clock } from '../base/clock.ts';
import { CallAborted } from '../call/abort.ts';
import type { HandleContext } from './context.ts';

/**
 * A client's signal, with the request it belongs to. In Node, the signal of a `Request` follows the caller's own only as
 * long as that `Request` lives: once it is collected, an abort is lost (nodejs/undici#3644).
 */
export type Leaving = Pick<Request, 'signal'>;

/** A request in flight. It has one signal for all that may stop it: the client, the clock, the gateway. */
export class Watch {
  /** Aborted when the request is stopped. */
  readonly signal = new StopSwitch();
  readonly #open: InFlight<Watch>;
  readonly #place: Place<Watch>;
  readonly #client: Leaving | null;
  readonly #stopListening: () => void;
  readonly #stopClock: () => void;
  #waiting: ((reason: CallAborted) => void) | null = null;

  constructor(
    open: InFlight<Watch>,
    clock: Clock,
    allowedMs: number,
    /** Tells that the client leaves; null: the host tells, or nothing does. */
    client: Leaving | null,
    onLeave?: HandleContext['onLeave'],
  ) {
    this.#open = open;
    this.#client = client;
    const leave = () => this.abort();
    this.#stopListening = onLeave ? onLeave(leave, () => this.stop('closing')) : onSignal(client, leave);
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
    this.stop('client_left', this.#client?.signal.reason);
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
function onSignal(client: Leaving | null, leave: () => void): () => void {
  if (client === null) return () => undefined;
  const { signal } = client;
  if (signal.aborted) leave();
  else signal.addEventListener('abort', leave, { once: true });
  return () => signal.removeEventListener('abort', leave);
}
