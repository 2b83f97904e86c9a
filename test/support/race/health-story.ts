import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import type { HealthAnswer, HealthChildPlan, HealthRequest } from './health-child.ts';
import { type RaceProcess, startProcess } from './processes.ts';
import type { StoreAt } from './stores.ts';

const good = 'north good';
const bad = 'north bad';

/** How long what one process saw may take to the others. */
const withinMs = 10_000;

/** Processes with a health of their own on one store: each knows what all see, also of one that was killed. */
export async function shareHealthOn(at: StoreAt): Promise<void> {
  const [one, two] = [start(at, 'one'), start(at, 'two')];
  await Promise.all([one.ready, two.ready]);
  tell(one, { what: 'observe', key: good, times: 30, seen: { outcome: 'ok', firstTokenMs: 200, tokensPerSecond: 40 } });
  tell(one, { what: 'observe', key: bad, times: 20, seen: { outcome: 'failed' } });

  const seen = await until(two, good, ({ statistics }) => statistics.uptime5m !== null);
  expect(seen.statistics).toEqual((await ask(one, good)).statistics);
  expect(seen.statistics).toMatchObject({ uptime5m: 100, uptime30m: 100, uptime1d: 100, status: 'default' });
  for (const percent of ['p50', 'p75', 'p90', 'p99'] as const) {
    expect(seen.statistics.latency30m![percent] / 200).toBeCloseTo(1, 0.5);
    expect(seen.statistics.throughput30m![percent] / 40).toBeCloseTo(1, 0.5);
  }
  expect(seen.latencyP95! / 200).toBeCloseTo(1, 0.5);
  const rested = await until(two, bad, ({ statistics }) => statistics.uptime5m !== null);
  expect(rested).toMatchObject({ hasOutage: true, statistics: { uptime5m: 0, status: 'down' } });
  // As often as it likes: nothing is counted twice.
  tell(two, { what: 'observe', key: bad, times: 20, seen: { outcome: 'ok' } });
  const both = await until(one, bad, ({ statistics }) => statistics.uptime5m === 50);
  expect(both.cooldownUntil).toBe(null);
  await sleep(3_000);
  expect([await ask(one, bad), await ask(two, bad)]).toMatchObject([
    { statistics: { uptime5m: 50 } },
    { statistics: { uptime5m: 50 } },
  ]);
  // A cooldown is everybody's at once.
  tell(two, { what: 'observe', key: bad, times: 3, seen: { outcome: 'failed' } });
  const resting = await until(one, bad, ({ cooldownUntil }) => cooldownUntil !== null);
  expect(resting.statistics.status).toBe('down');
  // Each tells it by its own clock, which nobody sets: the time of day that it makes of it may differ by milliseconds.
  const difference = Number(resting.cooldownUntil) - Number((await ask(two, bad)).cooldownUntil);
  expect(Math.abs(difference)).toBeLessThan(100);

  const killed = once(one.child, 'exit');
  one.child.kill('SIGKILL');
  await killed;
  const three = start(at, 'three');
  await three.ready;
  const inherited = await until(three, good, ({ statistics }) => statistics.uptime5m !== null);
  expect(inherited.statistics).toMatchObject({ uptime5m: 100, uptime30m: 100, uptime1d: 100 });
  tell(three, { what: 'observe', key: good, times: 30, seen: { outcome: 'failed' } });
  const after = await until(two, good, ({ statistics }) => statistics.uptime5m === 50);
  expect(after.statistics).toMatchObject({ uptime1d: 50 });

  expect(await Promise.all([end(two), end(three)])).toEqual([0, 0]);
}

function start(at: StoreAt, instance: string): RaceProcess {
  const plan: HealthChildPlan = { at, instance };
  return startProcess('health-child.ts', plan);
}

function tell({ child }: RaceProcess, request: HealthRequest): void {
  child.send(request);
}

function ask(process: RaceProcess, key: string): Promise<HealthAnswer> {
  return new Promise((resolve) => {
    const listen = (message: { answer?: HealthAnswer }) => {
      if (!message.answer) return;
      process.child.off('message', listen);
      resolve(message.answer);
    };
    process.child.on('message', listen);
    tell(process, { what: 'tell', key });
  });
}

/** @returns what it exits with */
async function end(process: RaceProcess): Promise<number> {
  const ended = once(process.child, 'exit');
  tell(process, { what: 'end' });
  return (await ended)[0];
}

/** Asks until it knows. */
async function until(process: RaceProcess, key: string, knows: (a: HealthAnswer) => boolean): Promise<HealthAnswer> {
  const endMs = Date.now() + withinMs;
  for (;;) {
    const answer = await ask(process, key);
    if (knows(answer)) return answer;
    if (Date.now() > endMs) throw new Error(`After ${withinMs} ms it knows of ${key}: ${JSON.stringify(answer)}`);
    await sleep(100);
  }
}
