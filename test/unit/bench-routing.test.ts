import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { chance, exponential, normal } from '../../bench/routing/chance.ts';
import { hedgeTable, type RoutingFindings, strategyTable } from '../../bench/routing/findings.ts';
import { plotHedging, plotStrategies } from '../../bench/routing/plot.ts';
import { type Scenario, simulate, summarise } from '../../bench/routing/simulate.ts';
import { simulatedTime } from '../../bench/routing/simulated-time.ts';
import { hedges, type Strategy, strategies } from '../../bench/routing/strategies.ts';
import {
  createWorld,
  type EndpointTraits,
  hedgeScenario,
  strategyScenario,
  tenEndpoints,
} from '../../bench/routing/world.ts';
import { createGateway, type RequestRecord } from '../../src/index.ts';
import { runs } from '../support/runs.ts';

const root = join(import.meta.dirname, '..', '..');
const kept: RoutingFindings = JSON.parse(readFileSync(join(root, 'bench/routing/results.json'), 'utf8'));
const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
const numbers = <T>(count: number, make: (at: number) => T) => Array.from({ length: count }, (_, at) => make(at));
const hourMs = 3_600_000;

describe('chance', () => {
  it('is the same for the same seed and keys, and another for others', () => {
    const of = (...keys: [number, ...number[]]) => numbers(4, chance(...keys));
    expect(of(7, 1, 2)).toEqual(of(7, 1, 2));
    expect(new Set([of(7, 1, 2), of(7, 2, 1), of(8, 1, 2), of(7, 1), of(7, 1, 2, 0)].map(String)).size).toBe(5);
  });
  it('is spread evenly, also over neighbouring keys', () => {
    const tenths = new Array<number>(10).fill(0);
    for (let key = 0; key < 20_000; key++) tenths[Math.floor(chance(7, key)() * 10)]! += 1;
    // Chi-square with 9 degrees of freedom: 27.9 in one of a thousand.
    expect(tenths.reduce((sum, count) => sum + (count - 2000) ** 2 / 2000, 0)).toBeLessThan(27.9);
  });
  it('has the means and deviations that the distributions have', () => {
    const random = chance(7);
    const normals = numbers(20_000, () => normal(random));
    expect(mean(normals)).toBeCloseTo(0, 1);
    expect(mean(normals.map((value) => value ** 2))).toBeCloseTo(1, 1);
    expect(mean(numbers(20_000, () => exponential(random, 50))) / 50).toBeCloseTo(1, 1);
  });
});

describe('simulated time', () => {
  it('runs timers in order, those of one time as they were started, and not those that were stopped', async () => {
    const { clock, until } = simulatedTime(1000);
    const random = chance(7);
    const expected: [number, number][] = [];
    const ran: [number, number][] = [];
    for (let timer = 0; timer < 200; timer++) {
      const ms = Math.floor(random() * 50);
      const stop = clock.after(ms, () => ran.push([clock.now(), timer]));
      if (timer % 3 === 0) stop();
      else expected.push([1000 + ms, timer]);
    }
    await until(new Promise<void>((resolve) => clock.after(100, resolve)));
    expect(ran).toEqual(expected.sort(([a, first], [b, second]) => a - b || first - second));
    expect(clock.now()).toBe(1100);
  });
  it('lets everything happen that a timer leads to before the next one', async () => {
    const { clock, until } = simulatedTime(0);
    const seen: string[] = [];
    clock.after(10, async () => {
      for (let step = 0; step < 20; step++) await null;
      seen.push(`late at ${clock.now()}`);
    });
    await until(new Promise<void>((resolve) => clock.after(10, resolve)));
    clock.after(1, () => seen.push('next'));
    await until(new Promise<void>((resolve) => clock.after(5, resolve)));
    expect(seen).toEqual(['late at 10', 'next']);
  });
  it('fails when no timer is left', async () => {
    await expect(simulatedTime(0).until(new Promise(() => undefined))).rejects.toThrow('No timer is left');
  });
});

