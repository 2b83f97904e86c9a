import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  ask,
  type Cooldown,
  cooldownUntil,
  createCooldown,
  endProbe,
  fail,
  isTripped,
  merge,
  start,
  succeed,
} from '../../../src/catalog/health/cooldown.ts';

const options = { failuresToCooldown: 3, cooldownMs: 5_000, maxCooldownMs: 60_000 };
/** Some time after the epoch, in ms. */
const t = 1_000_000;

/** What happens to an endpoint: after so many seconds, and whether it is left alone then, until which second. */
type Step = [
  second: number,
  event: 'start' | 'ok' | 'fail' | 'end' | 'nothing' | `ask ${number}`,
  rests: number | null,
];

function play(steps: readonly Step[]): void {
  const cooldown = createCooldown();
  for (const [second, event, rests] of steps) {
    const nowMs = t + second * 1000;
    apply(cooldown, event, nowMs);
    const until = cooldownUntil(cooldown, nowMs);
    expect([second, event, until === undefined ? null : (until - t) / 1000]).toEqual([second, event, rests]);
  }
}

function apply(cooldown: Cooldown, event: Step[1], nowMs: number): void {
  if (event === 'start') start(cooldown, nowMs);
  else if (event === 'ok') succeed(cooldown, nowMs);
  else if (event === 'fail') fail(cooldown, nowMs, options);
  else if (event === 'end') endProbe(cooldown);
  else if (event !== 'nothing') ask(cooldown, nowMs, t + Number(event.slice(4)) * 1000);
}

describe('an endpoint', () => {
  it.each<[string, Step[]]>([
    [
      'rests for 5 s after three failures in a row',
      [
        [0, 'fail', null],
        [1, 'fail', null],
        [2, 'fail', 7],
        [6.999, 'nothing', 7],
        [7, 'nothing', null],
      ],
    ],
    [
      'does not rest when a success lies between',
      [
        [0, 'fail', null],
        [0, 'fail', null],
        [0, 'ok', null],
        [0, 'fail', null],
        [0, 'fail', null],
        [0, 'fail', 5],
      ],
    ],
    [
      'rests no longer for failures of what began before',
      [
        [0, 'fail', null],
        [0, 'fail', null],
        [0, 'fail', 5],
        [1, 'fail', 5],
        [2, 'fail', 5],
      ],
    ],
    [
      'rests twice as long after each try that fails, up to a minute, and starts anew after a success',
      [
        [0, 'fail', null],
        [0, 'fail', null],
        [0, 'fail', 5],
        [5, 'fail', 15],
        [15, 'fail', 35],
        [35, 'fail', 75],
        [75, 'fail', 135],
        [135, 'fail', 195],
        [195, 'ok', null],
        [195, 'fail', null],
        [195, 'fail', null],
        [195, 'fail', 200],
        [200, 'fail', 210],
        [201, 'ok', null],
        [201, 'fail', null],
        [201, 'fail', null],
        [201, 'fail', 206],
      ],
    ],
    [
      'is tried by one at a time after its rest',
      [
        [0, 'fail', null],
        [0, 'fail', null],
        [0, 'fail', 5],
        [6, 'start', 66],
        [7, 'nothing', 66],
        [8, 'end', null],
        [9, 'start', 69],
        [10, 'ok', null],
        [10, 'start', null],
      ],
    ],
    [
      'is tried again when whoever tried it has not been heard of for a minute',
      [
        [0, 'fail', null],
        [0, 'fail', null],
        [0, 'fail', 5],
        [6, 'start', 66],
        [66, 'nothing', null],
        [67, 'start', 127],
      ],
    ],
    [
      'is welcome at once when what began before its rest succeeds',
      [
        [0, 'fail', null],
        [0, 'fail', null],
        [0, 'fail', 5],
        [1, 'ok', null],
        [1, 'fail', null],
        [1, 'fail', null],
        [1, 'fail', 6],
      ],
    ],
    [
      'rests as long as it asked for, the later of two times',
      [
        [0, 'ask 10', 10],
        [0, 'ask 5', 10],
        [0, 'ask 20', 20],
        [20, 'nothing', null],
        [20, 'ask 19', null],
      ],
    ],
    [
      'rests as it asked although what began before succeeds, but not when what began after does',
      [
        [0, 'start', null],
        [0, 'ask 100', 100],
        [1, 'ok', 100],
        [2, 'start', 100],
        [3, 'ok', null],
        [4, 'ask 9', 9],
      ],
    ],
    [
      'rests until the later of what it asked for and its cooldown',
      [
        [0, 'ask 4', 4],
        [0, 'fail', 4],
        [0, 'fail', 4],
        [0, 'fail', 5],
        [1, 'ask 30', 30],
        [2, 'ok', 30],
      ],
    ],
  ])('%s', (_, steps) => play(steps));

  it('is begun by one of two that were planned at the same time', () => {
    const cooldown = tripped();
    expect([start(cooldown, t + 5_000), start(cooldown, t + 5_000)]).toEqual([true, false]);
  });
  it('does not rest for longer because a clock was set back', () => {
    const cooldown = tripped();
    start(cooldown, t + 6_000);
    expect(cooldownUntil(cooldown, t + 5_500)).toBe(undefined);
  });
});

