import { expect, it } from 'vitest';
import { loadedOnce } from '../../../../src/base/async/loaded-once.ts';

it('loads once, also for those that ask meanwhile, and then gives the value itself', async () => {
  let loads = 0;
  const value = {};
  const get = loadedOnce(async () => {
    loads++;
    return value;
  });
  expect(await Promise.all([get(), get()])).toEqual([value, value]);
  expect(get()).toBe(value);
  expect(loads).toBe(1);
});

it('tries again after a load that failed', async () => {
  let loads = 0;
  const get = loadedOnce(async () => {
    if (++loads === 1) throw new Error('no such file');
    return {};
  });
  await expect(get()).rejects.toThrow('no such file');
  await expect(get()).resolves.toEqual({});
});
