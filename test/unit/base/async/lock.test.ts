import { describe, expect, it } from 'vitest';
import { createLock } from '../../../../src/base/async/lock.ts';
import { settle } from '../../../support/manual-clock.ts';

/** Work that ends when told to. */
function slowWork() {
  const started: string[] = [];
  const ends = new Map<string, { resolve: (value: string) => void; reject: (error: Error) => void }>();
  const work = (name: string) => () => {
    started.push(name);
    return new Promise<string>((resolve, reject) => ends.set(name, { resolve, reject }));
  };
  return { started, work, end: (name: string) => ends.get(name)?.resolve(name), ends };
}

describe('a lock', () => {
  it('runs work of one key one after the other, in the order it came', async () => {
    const lock = createLock();
    const { started, work, end } = slowWork();
    const all = ['a', 'b', 'c'].map((name) => lock.run('key', work(name)));
    await settle();
    expect(started).toEqual(['a']);
    end('a');
    await settle();
    expect(started).toEqual(['a', 'b']);
    end('b');
    await settle();
    end('c');
    expect(await Promise.all(all)).toEqual(['a', 'b', 'c']);
  });
  it('lets other keys go on', async () => {
    const lock = createLock();
    const { started, work, end } = slowWork();
    void lock.run('one', work('a'));
    const other = lock.run('two', work('b'));
    await settle();
    expect(started).toEqual(['a', 'b']);
    end('b');
    expect(await other).toBe('b');
  });
  it.each<[string, () => Promise<never>]>([
    ['rejects', () => Promise.reject(new Error('no'))],
    [
      'throws at once',
      () => {
        throw new Error('no');
      },
    ],
  ])('goes on after work that %s, which only its own caller hears of', async (_, broken) => {
    const lock = createLock();
    const failed = lock.run('key', broken);
    const next = lock.run('key', async () => 'done');
    await expect(failed).rejects.toThrow('no');
    expect(await next).toBe('done');
  });
  it('lets no two of a thousand meet, and keeps nothing of them', async () => {
    const lock = createLock();
    let inside = 0;
    let most = 0;
    let count = 0;
    await Promise.all(
      Array.from({ length: 1000 }, (_, n) =>
        lock
          .run('key', async () => {
            most = Math.max(most, ++inside);
            const seen = count;
            await Promise.resolve();
            count = seen + 1;
            inside--;
            if (n % 7 === 0) throw new Error('no');
          })
          .catch(() => undefined),
      ),
    );
    expect([most, count]).toEqual([1, 1000]);
    await settle();
    expect(lock.size).toBe(0);
  });
  it('keeps a key only while there is work for it', async () => {
    const lock = createLock();
    const { work, end } = slowWork();
    const first = lock.run('key', work('a'));
    const second = lock.run('key', work('b'));
    await settle();
    expect(lock.size).toBe(1);
    end('a');
    await first;
    await settle();
    expect(lock.size).toBe(1);
    end('b');
    await second;
    await settle();
    expect(lock.size).toBe(0);
    expect(await lock.run('key', async () => 'again')).toBe('again');
  });
});
