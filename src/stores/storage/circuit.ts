import type { Clock } from '../../base/clock.ts';

/**
 * Keeps calls from a server that has stopped to answer. Each would wait for the whole time limit, and what was sent
 * would pile up there for the moment it comes back.
 */
export interface Circuit {
  /** null: not now. Else to be told, once, how it went. */
  enter(): Passage | null;
}

export interface Passage {
  /** The server answered, be it with an error. */
  answered(): void;
  /** Nobody answered. */
  failed(cause: unknown): void;
}

/** The call was not made: the server has not answered for a while. */
export class NotSentError extends Error {
  override readonly name = 'NotSentError';

  constructor() {
    super('the store has not answered for a while');
  }
}

/** Whether a call that failed was never made, and so has done nothing. false: nobody knows. */
export function wasNotSent(error: unknown): boolean {
  return error instanceof Error && (error instanceof NotSentError || wasNotSent(error.cause));
}

export interface CircuitOptions {
  clock: Clock;
  /** After so many failures without an answer in between, calls are let through no more. */
  failures: number;
  /** How often one is let through then, to find out whether the server is back. */
  probeMs: number;
  onOpen?: (cause: unknown) => void;
  onClose?: () => void;
}

export function createCircuit({ clock, failures, probeMs, onOpen, onClose }: CircuitOptions): Circuit {
  let inARow = 0;
  /** null: closed, all pass. */
  let nextProbeMs: number | null = null;
  // What was sent before the last change says nothing about the time after it: each era has a passage of its own, the same
  // for all its calls.
  let passage = newEra();

  function newEra(): Passage {
    const mine: Passage = {
      answered() {
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
        nextProbeMs = clock.now() + probeMs;
        passage = newEra();
        onOpen?.(cause);
      },
    };
    return mine;
  }

  return {
    enter() {
      if (nextProbeMs !== null) {
        const nowMs = clock.now();
        // A clock that was set back must not keep the circuit open for longer.
        if (nowMs < nextProbeMs && nowMs >= nextProbeMs - probeMs) return null;
        nextProbeMs = nowMs + probeMs;
      }
      return passage;
    },
  };
}
