import { expect, it } from 'vitest';
import { createHealth } from '../../../src/catalog/health.ts';

it('lets an endpoint rest until its time, the later of two, or until it answers', () => {
  const health = createHealth();
  health.rest('a', 100);
  health.rest('a', 50);
  health.rest('b', 200);
  expect([...health.resting(99)]).toEqual(
    expect.arrayContaining([
      ['a', 100],
      ['b', 200],
    ]),
  );
  expect([...health.resting(100)]).toEqual([['b', 200]]);
  health.succeeded('b');
  expect([...health.resting(0)]).toEqual([]);
});

it('remembers no more endpoints than it may', () => {
  const health = createHealth(10);
  for (let i = 0; i < 1000; i++) health.rest(`endpoint-${i}`, 100);
  expect(health.resting(0).size).toBe(10);
});
