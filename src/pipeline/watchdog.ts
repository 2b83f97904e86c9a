import type { Clock } from '../base/clock.ts';

/** Fires when something takes too long. Arming again with a later time is free: the timer is moved only when it rings. */
export interface Watchdog {
  /** Fires `ms` from now with this `phase`, unless armed again, disarmed or stopped before. */
  arm(ms: number, phase: string): void;
  /** Waits for nothing; the timer may stay. */
  disarm(): void;
  stop(): void;
}

export function createWatchdog(clock: Clock, onExpire: (phase: string, ms: number) => void): Watchdog {
  let dueMs = Number.POSITIVE_INFINITY;
  let phase = '';
  let span = 0;
  let cancelTimer: (() => void) | null = null;
  let timerMs = Number.POSITIVE_INFINITY;

  function schedule(): void {
    cancelTimer?.();
    timerMs = dueMs;
    cancelTimer = clock.after(Math.max(dueMs - clock.now(), 0), ring);
  }

  function ring(): void {
    cancelTimer = null;
    timerMs = Number.POSITIVE_INFINITY;
    if (dueMs === Number.POSITIVE_INFINITY) return;
    if (clock.now() < dueMs) schedule();
    else {
      dueMs = Number.POSITIVE_INFINITY;
      onExpire(phase, span);
    }
  }

  return {
    arm(ms, forPhase) {
      phase = forPhase;
      span = ms;
      dueMs = clock.now() + ms;
      if (dueMs < timerMs) schedule();
    },
    disarm() {
      dueMs = Number.POSITIVE_INFINITY;
    },
    stop() {
      dueMs = Number.POSITIVE_INFINITY;
      cancelTimer?.();
      cancelTimer = null;
      timerMs = Number.POSITIVE_INFINITY;
    },
  };
}
