import { describe, expect, it } from 'vitest';
import type { WorkspaceId } from '../../../src/call/workspace.ts';
import { createHealth, type Health, type HealthDeps, type Observation } from '../../../src/catalog/health/index.ts';
import { type ManualClock, manualClock } from '../../support/manual-clock.ts';

const key = 'up up-fast';

interface Setting {
  clock: ManualClock;
  health: Health;
  /** Observes the same so many times. */
  see(times: number, seen: Observation): void;
  view(): ReturnType<Health['view']>;
  statistics(): ReturnType<Health['statistics']>;
}

function setting(options: Partial<HealthDeps> = {}): Setting {
  const clock = manualClock();
  const health = createHealth({
    clock,
    cooldown: { failuresToCooldown: 3, cooldownMs: 5_000, maxCooldownMs: 60_000 },
    ...options,
  });
  return {
    clock,
    health,
    see(times, seen) {
      for (let i = 0; i < times; i++) health.observe(key, seen);
    },
    view: () => health.view(clock.now()),
    statistics: () => health.statistics(key, clock.now()),
  };
}

const minute = 60_000;

describe('percentiles', () => {
  it('tell the time to first token and the speed that so many percent reach', () => {
    const { health, view } = setting();
    for (let i = 1; i <= 100; i++) health.observe(key, { firstTokenMs: i * 10, tokensPerSecond: i });
    const latency = view().latency(key)!;
    const throughput = view().throughput(key)!;
    for (const [percent, exact] of [
      ['p50', 500],
      ['p75', 750],
      ['p90', 900],
      ['p99', 990],
    ] as const) {
      expect(latency[percent] / exact).toBeGreaterThan(0.84);
      expect(latency[percent] / exact).toBeLessThan(1.19);
    }
    for (const [percent, exact] of [
      ['p50', 51],
      ['p75', 26],
      ['p90', 11],
      ['p99', 2],
    ] as const) {
      expect(throughput[percent] / exact).toBeGreaterThan(0.84);
      expect(throughput[percent] / exact).toBeLessThan(1.19);
    }
    expect(view().latencyP95(key)! / 950).toBeCloseTo(1, 0.7);
  });
  it('need five values, the 95th twenty', async () => {
    const { see, view, clock } = setting();
    see(4, { firstTokenMs: 100, tokensPerSecond: 10 });
    expect([view().latency(key), view().throughput(key)]).toEqual([null, null]);
    see(1, { firstTokenMs: 100, tokensPerSecond: 10 });
    await clock.advance(1000);
    expect(view().latency(key)).not.toBe(null);
    expect(view().throughput(key)).not.toBe(null);
    see(14, { firstTokenMs: 100 });
    await clock.advance(1000);
    expect(view().latencyP95(key)).toBe(null);
    see(1, { firstTokenMs: 100 });
    await clock.advance(1000);
    expect(view().latencyP95(key)).toBeGreaterThan(90);
  });
  it('are made anew once a second at most, and only when something changed', async () => {
    const { see, view, clock } = setting();
    see(5, { firstTokenMs: 100 });
    const first = view().latency(key);
    see(50, { firstTokenMs: 5000 });
    await clock.advance(999);
    expect(view().latency(key)).toBe(first);
    await clock.advance(1);
    const second = view().latency(key);
    expect(second!.p50).toBeGreaterThan(4000);
    await clock.advance(30_000);
    expect(view().latency(key)).toBe(second);
  });
  it('forget what is older than their window', async () => {
    const { see, view, statistics, clock } = setting();
    see(5, { firstTokenMs: 100, tokensPerSecond: 10 });
    await clock.advance(4 * minute);
    expect(view().latency(key)).not.toBe(null);
    await clock.advance(minute);
    expect(view().latency(key)).toBe(null);
    expect(statistics().latency30m).not.toBe(null);
    await clock.advance(25 * minute);
    expect(statistics().latency30m).toBe(null);
    expect(statistics().throughput30m).toBe(null);
    expect(statistics().latency1d).not.toBe(null);
    await clock.advance(23.5 * 60 * minute);
    expect(statistics().latency1d).toBe(null);
    expect(statistics().throughput1d).toBe(null);
  });
  it('mix what was seen at different times', async () => {
    const { see, view, clock } = setting();
    see(10, { firstTokenMs: 100 });
    await clock.advance(3 * minute);
    see(30, { firstTokenMs: 1000 });
    await clock.advance(minute - 1);
    expect(view().latency(key)!.p50).toBeGreaterThan(900);
    expect(view().latency(key)!.p99).toBeLessThan(1200);
    await clock.advance(1);
    see(40, { firstTokenMs: 10 });
    await clock.advance(1000);
    expect(view().latency(key)!.p50).toBeLessThan(12);
  });
});