describe('what another instance says', () => {
  it('ends a rest for good: the next one needs failures anew and is short', () => {
    const cooldown = tripped();
    fail(cooldown, t + 5_000, options);
    merge(cooldown, { ...createCooldown(), okMs: t + 6_000 });
    expect(cooldownUntil(cooldown, t + 6_000)).toBe(undefined);
    for (let i = 0; i < 2; i++) fail(cooldown, t + 7_000, options);
    expect(cooldownUntil(cooldown, t + 7_000)).toBe(undefined);
    fail(cooldown, t + 7_000, options);
    expect(cooldownUntil(cooldown, t + 7_000)).toBe(t + 12_000);
  });
  it('of a rest that began before the last success is of no use any more', () => {
    const cooldown = createCooldown();
    succeed(cooldown, t + 1_000);
    merge(cooldown, { ...createCooldown(), sinceMs: t, untilMs: t + 60_000, lengthMs: 60_000 });
    expect(cooldownUntil(cooldown, t + 1_000)).toBe(undefined);
    for (let i = 0; i < 3; i++) fail(cooldown, t + 2_000, options);
    expect(cooldownUntil(cooldown, t + 2_000)).toBe(t + 7_000);
  });
  it('ends what was asked for before it was known to be over, and nothing later', () => {
    const cooldown = createCooldown();
    ask(cooldown, t, t + 60_000);
    merge(cooldown, { ...createCooldown(), askedClearedMs: t + 1_000 });
    expect(cooldownUntil(cooldown, t + 1_000)).toBe(undefined);
    merge(cooldown, { ...createCooldown(), askedSinceMs: t + 1_100, askedUntilMs: t + 20_000 });
    expect(cooldownUntil(cooldown, t + 1_100)).toBe(t + 20_000);
    ask(cooldown, t + 2_000, t + 30_000);
    merge(cooldown, {
      ...createCooldown(),
      askedClearedMs: t + 1_500,
      askedSinceMs: t + 1_200,
      askedUntilMs: t + 90_000,
    });
    expect(cooldownUntil(cooldown, t + 2_000)).toBe(t + 30_000);
  });
});

describe('of what instances tell each other', () => {
  const asked = (sinceMs: number, untilMs: number) => ({
    ...createCooldown(),
    askedSinceMs: t + sinceMs,
    askedUntilMs: t + untilMs,
  });
  it.each([
    ['the last that was asked for is taken', [asked(0, 9_000), asked(1, 2_000)], t + 2_000],
    ['a success ends only what was asked for before it', [asked(0, 9_000), asked(1, 2_000), clearedAt(0)], t + 2_000],
    ['a success ends all that was asked for before it', [asked(0, 9_000), asked(1, 2_000), clearedAt(1)], undefined],
    ['the last rest is taken', [cooledDownAt(0, 9_000), cooledDownAt(1, 2_000)], t + 2_000],
    ['a success ends only the rests before it', [cooledDownAt(0, 9_000), cooledDownAt(1, 2_000), okAt(0)], t + 2_000],
  ])('%s, in any order', (_, told, until) => {
    for (const order of ordersOf(told)) {
      const cooldown = createCooldown();
      for (const one of order) merge(cooldown, one);
      expect(cooldownUntil(cooldown, t + 1)).toBe(until);
    }
  });

  function clearedAt(ms: number): Cooldown {
    return { ...createCooldown(), askedClearedMs: t + ms };
  }
  function cooledDownAt(sinceMs: number, lengthMs: number): Cooldown {
    return { ...createCooldown(), sinceMs: t + sinceMs, untilMs: t + lengthMs, lengthMs };
  }
  function okAt(ms: number): Cooldown {
    return { ...createCooldown(), okMs: t + ms };
  }
  function ordersOf<T>(all: readonly T[]): T[][] {
    if (all.length < 2) return [[...all]];
    return all.flatMap((one, i) => ordersOf(all.toSpliced(i, 1)).map((others) => [one, ...others]));
  }
});

