import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Findings } from '../../../src/guardrails/text/findings.ts';
import { atOnce, Pace, TooMuchWork } from '../../../src/guardrails/text/pace.ts';
import { patternFaults, type TextPattern } from '../../../src/guardrails/text/pattern.ts';
import { compilePatterns } from '../../../src/guardrails/text/patterns.ts';
import { Texts } from '../../../src/guardrails/text/texts.ts';
import { builtinSlugs } from '../../../src/schema/tenants/guardrail.ts';
import { runs } from '../../support/runs.ts';

const card = '4111111111111111';

async function patternsOf(patterns: readonly TextPattern[]) {
  return (await compilePatterns(patterns)).input;
}

const all: readonly TextPattern[] = [
  { builtin: 'credit-card', action: 'redact' },
  { literal: 'bluebird', name: 'word', action: 'redact' },
  { regex: String.raw`"pin":\s*\d+`, name: 'pin', action: 'redact' },
];

describe('a text that is JSON', () => {
  it('stays JSON without the secret, however the secret is written in it', async () => {
    const patterns = await patternsOf(all);
    const escaped = (text: string) =>
      fc
        .array(fc.boolean(), { minLength: text.length, maxLength: text.length })
        .map((flags) =>
          Array.from(text, (char, at) =>
            flags[at] ? `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}` : char,
          ).join(''),
        );
    const secret = fc.oneof(
      fc.constantFrom(card, '4.111111111111111e15', `${card}.0`),
      fc
        .constantFrom(card, 'bluebird')
        .chain(escaped)
        .map((text) => `"a \\/ ${text} b"`),
      escaped(`{"card":${card}}`).map((text) => JSON.stringify(`{"x":"${text.replaceAll('"', '\\"')}"}`)),
    );
    fc.assert(
      fc.property(secret, fc.json({ maxDepth: 2 }), (hidden, other) => {
        const written = `{"one": ${other}, "x":[${hidden}], "big": 12345678901234567890, "one": 1}`;
        const redacted = atOnce(new Texts(patterns, new Findings('input')).text(written));
        const parsed = JSON.parse(redacted) as Record<string, unknown>;
        const said = JSON.stringify(parsed);
        expect(said.includes(card) || said.includes('bluebird') || said.includes('111111111111')).toBe(false);
        expect([redacted.includes('12345678901234567890'), JSON.stringify(parsed.x).includes('REDACTED')]).toEqual([
          true,
          true,
        ]);
      }),
      { seed: 20261126, numRuns: runs(200, 3_000) },
    );
  });
  it('stays JSON where a match is in no one value', async () => {
    const redact = async (regex: string, text: string) =>
      atOnce(new Texts(await patternsOf([{ regex, name: 'x', action: 'redact' }]), new Findings('input')).text(text));
    expect(await redact(String.raw`"pin":\s*\d+`, '{"pin": 1234, "a": 1}')).toBe(
      '{"[REDACTED:x]": "[REDACTED:x]", "a": 1}',
    );
    expect(await redact(String.raw`\{`, '{"a": {}}')).toBe('{"redacted":"[REDACTED:x]"}');
  });
});

describe('long work', () => {
  const clock = () => {
    let nowMs = 0;
    return { monotonic: () => nowMs++ };
  };
  const text = `${'x bluebird 4111 1111 1111 1111 '.repeat(600)}{`;

  it('pauses, and comes to the same', async () => {
    const patterns = await patternsOf([...all, { regex: 'x+y?', name: 'r', action: 'flag' }]);
    const pace = new Pace({ clock: clock(), group: 'w' });
    const sliced = pace.run(new Texts(patterns, new Findings('input'), pace).text(text), 1e9);
    expect(sliced).toBeInstanceOf(Promise);
    expect(await sliced).toBe(atOnce(new Texts(patterns, new Findings('input')).text(text)));
  });
  it('is given up where there is too much of it', async () => {
    const patterns = await patternsOf(all);
    const pace = new Pace({ clock: clock(), group: 'w' });
    await expect(async () => pace.run(new Texts(patterns, new Findings('input'), pace).text(text), 5)).rejects.toThrow(
      TooMuchWork,
    );
  });
});

it('a guardrail takes 0, 1 and 100 patterns of its own with every number of built-in ones', () => {
  for (const count of [0, 1, 100, 101])
    for (let builtins = 0; builtins <= 2 * builtinSlugs.length + 1; builtins++) {
      const patterns: TextPattern[] = [
        ...Array.from(
          { length: builtins },
          (_, at): TextPattern => ({
            builtin: builtinSlugs[at % builtinSlugs.length] ?? 'email',
            action: 'flag',
          }),
        ),
        ...Array.from({ length: count }, (): TextPattern => ({ literal: 'a', name: 'a', action: 'flag' })),
      ];
      const isRight = count <= 100 && builtins <= 2 * builtinSlugs.length && count + builtins > 0;
      expect([count, builtins, patternFaults(patterns, 'patterns').length === 0]).toEqual([count, builtins, isRight]);
    }
});