describe('uptime', () => {
  it('is the part that succeeded, without what was rate-limited', () => {
    const { see, statistics } = setting();
    see(19, { outcome: 'ok' });
    see(1, { outcome: 'failed' });
    see(100, { outcome: 'limited' });
    expect(statistics()).toMatchObject({ uptime5m: 95, uptime30m: 95, uptime1d: 95 });
  });
  it('needs five attempts that were not rate-limited', () => {
    const { see, statistics } = setting();
    see(4, { outcome: 'ok' });
    see(9, { outcome: 'limited' });
    expect(statistics()).toMatchObject({ uptime5m: null, uptime30m: null, uptime1d: null });
    see(1, { outcome: 'ok' });
    expect(statistics()).toMatchObject({ uptime5m: 100, uptime30m: 100, uptime1d: 100 });
  });
  it('rolls over 5 minutes, 30 minutes and a day', async () => {
    const { see, statistics, clock } = setting();
    see(10, { outcome: 'failed' });
    await clock.advance(60 * minute);
    see(10, { outcome: 'ok' });
    await clock.advance(10 * minute);
    see(30, { outcome: 'ok' });
    expect(statistics()).toMatchObject({ uptime5m: 100, uptime30m: 100, uptime1d: 80 });
    await clock.advance(6 * minute);
    expect(statistics()).toMatchObject({ uptime5m: null, uptime30m: 100, uptime1d: 80 });
  });
});

describe('an outage', () => {
  it.each<[ok: number, failed: number, limited: number, expected: boolean]>([
    [0, 0, 0, false],
    [0, 0, 9, false],
    [0, 1, 0, true],
    [4, 1, 0, true],
    [5, 1, 0, false],
    [5, 1, 9, false],
    [8, 2, 9, true],
    [100, 24, 0, false],
    [100, 25, 0, true],
  ])('with %d successes, %d failures and %d rate limits: %s', (ok, failed, limited, expected) => {
    const { see, view } = setting();
    see(failed, { outcome: 'failed' });
    see(limited, { outcome: 'limited' });
    see(ok, { outcome: 'ok' });
    expect(view().hasOutage(key)).toBe(expected);
  });
  it('is over after 30 s', async () => {
    const { see, view, clock } = setting();
    see(1, { outcome: 'failed' });
    await clock.advance(29_999);
    expect(view().hasOutage(key)).toBe(true);
    await clock.advance(1);
    expect(view().hasOutage(key)).toBe(false);
  });
  it('shows at once, and is over as soon as enough succeeds', () => {
    const { see, view } = setting();
    see(4, { outcome: 'ok' });
    expect(view().hasOutage(key)).toBe(false);
    see(1, { outcome: 'failed' });
    expect(view().hasOutage(key)).toBe(true);
    see(1, { outcome: 'ok' });
    expect(view().hasOutage(key)).toBe(false);
  });
});

describe('rests', () => {
  it('come after as many failures and last as long as the options say', async () => {
    const { see, view, clock } = setting({ cooldown: { failuresToCooldown: 2, cooldownMs: 100, maxCooldownMs: 150 } });
    see(2, { outcome: 'failed' });
    expect(view().cooldownUntil(key)).toBe(clock.now() + 100);
    await clock.advance(100);
    expect(view().cooldownUntil(key)).toBe(undefined);
    see(1, { outcome: 'failed' });
    expect(view().cooldownUntil(key)).toBe(clock.now() + 150);
  });
  it('end with a success; then one attempt is let through at a time', async () => {
    const { health, see, view, clock } = setting();
    see(3, { outcome: 'failed' });
    await clock.advance(5_000);
    expect(health.started(key)).toBe(true);
    expect(view().cooldownUntil(key)).toBe(clock.now() + 60_000);
    expect(health.started(key)).toBe(false);
    see(1, { tokensPerSecond: 10 });
    expect(view().cooldownUntil(key)).toBeDefined();
    see(1, {});
    expect(view().cooldownUntil(key)).toBe(undefined);
    health.started(key);
    see(1, { outcome: 'limited' });
    expect(view().cooldownUntil(key)).toBe(undefined);
    health.started(key);
    see(1, { outcome: 'ok' });
    expect([health.started(key), health.started(key), view().cooldownUntil(key)]).toEqual([true, true, undefined]);
  });
  it('are not for rate limits', () => {
    const { see, view } = setting();
    see(50, { outcome: 'limited' });
    expect(view().cooldownUntil(key)).toBe(undefined);
  });
  it('that were asked for last until the later time', () => {
    const { health, view, clock } = setting();
    const nowMs = clock.now();
    health.coolDown(key, nowMs + 100);
    health.coolDown(key, nowMs + 50);
    health.coolDown('other key', nowMs + 70);
    expect(view().cooldownUntil(key)).toBe(nowMs + 100);
    expect(view().cooldownUntil('other key')).toBe(nowMs + 70);
    expect(health.view(nowMs + 99).cooldownUntil(key)).toBe(nowMs + 100);
    expect(health.view(nowMs + 100).cooldownUntil(key)).toBe(undefined);
  });
});