describe('the world of the simulation', () => {
  const one = (traits: Partial<EndpointTraits> = {}): EndpointTraits => ({
    ...(tenEndpoints[0] as EndpointTraits),
    ...traits,
  });
  const meetings = (traits: Partial<EndpointTraits>, stalls = 0) => {
    const world = createWorld({ seed: 7, endpoints: [one(traits)], durationMs: 400 * hourMs, stalls });
    return numbers(40_000, (at) => world.meet(0, (at / 100) * hourMs, at, 0));
  };
  const firstTokens = (fates: ReturnType<typeof meetings>) =>
    fates.flatMap((fate) => (fate.kind === 'responds' ? [fate.firstTokenMs] : []));

  it('has ten endpoints of different price, the dearest of six times the cheapest', () => {
    const prices = tenEndpoints.map(({ promptUsd }) => promptUsd);
    expect(new Set(prices).size).toBe(10);
    expect(Math.max(...prices) / Math.min(...prices)).toBeCloseTo(6);
    for (const { promptUsd, completionUsd } of tenEndpoints) expect(completionUsd / promptUsd).toBeCloseTo(4);
  });
  it('fails for the share of time that endpoints are down, seven tenths of it wholly and the rest by half', () => {
    const fates = meetings({ upMinutes: 40, downMinutes: 10 });
    const failed = fates.filter(({ kind }) => kind === 'fails').length;
    const limited = fates.filter(({ kind }) => kind === 'limits').length;
    expect(failed / fates.length).toBeCloseTo(0.2 * 0.85, 1);
    expect(limited / fates.length).toBeCloseTo(1 / 41, 2);
  });
  it('has latency that drifts, and is that of the endpoint in the middle', () => {
    const values = firstTokens(meetings({ firstTokenMs: 500 })).toSorted((a, b) => a - b);
    const median = values[values.length >> 1] as number;
    expect(Math.abs(Math.log(median / 500))).toBeLessThan(0.1);
    // Deviations of 0.4 over time and 0.35 from one to the next: 0.53 together.
    const logs = values.map((value) => Math.log(value));
    const centre = mean(logs);
    expect(Math.sqrt(mean(logs.map((value) => (value - centre) ** 2)))).toBeCloseTo(0.53, 1);
  });
  it('lets the share of first tokens take long that it is told', () => {
    const usual = firstTokens(meetings({}));
    const stalling = firstTokens(meetings({}, 0.02));
    const longer = stalling.filter((value, at) => value > 20 * (usual[at] as number)).length;
    expect(longer / stalling.length).toBeCloseTo(0.02, 2);
  });
  it('asks to be left alone until its limit is over', () => {
    const limits = meetings({}).flatMap((fate) => (fate.kind === 'limits' ? [fate.retryAfterS] : []));
    expect(Math.min(...limits)).toBeGreaterThan(0);
    expect(mean(limits)).toBeGreaterThan(30);
  });
});

