import { describe, expect, it } from 'vitest';
import { Watchdog } from '../../../../src/pipeline/attempt/watchdog.ts';
import { manualClock } from '../../../support/manual-clock.ts';

function watched() {
  const clock = manualClock(0);
  const fired: [string, number, number][] = [];
  return { clock, fired, watchdog: new Watchdog(clock, (phase, ms) => fired.push([phase, ms, clock.now()])) };
}

describe('a watchdog', () => {
  it('fires once, when its time is up, with its phase', async () => {
    const { clock, fired, watchdog } = watched();
    watchdog.arm(1000, 'headers');
    await clock.advance(999);
    expect(fired).toEqual([]);
    await clock.advance(5000);
    expect(fired).toEqual([['headers', 1000, 1000]]);
  });
  it('armed again counts from then, later or sooner', async () => {
    const { clock, fired, watchdog } = watched();
    watchdog.arm(1000, 'a');
    await clock.advance(900);
    watchdog.arm(1000, 'b');
    await clock.advance(999);
    watchdog.arm(100, 'c');
    await clock.advance(5000);
    expect(fired).toEqual([['c', 100, 1999]]);
  });
  it('disarmed does not fire, and can be armed again', async () => {
    const { clock, fired, watchdog } = watched();
    watchdog.arm(1000, 'a');
    watchdog.disarm();
    await clock.advance(2000);
    watchdog.arm(1000, 'b');
    await clock.advance(1000);
    expect(fired).toEqual([['b', 1000, 3000]]);
  });
  it('armed for every event of a stream keeps one timer', async () => {
    const { clock, fired, watchdog } = watched();
    for (let event = 0; event < 100; event++) {
      watchdog.arm(1000, 'idle');
      expect(clock.pending).toBe(1);
      await clock.advance(50);
    }
    expect(fired).toEqual([]);
  });
  it('stopped leaves no timer', () => {
    const { clock, watchdog } = watched();
    watchdog.arm(1000, 'a');
    watchdog.stop();
    expect(clock.pending).toBe(0);
  });
});