describe('the status', () => {
  it('is default where nothing is known or all is well', () => {
    const { see, statistics } = setting();
    expect(statistics().status).toBe('default');
    see(20, { outcome: 'ok' });
    see(1, { outcome: 'limited' });
    expect(statistics().status).toBe('default');
  });
  it('is degraded with an uptime under 95 % in 5 minutes', async () => {
    const { see, statistics, clock } = setting();
    see(18, { outcome: 'ok' });
    see(1, { outcome: 'failed' });
    await clock.advance(minute);
    expect(statistics().status).toBe('degraded');
    see(1, { outcome: 'ok' });
    expect(statistics()).toMatchObject({ uptime5m: 95, status: 'default' });
  });
  it('is degraded with an outage', () => {
    const { see, statistics } = setting();
    see(1, { outcome: 'failed' });
    expect(statistics()).toMatchObject({ uptime5m: null, status: 'degraded' });
  });
  it('is degraded while it is left alone for a reason of its own', async () => {
    const { health, statistics, clock } = setting();
    health.coolDown(key, clock.now() + minute);
    expect(statistics().status).toBe('degraded');
    await clock.advance(minute);
    expect(statistics().status).toBe('default');
  });
  it('is down while it rests after failures, then degraded until a success', async () => {
    const { see, statistics, clock } = setting();
    see(3, { outcome: 'failed' });
    expect(statistics().status).toBe('down');
    await clock.advance(5_000);
    expect(statistics().status).toBe('degraded');
    await clock.advance(60 * minute);
    expect(statistics().status).toBe('degraded');
    see(1, { outcome: 'ok' });
    expect(statistics().status).toBe('default');
  });
  it('is down when most fails', async () => {
    const { see, statistics, clock } = setting();
    for (let i = 0; i < 3; i++) {
      see(2, { outcome: 'failed' });
      see(1, { outcome: 'ok' });
    }
    await clock.advance(minute);
    expect(statistics().status).toBe('down');
  });
});

describe('keys', () => {
  it('know nothing of each other', () => {
    const { health, see, clock } = setting();
    see(30, { outcome: 'failed', firstTokenMs: 10, tokensPerSecond: 10 });
    const view = health.view(clock.now());
    for (const other of ['up up-other', `${key} 7d44c1a8-6a0e-4a52-8ff5-9c5c4f1e9a10`]) {
      expect(view.cooldownUntil(key)).toBeDefined();
      expect(view.cooldownUntil(other)).toBe(undefined);
      expect([view.hasOutage(key), view.hasOutage(other)]).toEqual([true, false]);
      expect([view.latency(other), view.throughput(other), view.latencyP95(other)]).toEqual([null, null, null]);
      expect(view.latency(key)).not.toBe(null);
      expect(health.statistics(other, clock.now()).status).toBe('default');
    }
  });
  it('are forgotten of the workspace that has most, also where others use them', () => {
    const { health, view, clock } = setting({ maxEndpoints: 20 });
    const untilMs = clock.now() + 60_000;
    const [flood, victim] = ['flood', 'victim'] as WorkspaceId[];
    // Of the operator's credential, which both use; and of one of the victim's own.
    health.observe('shared', { outcome: 'failed' }, flood, flood);
    health.coolDown('shared', untilMs, victim, victim);
    health.coolDown('own', untilMs, null, victim);
    for (let n = 0; n < 1_000; n++) {
      health.observe(`flood/${n}`, { outcome: 'failed' }, flood, flood);
      health.coolDown(`flood-key ${n}`, untilMs, null, flood);
    }
    const seen = health.view(clock.now(), victim);
    expect([seen.cooldownUntil('shared'), seen.cooldownUntil('own')]).toEqual([untilMs, untilMs]);
    expect(view().cooldownUntil('flood-key 999')).toBe(untilMs);
    expect(view().cooldownUntil('flood-key 900')).toBe(undefined);
  });
  it('are forgotten where there are too many, the one that was not in use for longest first', () => {
    const { health, view, clock } = setting({ maxEndpoints: 10 });
    const untilMs = clock.now() + 1000;
    for (let i = 0; i < 1000; i++) {
      health.coolDown(`endpoint-${i}`, untilMs);
      health.coolDown('endpoint-0', untilMs + i);
    }
    const resting = Array.from({ length: 1000 }, (_, i) => `endpoint-${i}`).filter((one) => view().cooldownUntil(one));
    expect(resting).toHaveLength(10);
    expect(resting).toContain('endpoint-0');
  });
});
