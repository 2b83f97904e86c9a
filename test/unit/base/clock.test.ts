import { describe, expect, it } from 'vitest';
import { systemClock, wait } from '../../../src/base/clock.ts';
import { manualClock, settle } from '../../support/manual-clock.ts';

describe('waiting', () => {
  it('takes as long as it says', async () => {
    const clock = manualClock();
    let done = false;
    const waiting = wait(clock, 1000, new AbortController().signal).then(() => {
      done = true;
    });
    await clock.advance(999);
    expect(done).toBe(false);
    await clock.advance(1);
    await waiting;
    expect(done).toBe(true);
  });
  it('ends at once with the reason of an abort, and leaves no timer', async () => {
    const clock = manualClock();
    const controller = new AbortController();
    const waiting = wait(clock, 1000, controller.signal);
    controller.abort('why');
    await expect(waiting).rejects.toBe('why');
    expect(clock.pending).toBe(0);
    await expect(wait(clock, 1000, controller.signal)).rejects.toBe('why');
    expect(clock.pending).toBe(0);
  });
  it('leaves no listener behind', async () => {
    const clock = manualClock();
    const { signal } = new AbortController();
    let listeners = 0;
    const add = signal.addEventListener.bind(signal);
    const remove = signal.removeEventListener.bind(signal);
    signal.addEventListener = (...all: Parameters<typeof add>) => {
      listeners++;
      add(...all);
    };
    signal.removeEventListener = (...all: Parameters<typeof remove>) => {
      listeners--;
      remove(...all);
    };
    const waiting = wait(clock, 10, signal);
    await clock.advance(10);
    await waiting;
    await settle();
    expect(listeners).toBe(0);
  });
});

it("the system's clock does not fire at once when asked for a month", async () => {
  let fired = false;
  const stop = systemClock.after(2 ** 40, () => {
    fired = true;
  });
  for (let turn = 0; turn < 5; turn++) await settle();
  stop();
  expect(fired).toBe(false);
});

it("the system's clock takes a time that has passed without a warning of the runtime", async () => {
  const warnings: string[] = [];
  const onWarning = ({ name }: Error) => warnings.push(name);
  process.on('warning', onWarning);
  await new Promise<void>((resolve) => systemClock.after(-14, resolve));
  await settle();
  process.off('warning', onWarning);
  expect(warnings).toEqual([]);
});