describe('the simulation', () => {
  const scenario: Scenario = { ...strategyScenario, seed: 7, requests: runs(150, 600) };

  const allStrategies: Record<string, Strategy> = { ...strategies, hedging: hedges.on };
  it.each(Object.entries(runs({ default: strategies.default, hedging: hedges.on }, allStrategies)))(
    'gives the same numbers for the same seed: %s',
    async (_, strategy) => {
      const first = await simulate(createGateway, scenario, strategy);
      expect(await simulate(createGateway, scenario, strategy)).toEqual(first);
      expect(first.requests).toBe(scenario.requests);
      expect(first.firstTokenMs).toHaveLength(first.succeeded);
      expect(first.attempts).toBeGreaterThanOrEqual(first.requests);
    },
  );
  it('gives others for another', async () => {
    const first = await simulate(createGateway, scenario, strategies.default);
    expect(await simulate(createGateway, { ...scenario, seed: 8 }, strategies.default)).not.toEqual(first);
  });
  it('counts what the gateway counts', async () => {
    const records: RequestRecord[] = [];
    const strategy = {
      ...hedges.on,
      options: { ...hedges.on.options, onRecord: (one: RequestRecord) => records.push(one) },
    };
    const stalling = { ...scenario, ...hedgeScenario, stalls: 0.1, requests: runs(500, 1000) };
    const usageCounter = await simulate(createGateway, stalling, strategy);
    const attempts = records.flatMap((record) => record.attempts);
    expect(records).toHaveLength(usageCounter.requests);
    expect(records.filter(({ outcome }) => outcome === 'ok')).toHaveLength(usageCounter.succeeded);
    expect(attempts).toHaveLength(usageCounter.attempts);
    expect(attempts.filter(({ errorType }) => errorType === 'hedged').length).toBeGreaterThan(5);
    expect(records.map(({ firstMs }) => firstMs).toSorted()).toEqual(usageCounter.firstTokenMs.toSorted());
  });
  it('spends what the gateway books', async () => {
    let costNanoUsd = 0;
    const onRecord = (record: RequestRecord) => {
      costNanoUsd += record.costNanoUsd ?? 0;
    };
    const usageCounter = await simulate(createGateway, scenario, { ...strategies.default, options: { onRecord } });
    // Each cost is rounded up to a nano-USD.
    expect(costNanoUsd * 1000 - usageCounter.spentPicoUsd).toBeGreaterThanOrEqual(0);
    expect(costNanoUsd * 1000 - usageCounter.spentPicoUsd).toBeLessThan(1000 * usageCounter.requests);
  });
  it('takes each endpoint in turn where it says so', () => {
    const slugs = ['a', 'b', 'c'];
    expect([0, 1, 2, 3].map((at) => strategies.naive.provider(at, slugs)?.order)).toEqual([['a'], ['b'], ['c'], ['a']]);
    expect(strategies.order.provider(1, slugs)).toEqual({ order: ['b', 'c', 'a'] });
    expect([10, 11, 20].map((at) => strategies.latencyRound.provider(at, slugs))).toEqual([
      { order: ['b', 'c', 'a'] },
      { sort: 'latency' },
      { order: ['c', 'a', 'b'] },
    ]);
  });
});

describe('what the simulation shows', () => {
  it('is counted over those that succeeded', () => {
    const usageCounter = { requests: 4, succeeded: 2, attempts: 6, spentPicoUsd: 3e12, firstTokenMs: [100, 300] };
    expect(summarise(usageCounter)).toEqual({
      succeeded: 0.5,
      usdPerThousand: 1500,
      attemptsPerRequest: 1.5,
      p50Ms: 200,
      p99Ms: 298,
    });
  });
  it('has a line for every strategy, relative to the cheapest', () => {
    const lines = strategyTable(kept.strategies).split('\n');
    expect(lines).toHaveLength(2 + Object.keys(strategies).length);
    expect(lines.find((line) => line.startsWith('| `sort: price`'))).toMatch(/\| +1\.00 \|/);
    expect(hedgeTable(kept.hedge).split('\n')[2]).toMatch(/^\| hedging off.*\| +1\.000 \|/);
  });
  it.each([
    ['routing-sim.svg', plotStrategies],
    ['hedge-sim.svg', plotHedging],
  ])('is drawn as it was found: %s', (file, plot) => {
    expect(readFileSync(join(root, 'docs/img', file), 'utf8')).toBe(plot(kept));
  });
  it('is drawn to scale', () => {
    const svg = plotStrategies(kept);
    const bars = [...svg.matchAll(/<rect class="(?:ours|other)(?: faint)?" x="(\d+)".*? width="([\d.]+)"/g)];
    const left = Math.min(...bars.map(([, x]) => Number(x)));
    const lengths = bars.filter(([, x]) => Number(x) === left).map(([, , width]) => Number(width));
    const prices = Object.values(kept.strategies).map(({ usdPerThousand }) => usdPerThousand);
    expect(lengths).toHaveLength(prices.length);
    for (const [at, length] of lengths.entries())
      expect(length / Math.max(...lengths)).toBeCloseTo((prices[at] as number) / Math.max(...prices), 2);
    expect(svg).not.toMatch(/NaN|undefined|`/);
  });
  it('halves the 99th percentile of first tokens by hedging for at most 5 % more', () => {
    const { on, off } = kept.hedge;
    expect(on.p99Ms).toBeLessThan(off.p99Ms / 2);
    expect(on.usdPerThousand / off.usdPerThousand).toBeLessThan(1.05);
  });
});
