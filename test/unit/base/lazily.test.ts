import { describe, expect, it } from 'vitest';
import { lazily } from '../../../src/base/lazily.ts';

describe('a lazily made value', () => {
  it('is made when it is first asked for, and kept', () => {
    let times = 0;
    const value = lazily(() => ({ times: ++times }));
    expect([value.isMade(), times]).toEqual([false, 0]);
    expect(value()).toBe(value());
    expect([value.isMade(), times]).toEqual([true, 1]);
  });

  it('is made once also where it is null or undefined', () => {
    let times = 0;
    const value = lazily(() => {
      times += 1;
      return undefined;
    });
    expect([value(), value(), times]).toEqual([undefined, undefined, 1]);
  });

  it('is made again after that failed', () => {
    let times = 0;
    const value = lazily(() => {
      times += 1;
      if (times === 1) throw new Error('not yet');
      return times;
    });
    expect(value).toThrow('not yet');
    expect([value.isMade(), value()]).toEqual([false, 2]);
  });
});
