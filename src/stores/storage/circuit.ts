import type { Clock } from '../../base/clock.ts';

/**
 * Stops calls to a server that no longer responds. Otherwise each call would wait for the whole time limit, and the
 * server would get all of them at once when it comes back.
 */
export interface Circuit {
  /** @returns null: do not make the call; otherwise, report the outcome of the call to the passage once */
  enter(): Passage | null;
  /** true: only single calls are made. */
  isOpen(): boolean;
}

export interface Passage {
  /** To be called when the server has responded, also with an error. */
  responded(): void;
  /** To be called when the server has not responded. */
  failed(cause: unknown): void;
}

/** The call was not made, so it has certainly changed nothing. */
export class NotSentError extends Error {
  override readonly name = 'NotSentError';

  /** @param cause  the reason; absent: the server has not responded for a while */
  constructor(message = 'the store has not responded for a while', cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
  }
}

/** Tells whether a failed call was never made, so that it has certainly changed nothing. false: not known. */
export function wasNotSent(error: unknown): boolean {
  return error instanceof Error && (error instanceof NotSentError || wasNotSent(error.cause));
}

export interface CircuitOptions {
  clock: Clock;
  /** After this many failures without a response in between, no more calls are made. */
  failures: number;
  /** The time between two single calls that find out whether the server is back. */
  probeMs: number;
  onOpen?: (cause: unknown) => void;
  onClose?: () => void;
}

export function createCircuit({ clock, failures, probeMs, onOpen, onClose }: CircuitOptions): Circuit {
  let inARow = 0;
  /** null: the circuit is closed, and all calls are made. */
  let nextProbeMs: number | null = null;
  // A call from before the last change says nothing about the time after it. So each era has its own passage, which all
  // calls of the era share.
  let passage = newEra();

  function newEra(): Passage {
    const mine: Passage = {
      responded() {
        if (mine !== passage) return;
        inARow = 0;
        if (nextProbeMs === null) return;
        nextProbeMs = null;
        passage = newEra();
        onClose?.();
      },
      failed(cause) {
        if (mine !== passage || nextProbeMs !== null) return;
        inARow++;
        if (inARow < failures) return;
        nextProbeMs = clock.monotonic() + probeMs;
        passage = newEra();
        onOpen?.(cause);
      },
    };
    return mine;
  }

  return {
    isOpen: () => nextProbeMs !== null,
    enter() {
      if (nextProbeMs !== null) {
        const nowMs = clock.monotonic();
        if (nowMs < nextProbeMs) return null;
        nextProbeMs = nowMs + probeMs;
      }
      return passage;
    },
  };
}