describe('whatever happens', () => {
  const event = fc.oneof(
    fc.constantFrom('start', 'ok', 'fail', 'end', 'nothing'),
    fc.integer({ min: -10, max: 100 }).map((seconds) => `ask+${seconds}`),
  );
  const events = fc.array(fc.tuple(fc.integer({ min: 0, max: 70_000 }), event), { maxLength: 60 });

  it('a rest moves to an earlier time only by a success, and never reaches further than was asked or a minute', () => {
    fc.assert(
      fc.property(events, (all) => {
        const cooldown = createCooldown();
        let nowMs = t;
        let askedMs = 0;
        for (const [pauseMs, what] of all) {
          nowMs += pauseMs;
          const before = [cooldown.untilMs, cooldown.askedUntilMs] as const;
          if (what.startsWith('ask')) {
            const untilMs = nowMs + Number(what.slice(4)) * 1000;
            askedMs = Math.max(askedMs, untilMs);
            ask(cooldown, nowMs, untilMs);
          } else apply(cooldown, what as Step[1], nowMs);
          if (what !== 'ok') {
            expect(cooldown.untilMs).toBeGreaterThanOrEqual(before[0]);
            expect(cooldown.askedUntilMs).toBeGreaterThanOrEqual(before[1]);
          } else expect(isTripped(cooldown)).toBe(false);
          expect(cooldownUntil(cooldown, nowMs) ?? 0).toBeLessThanOrEqual(Math.max(askedMs, nowMs + 60_000));
        }
        expect(cooldownUntil(cooldown, Math.max(askedMs, nowMs + 60_000))).toBe(undefined);
      }),
    );
  });
  it('no two try it at once after a rest, unless the first is silent for a minute', () => {
    fc.assert(
      fc.property(events, (all) => {
        const cooldown = tripped();
        let nowMs = t;
        let probeMs: number | null = null;
        for (const [pauseMs, what] of all) {
          nowMs += pauseMs;
          if (what === 'start') {
            const isHalfOpen = isTripped(cooldown) && cooldown.untilMs <= nowMs;
            const isOpen = cooldownUntil({ ...cooldown, askedUntilMs: 0 }, nowMs) === undefined;
            const mayStart = start(cooldown, nowMs);
            if (!isHalfOpen) continue;
            expect(mayStart).toBe(isOpen);
            if (!mayStart) continue;
            expect(probeMs === null || nowMs - probeMs >= 60_000).toBe(true);
            probeMs = nowMs;
            expect(start(cooldown, nowMs)).toBe(false);
          } else if (what.startsWith('ask')) ask(cooldown, nowMs, nowMs + 1000 * Number(what.slice(4)));
          else {
            apply(cooldown, what as Step[1], nowMs);
            if (what !== 'nothing') probeMs = null;
          }
        }
      }),
    );
  });
  it('what instances tell each other comes to the same in any order and however often', () => {
    fc.assert(
      fc.property(fc.array(events, { minLength: 2, maxLength: 3 }), fc.nat(), (histories, seed) => {
        const all = histories.map((history) => {
          const cooldown = createCooldown();
          let nowMs = t;
          for (const [pauseMs, what] of history) {
            nowMs += pauseMs;
            if (what.startsWith('ask')) ask(cooldown, nowMs, nowMs + 1000 * Number(what.slice(4)));
            else apply(cooldown, what as Step[1], nowMs);
          }
          return cooldown;
        });
        const [one, other] = [createCooldown(), createCooldown()];
        for (const cooldown of all) merge(one, cooldown);
        const turned = all.toReversed();
        for (let i = 0; i < turned.length * 2; i++) merge(other, turned[(i + seed) % turned.length] as Cooldown);
        for (const atMs of [t, t + 10_000, t + 100_000, t + 1_000_000]) {
          expect(cooldownUntil(other, atMs)).toBe(cooldownUntil(one, atMs));
        }
      }),
    );
  });
});

/** After three failures: rests for 5 s. */
function tripped(): Cooldown {
  const cooldown = createCooldown();
  for (let i = 0; i < 3; i++) fail(cooldown, t, options);
  return cooldown;
}
