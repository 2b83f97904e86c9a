import type { Terminal } from './terminal.ts';

/** The time for which nothing is shown: what is fast needs no sign. */
const silentMs = 1_000;
const turnMs = 100;
const signs = ['|', '/', '-', '\\'];

/** A sign on the error output that something takes its time. */
export interface Waiting {
  /** Takes the sign away. Calling it again does nothing. */
  end(): void;
}

/**
 * Shows a sign that turns, what is waited for, and for how long, once that is more than a second. Where no person watches
 * the error output, nothing is shown.
 */
export function showWaiting(terminal: Terminal, what: string): Waiting {
  if (!terminal.isWatched) return { end() {} };
  const sinceMs = terminal.nowMs();
  let turns = 0;
  let cancel = terminal.after(silentMs, turn);

  function turn(): void {
    const seconds = Math.floor((terminal.nowMs() - sinceMs) / 1_000);
    terminal.printError(`\r${signs[turns++ % signs.length]} ${what}, ${seconds} s `);
    cancel = terminal.after(turnMs, turn);
  }

  return {
    end() {
      cancel();
      if (turns > 0) terminal.printError('\r\x1b[K');
      turns = 0;
    },
  };
}

/** Waits, with the sign. */
export async function waitingFor<Value>(terminal: Terminal, what: string, value: Promise<Value>): Promise<Value> {
  const waiting = showWaiting(terminal, what);
  try {
    return await value;
  } finally {
    waiting.end();
  }
}
