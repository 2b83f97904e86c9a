import { describe, expect, it } from 'vitest';
import { planRoute } from '../../../src/routing/plan.ts';
import { type EndpointSketch, inputOf, modelOf, order, planFor, seeded, type World } from '../../support/routing.ts';

const planCount = 100_000;

/** 99.9 % of all chi-square values are below, by degrees of freedom: 1 to 10. */
const critical = [10.83, 13.82, 16.27, 18.47, 20.52, 22.46, 24.32, 26.12, 27.88, 29.59];

function chiSquare(observed: readonly number[], expected: readonly number[]): number {
  return observed.reduce((sum, seen, at) => sum + (seen - (expected[at] as number)) ** 2 / (expected[at] as number), 0);
}

/** The order of targets in each of `count` plans. */
function ordersOf(
  endpoints: Readonly<Record<string, EndpointSketch>>,
  count: number,
  seed = 1,
  rest: Partial<World> = {},
) {
  const world: World = { models: [modelOf('m/1', endpoints)], ...rest, facts: { random: seeded(seed) } };
  const input = inputOf(world);
  return Array.from({ length: count }, () => order(planRoute(input)));
}

describe('the weighted random choice among endpoints', () => {
  const prices = { a: 1, b: 2, c: 3, d: 3, e: 10, f: undefined };
  const weights = { a: 1, b: 1 / 4, c: 1 / 9, d: 1 / 9, e: 1 / 100 };
  const tags = Object.keys(weights) as (keyof typeof weights)[];
  const endpoints = Object.fromEntries(
    Object.entries(prices).map(([tag, price]) => [tag, price === undefined ? {} : { price }]),
  );
  const orders = ordersOf(endpoints, planCount);
  const weightOf = (tag: string) => weights[tag as keyof typeof weights];
  const sumOf = (some: readonly string[]) => some.reduce((sum, tag) => sum + weightOf(tag), 0);

  it('puts each first as often as the inverse square of its price says', () => {
    const observed = tags.map((tag) => orders.filter(([first]) => first === tag).length);
    const expected = tags.map((tag) => (planCount * weightOf(tag)) / sumOf(tags));
    expect(chiSquare(observed, expected)).toBeLessThan(critical[tags.length - 2] as number);
  });
  it('puts each of the others second in the same way', () => {
    for (const first of ['a', 'b', 'c']) {
      const given = orders.filter((one) => one[0] === first);
      const rest = tags.filter((tag) => tag !== first);
      const observed = rest.map((tag) => given.filter(([, second]) => second === tag).length);
      const expected = rest.map((tag) => (given.length * weightOf(tag)) / sumOf(rest));
      expect(chiSquare(observed, expected), first).toBeLessThan(critical[rest.length - 2] as number);
    }
  });
  it('plans every one of them, once', () => {
    for (const one of orders.slice(0, 1000)) expect([...one].sort()).toEqual([...tags, 'f']);
  });
  it('puts the one of unknown price last', () => {
    for (const one of orders) expect(one.at(-1)).toBe('f');
  });
  it('would be seen to differ, if it were by price alone', () => {
    const observed = tags.map((tag) => orders.filter(([first]) => first === tag).length);
    const linear = tags.map((tag) => Math.sqrt(weightOf(tag)));
    const sum = linear.reduce((a, b) => a + b, 0);
    expect(
      chiSquare(
        observed,
        linear.map((weight) => (planCount * weight) / sum),
      ),
    ).toBeGreaterThan(1000);
  });
  it('of 1 against 3 is nine to one', () => {
    const first = ordersOf({ a: { price: 1 }, b: { price: 3 } }, planCount, 2).filter(([tag]) => tag === 'a').length;
    expect(chiSquare([first, planCount - first], [planCount * 0.9, planCount * 0.1])).toBeLessThan(
      critical[0] as number,
    );
  });
  it('weighs three tokens of the prompt against one of the completion', () => {
    const pricing = (prompt: number, completion: number) => ({
      pricing: { promptPicoUsd: prompt, completionPicoUsd: completion },
    });
    const first = ordersOf({ a: pricing(1000, 1000), b: pricing(0, 8000) }, planCount, 3).filter(
      ([tag]) => tag === 'a',
    ).length;
    expect(chiSquare([first, planCount - first], [planCount * 0.8, planCount * 0.2])).toBeLessThan(
      critical[0] as number,
    );
  });
});

describe('free endpoints', () => {
  const endpoints = {
    paid: { price: 0.001 },
    free1: { price: 0 },
    unknown: {},
    free2: { price: 0 },
    free3: { price: 0 },
  };

  it('come before all others, each as often as the next', () => {
    const orders = ordersOf(endpoints, 30_000);
    for (const one of orders) expect(one.slice(0, 3).every((tag) => tag.startsWith('free'))).toBe(true);
    for (const place of [0, 1, 2]) {
      const observed = [1, 2, 3].map((n) => orders.filter((one) => one[place] === `free${n}`).length);
      expect(chiSquare(observed, [1e4, 1e4, 1e4])).toBeLessThan(critical[1] as number);
    }
  });
  it('come before those of unknown price, also where no other price is known', () => {
    for (const one of ordersOf({ unknown: {}, free1: { price: 0 }, free2: { price: 0 } }, 1000))
      expect(one[2]).toBe('unknown');
  });
});

describe('a random number', () => {
  it.each([0, 1 - 2 ** -53, 1 - 2 ** -32, Number.MIN_VALUE])('of %d is as good as any', (number) => {
    const endpoints = {
      paid: { price: 5 },
      unknown: {},
      free: { price: 0 },
      dear: { pricing: { promptPicoUsd: 1e18, completionPicoUsd: 1e18 } },
    };
    const world: World = { models: [modelOf('m/1', endpoints)], facts: { random: () => number } };
    const [first, ...rest] = order(planFor(world));
    expect([first, [...rest].sort()]).toEqual(['free', ['dear', 'paid', 'unknown']]);
  });
  it('leaves endpoints of unknown price as they are listed', () => {
    for (const one of ordersOf({ c: {}, a: {}, b: {} }, 100)) expect(one).toEqual(['c', 'a', 'b']);
  });
  it('puts endpoints that fail behind the others, chosen by the same weights', () => {
    const endpoints = { a: { price: 1 }, b: { price: 2 }, c: { price: 50 }, d: { price: 100 } };
    const orders = ordersOf(endpoints, 20_000, 4, { health: { outages: ['a', 'b'] } });
    for (const one of orders) expect(new Set(one.slice(2))).toEqual(new Set(['a', 'b']));
    const observed = [orders.filter(([first]) => first === 'c').length, orders.filter((one) => one[2] === 'a').length];
    for (const seen of observed)
      expect(chiSquare([seen, 2e4 - seen], [1.6e4, 4e3])).toBeLessThan(critical[0] as number);
  });
});
