import { describe, expect, it, vi } from 'vitest';
import { StopSwitch } from '../../../../src/base/async/stop.ts';

describe('a stop switch', () => {
  it('tells each listener once, with the first reason', () => {
    const stop = new StopSwitch();
    const [first, second, gone] = [vi.fn(), vi.fn(), vi.fn()];
    for (const listener of [first, second, gone]) stop.addEventListener('abort', listener);
    stop.removeEventListener('abort', gone);
    expect(stop.aborted).toBe(false);
    expect(() => stop.throwIfAborted()).not.toThrow();
    stop.abort('why');
    stop.abort('later');
    expect([first.mock.calls.length, second.mock.calls.length, gone.mock.calls.length]).toEqual([1, 1, 0]);
    expect([stop.aborted, stop.reason]).toEqual([true, 'why']);
    expect(() => stop.throwIfAborted()).toThrow('why');
  });
  it.each([
    ['first', 'bc'],
    ['second', 'ac'],
    ['third', 'ab'],
  ])('tells the others in their order when the %s has left', (which, told) => {
    const stop = new StopSwitch();
    let heard = '';
    const listeners = ['a', 'b', 'c'].map((name) => () => {
      heard += name;
    });
    for (const listener of listeners) stop.addEventListener('abort', listener);
    stop.removeEventListener('abort', listeners[['first', 'second', 'third'].indexOf(which)] as () => void);
    stop.removeEventListener('abort', vi.fn());
    stop.abort('why');
    expect(heard).toBe(told);
  });
  it('tells nobody who comes too late, as a signal does', () => {
    const stop = new StopSwitch();
    stop.abort('why');
    const late = vi.fn();
    stop.addEventListener('abort', late);
    stop.abort('again');
    expect(late).not.toHaveBeenCalled();
  });
  it('lets a listener remove another, or add one, while it tells', () => {
    const stop = new StopSwitch();
    const added = vi.fn();
    stop.addEventListener('abort', () => stop.addEventListener('abort', added));
    stop.abort('why');
    expect(added).not.toHaveBeenCalled();
  });
  it('is an AbortSignal where one is wanted, before and after', async () => {
    const before = new StopSwitch();
    const { signal } = before;
    expect([signal.aborted, before.signal === signal]).toEqual([false, true]);
    const told = new Promise((resolve) => signal.addEventListener('abort', () => resolve(signal.reason)));
    before.abort('why');
    expect(await told).toBe('why');
    const after = new StopSwitch();
    after.abort('why');
    expect([after.signal.aborted, after.signal.reason]).toEqual([true, 'why']);
  });
});
