import { describe, expect, it } from 'vitest';
import { StopSwitch } from '../../../../src/base/async/stop.ts';
import { withSignal } from '../../../../src/base/async/within.ts';
import { manualClock } from '../../../support/manual-clock.ts';

/** Work that never ends by itself, and what became of its signal. */
function started(signals: readonly StopSwitch[] = []) {
  const clock = manualClock();
  const seen: { signal?: AbortSignal } = {};
  const result = withSignal(
    clock,
    { timeoutMs: 100, signals, late: (ms) => new Error(`later than ${ms}`) },
    (signal) => {
      seen.signal = signal;
      return new Promise<never>(() => undefined);
    },
  );
  result.catch(() => undefined);
  return { clock, seen, result };
}

describe('work with a signal', () => {
  it('gives its result, and is told that it is over', async () => {
    const clock = manualClock();
    let given: AbortSignal | null = null;
    const limits = { timeoutMs: 100, signals: [], late: () => new Error('late') };
    const result = withSignal(clock, limits, (signal) => {
      given = signal;
      return 7;
    });
    expect(await result).toBe(7);
    expect([(given as AbortSignal | null)?.aborted, clock.nextMs]).toEqual([true, null]);
  });
  it('is given up when it takes too long', async () => {
    const { clock, seen, result } = started();
    await clock.advance(100);
    await expect(result).rejects.toThrow('later than 100');
    expect(seen.signal?.aborted).toBe(true);
  });
  it('is given up at once when one of the signals says so', async () => {
    const [first, second] = [new StopSwitch(), new StopSwitch()];
    const { seen, result } = started([first, second]);
    second.abort(new Error('left'));
    await expect(result).rejects.toThrow('left');
    expect(seen.signal?.reason).toMatchObject({ message: 'left' });
  });
  it('is not begun where nobody wants it', async () => {
    const gone = new StopSwitch();
    gone.abort(new Error('gone'));
    const { seen, result } = started([gone]);
    await expect(result).rejects.toThrow('gone');
    expect(seen.signal).toBe(undefined);
  });
  it('fails as it fails', async () => {
    const limits = { timeoutMs: 100, signals: [], late: () => new Error('late') };
    const result = withSignal(manualClock(), limits, () => {
      throw new Error('own');
    });
    await expect(result).rejects.toThrow('own');
  });
});
