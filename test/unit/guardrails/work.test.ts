import process from 'node:process';
import { describe, expect, it } from 'vitest';
import { builtinPatterns } from '../../../src/guardrails/builtin/index.ts';
import type { TextMatcher } from '../../../src/guardrails/matching/matcher.ts';
import { compileRegex } from '../../../src/guardrails/matching/regex.ts';
import { Pace } from '../../../src/guardrails/text/pace.ts';
import { patternLimits } from '../../../src/guardrails/text/pattern.ts';
import { Scanner } from '../../../src/guardrails/text/scanner.ts';
import { isLongRun } from '../../support/runs.ts';

/** Milliseconds of the processor, so that what else runs on the machine does not count. */
function cpuMs(work: () => void): number {
  const start = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1_000;
}

/** The least of some runs: the first compiles. */
function leastMs(work: () => void, count = 3): number {
  return Math.min(...Array.from({ length: count }, () => cpuMs(work)));
}

/** What a machine takes for a million characters, one by one: some 5 ms on an ordinary one. */
function unitMs(): number {
  const text = '4111 '.repeat(200_000);
  let sum = 0;
  const ms = leastMs(() => {
    for (let at = 0; at < text.length; at++) sum = (sum * 31 + text.charCodeAt(at)) % 1_000_003;
  }, 5);
  expect(sum).toBeGreaterThan(0);
  return Math.max(1, ms);
}

/** Expressions that take many steps, by how often something is repeated, and the characters of their texts. */
const expressions: readonly (readonly [name: string, source: (count: number) => string, chars: string])[] = [
  ['a counted class', (count) => `[ab]*a[ab]{${count}}c`, 'ab'],
  ['anchored', (count) => `^[ab]*a[ab]{${count}}c`, 'ab'],
  ['counted within counted', (count) => `(?:(?:a?b?){${Math.ceil(count ** 0.5)}}){${Math.ceil(count ** 0.5)}}c`, 'ab'],
  ['options', (count) => `(?:a?){${count}}c`, 'a'],
  ['groups', (count) => `(?:(a)|(b)|(ab)){${count}}c`, 'ab'],
  ['groups within groups', (count) => `[ab]*a(?:((?:\\pL)?)*|((?i:k))*|([[:alpha:]])+?){${count}}c`, 'ab'],
  ['a big class', (count) => `(?:[\\pL\\p{So}][\\pL\\pN]?){${count}}c`, 'aä1'],
  ['any case', (count) => `(?i)[\\p{Lu}]*k[\\p{Lu}]{${count}}c`, 'kK'],
  [
    'alternatives',
    (count) => `(?:${Array.from({ length: Math.min(count, 100) }, (_, at) => `a${'ab'[at % 2]}b?`).join('|')})+c`,
    'ab',
  ],
  ['boundaries', (count) => `(?:\\b[ab ]\\b|[ab ]\\B|[ab ]){${count}}c`, 'ab '],
  ['stars within stars', (count) => `(?:(?:a*b*)*[ab]){${count}}c`, 'ab'],
];

/** Texts in which the character that every match needs stands often, seldom, or nowhere. */
function textsOf(chars: string, length: number): string[] {
  let seed = 1;
  const next = () => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return seed / 2_147_483_648;
  };
  return [0, 7, 60, 300].map((every) =>
    Array.from({ length }, (_, at) =>
      every > 0 && at % every === every - 1 ? 'c' : chars.charAt(Math.floor(next() * chars.length)),
    ).join(''),
  );
}

/** The largest expression of a form that may be. */
async function largest(source: (count: number) => string, maxLength: number) {
  let [least, most] = [1, 950];
  let found: Awaited<ReturnType<typeof compileRegex>> | null = null;
  while (least <= most) {
    const count = Math.floor((least + most) / 2);
    try {
      found = await compileRegex(source(count), false, maxLength, patternLimits.steps);
      least = count + 1;
    } catch {
      most = count - 1;
    }
  }
  return found;
}

/** The longest that a matcher works between two places where it may pause, after a first run. */
function longestMs(matcher: TextMatcher, text: string): number {
  const times: number[] = [];
  for (let run = 0; run < 2; run++) {
    let at = 0;
    for (let call = 0; call < 6 && at < text.length; call++) {
      const from = at;
      const ms = cpuMs(() => {
        const found = matcher.next(text, from, false);
        at = found.kind === 'match' ? Math.max(found.end, found.start + 1) : Math.max(from + 1, found.decided);
      });
      times[call] = Math.min(times[call] ?? Number.POSITIVE_INFINITY, ms);
    }
  }
  return Math.max(...times);
}

// In multiples of a unit of some 5 ms. On a machine where the unit is longer, all of it is.
describe.runIf(isLongRun)('work that cannot pause', () => {
  it('is less than 50 ms for the largest expression that may be, of every form', async () => {
    const unit = unitMs();
    const times: [string, number, number][] = [];
    for (const [name, source, chars] of expressions)
      for (const maxLength of [64, 256, 1_024, 4_096]) {
        const compiled = await largest(source, maxLength);
        if (compiled === null) continue;
        const { matcher } = compiled;
        if (matcher.kind !== 'text') throw new Error('An expression is a text matcher');
        for (const text of textsOf(chars, maxLength * 5))
          times.push([name, maxLength, longestMs(matcher, text) / unit]);
      }
    expect(times.length).toBeGreaterThan(150);
    expect(times.filter(([, , units]) => units > 10)).toEqual([]);
  }, 300_000);
});

const shapes = [
  '4111 ',
  '411 ',
  '41 ',
  '1 ',
  '4111-',
  '123.456.',
  '(030) ',
  '+1 ',
  'AB 12 ',
  'a@',
  'eyJ.',
  'sk-a ',
  '-----BEGIN ',
  'ignore all the ',
];

describe('all built-in patterns at once', () => {
  const patterns = Object.entries(builtinPatterns).map(([name, make]) => ({ name, matcher: make() }));

  it.each(shapes)('pause again and again, and come to an end in proportion to the text: %j', async (shape) => {
    /** How often the work asks whether to pause: at least so often it could. */
    const looksFor = async (chars: number) => {
      let looks = 0;
      const pace = new Pace({ clock: { monotonic: () => looks++ }, group: 'w' });
      await pace.run(new Scanner(patterns, () => {}, pace).end(shape.repeat(chars / shape.length)), 1e9);
      return looks;
    };
    const [few, many] = [await looksFor(20_000), await looksFor(80_000)];
    expect(many).toBeLessThan(few * 5 + 50);
    expect(many).toBeGreaterThan(patterns.length * 4);
  });
  it.runIf(isLongRun)(
    'take some passes over the text, whatever it is',
    () => {
      const times = shapes.map((shape): [string, number] => {
        const text = shape.repeat(1_000_000 / shape.length);
        // Right before the work: what else runs on the machine slows both.
        const unit = unitMs();
        const ms = leastMs(() => {
          for (const work = new Scanner(patterns, () => {}).end(text); work.next().done !== true; );
        });
        return [shape, ms / unit];
      });
      expect(times.filter(([, units]) => units > 250)).toEqual([]);
    },
    120_000,
  );
});
