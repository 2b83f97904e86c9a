import { describe, expect, it } from 'vitest';
import { wait } from '../../../src/base/clock.ts';
import { manualClock } from '../../support/manual-clock.ts';

const never = new AbortController().signal;

describe('the manual clock', () => {
  it('runs due timers in order, each at its own moment', async () => {
    const clock = manualClock(1_000);
    const seen: string[] = [];
    clock.after(20, () => seen.push(`b ${clock.now()}`));
    clock.after(10, () => seen.push(`a ${clock.now()}`));
    clock.after(20, () => seen.push(`c ${clock.now()}`));
    clock.after(31, () => seen.push('late'));
    await clock.advance(30);
    expect(seen).toEqual(['a 1010', 'b 1020', 'c 1020']);
    expect([clock.now(), clock.pending, clock.nextMs]).toEqual([1_030, 1, 1_031]);
  });
  it('runs timers that others start on the way', async () => {
    const clock = manualClock(0);
    const seen: number[] = [];
    const run = (async () => {
      for (let turn = 0; turn < 3; turn += 1) {
        await wait(clock, 10, never);
        seen.push(clock.now());
      }
    })();
    await clock.advance(25);
    expect(seen).toEqual([10, 20]);
    await clock.advance(5);
    await run;
    expect(seen).toEqual([10, 20, 30]);
  });
  it('forgets a timer that is stopped', async () => {
    const clock = manualClock(0);
    const stop = clock.after(5, () => expect.unreachable());
    stop();
    stop();
    await clock.advance(10);
    expect(clock.pending).toBe(0);
  });
  it('moves on until a promise settles, and no further', async () => {
    const clock = manualClock(0);
    const later = wait(clock, 50, never).then(() => 'there');
    clock.after(60, () => expect.unreachable());
    expect(await clock.until(later)).toBe('there');
    expect(clock.now()).toBe(50);
  });
  it('passes on a rejection, and says when time cannot help', async () => {
    const clock = manualClock(0);
    await expect(clock.until(Promise.reject(new Error('no')))).rejects.toThrow('no');
    await expect(clock.until(new Promise(() => {}))).rejects.toThrow(/other than this clock/);
  });
});
