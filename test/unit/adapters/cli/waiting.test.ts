import { describe, expect, it } from 'vitest';
import type { Terminal } from '../../../../adapters/cli/terminal.ts';
import { showWaiting } from '../../../../adapters/cli/waiting.ts';

function watched(isWatched = true) {
  let text = '';
  let nowMs = 0;
  let next: { atMs: number; callback: () => void } | null = null;
  const terminal = {
    isWatched,
    nowMs: () => nowMs,
    printError: (more: string) => {
      text += more;
    },
    after(ms: number, callback: () => void) {
      const one = { atMs: nowMs + ms, callback };
      next = one;
      return () => {
        if (next === one) next = null;
      };
    },
  } as Terminal;
  const pass = (ms: number) => {
    const untilMs = nowMs + ms;
    while (next !== null && next.atMs <= untilMs) {
      const { atMs, callback } = next;
      nowMs = atMs;
      next = null;
      callback();
    }
    nowMs = untilMs;
  };
  return { terminal, pass, text: () => text, isIdle: () => next === null };
}

describe('what takes its time', () => {
  it('is shown after a second, with the time, and taken away at the end', () => {
    const { terminal, pass, text, isIdle } = watched();
    const waiting = showWaiting(terminal, 'Waiting');
    pass(999);
    expect(text()).toBe('');
    pass(201);
    expect(text()).toBe('\r| Waiting, 1 s \r/ Waiting, 1 s \r- Waiting, 1 s ');
    pass(1_000);
    expect(text()).toContain('Waiting, 2 s');
    waiting.end();
    waiting.end();
    expect(text().endsWith('\r\u001b[K')).toBe(true);
    expect(text().split('\u001b').length).toBe(2);
    expect(isIdle()).toBe(true);
  });
  it('is not shown where it was fast, or nobody watches', () => {
    const fast = watched();
    showWaiting(fast.terminal, 'Waiting').end();
    fast.pass(5_000);
    expect(fast.text()).toBe('');
    const unwatched = watched(false);
    showWaiting(unwatched.terminal, 'Waiting');
    unwatched.pass(5_000);
    expect(unwatched.text()).toBe('');
  });
});
