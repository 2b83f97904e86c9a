import { describe, expect, it } from 'vitest';
import type { Endpoint } from '../../../src/call/model.ts';
import { type CheckResult, createHealthChecks, type ServerState } from '../../../src/catalog/health/checks.ts';
import { manualClock } from '../../support/manual-clock.ts';

const settings = { checkModels: false, intervalMs: 10_000, timeoutMs: 2_000, failures: 3, successes: 2 };
const up: CheckResult = { kind: 'up', models: null };
const failed: CheckResult = { kind: 'failed', reason: 'status 503' };
const at = (providerSlug: string, upstreamModel = 'm') => ({ providerSlug, upstreamModel }) as Endpoint;

function checking(slugs: readonly string[] = ['a'], random = () => 0.5) {
  const clock = manualClock();
  const changes: ServerState[] = [];
  const calls: { provider: string; atMs: number; answer: (result: CheckResult) => void; signal: AbortSignal }[] = [];
  const startMs = clock.now();
  const checks = createHealthChecks(
    slugs.map((provider) => ({
      provider,
      settings,
      check: (signal) =>
        new Promise((answer) => void calls.push({ provider, atMs: clock.now() - startMs, answer, signal })),
    })),
    { clock, random, changed: (state) => void changes.push(state) },
  );
  checks.start();
  /** Runs the next checks of one server with these results. */
  const results = async (...given: CheckResult[]) => {
    for (const result of given) {
      await clock.advance(calls.length === 0 ? 0 : 10_000);
      calls.at(-1)?.answer(result);
      await clock.advance(0);
    }
  };
  return { clock, checks, calls, changes, results };
}

describe('a server that is checked', () => {
  it('is up until as many checks in a row have failed as the option says, and down until as many succeed', async () => {
    const { checks, results, changes } = checking();
    const isDown = () => checks.isDown(at('a'));
    expect(isDown()).toBe(false);
    await results(failed, failed);
    expect([isDown(), checks.state()[0]?.failure]).toEqual([false, 'status 503']);
    await results(failed);
    expect(isDown()).toBe(true);
    await results(up, failed, up);
    expect(isDown()).toBe(true);
    await results(up);
    expect(isDown()).toBe(false);
    expect(changes.map(({ isUp }) => isUp)).toEqual([false, true]);
    expect(checks.state()).toEqual([{ provider: 'a', isUp: true, sinceMs: expect.any(Number), failure: null }]);
  });
  it('is not down after failures that are not in a row', async () => {
    const { checks, results } = checking();
    await results(failed, failed, up, failed, failed, up);
    expect(checks.isDown(at('a'))).toBe(false);
  });
  it('stays as it was where a check could not be made', async () => {
    const { checks, results } = checking();
    await results(failed, failed, { kind: 'none' }, failed);
    expect(checks.isDown(at('a'))).toBe(true);
    await results({ kind: 'none' });
    expect(checks.isDown(at('a'))).toBe(true);
  });
  it('lacks the models that are not in its list', async () => {
    const { checks, results } = checking();
    await results({ kind: 'up', models: new Set(['m', 'llama:latest']) });
    expect(['m', 'llama', 'other'].map((model) => checks.isDown(at('a', model)))).toEqual([false, false, true]);
    await results(up);
    expect(checks.isDown(at('a', 'other'))).toBe(true);
    await results({ kind: 'up', models: new Set(['other']) });
    expect(checks.isDown(at('a', 'other'))).toBe(false);
  });
  it('says nothing of others', () => {
    expect(checking().checks.isDown(at('unknown'))).toBe(false);
  });
});

describe('checks', () => {
  it('begin at once, and wait for the interval after each end, a random tenth more or less', async () => {
    const numbers = [0, 0.999];
    const { clock, calls } = checking(['a'], () => numbers.shift() ?? 0.5);
    await clock.advance(0);
    calls[0]?.answer(up);
    await clock.advance(9_000);
    calls[1]?.answer(up);
    await clock.advance(10_998);
    calls[2]?.answer(up);
    expect(calls.map(({ atMs }) => atMs)).toEqual([0, 9_000, 19_998]);
  });
  it('never run twice at once for a server, and at most 8 at once for all', async () => {
    const { clock, calls } = checking(Array.from({ length: 20 }, (_, n) => `p${n}`));
    await clock.advance(60_000);
    expect(calls).toHaveLength(8);
    calls[0]?.answer(up);
    await clock.advance(0);
    expect(calls).toHaveLength(9);
    for (let n = 1; n < 20; n++) {
      calls[n]?.answer(up);
      await clock.advance(0);
    }
    expect(new Set(calls.map(({ provider }) => provider)).size).toBe(20);
  });
  it('stop when they are closed, with those that are running, and leave no timer', async () => {
    const { clock, checks, calls, changes } = checking(['a', 'b']);
    await clock.advance(0);
    calls[0]?.answer(up);
    await clock.advance(0);
    checks.close();
    expect(calls[1]?.signal.aborted).toBe(true);
    calls[1]?.answer(failed);
    await clock.advance(100_000);
    expect([calls.length, clock.pending, changes.length]).toEqual([2, 0, 0]);
  });
});
