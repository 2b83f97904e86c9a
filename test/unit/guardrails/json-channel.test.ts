import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Channel } from '../../../src/guardrails/text/channel.ts';
import { Findings } from '../../../src/guardrails/text/findings.ts';
import { JsonChannel } from '../../../src/guardrails/text/json-channel.ts';
import { atOnce, unpaced } from '../../../src/guardrails/text/pace.ts';
import type { TextPattern } from '../../../src/guardrails/text/pattern.ts';
import { compilePatterns } from '../../../src/guardrails/text/patterns.ts';
import { Texts } from '../../../src/guardrails/text/texts.ts';
import { runs } from '../../support/runs.ts';

const patterns: readonly TextPattern[] = [
  { literal: 'bluebird', name: 'word', action: 'block' },
  { regex: 'pin [0-9]{4}', name: 'pin', action: 'block' },
];

class Refused extends Error {}

/** Sends a text in pieces. @returns what was released, and whether it was refused */
async function sent(pieces: readonly string[]): Promise<{ released: string; isRefused: boolean }> {
  const split = (await compilePatterns(patterns)).output;
  const findings = new Findings('output');
  const refuse = () => {
    if (findings.blocked.length > 0) throw new Refused();
  };
  const channel = new JsonChannel(
    new Texts(split, findings),
    () => new Channel({ acting: split.acting, flagging: [] }, findings, refuse, unpaced),
  );
  let released = '';
  try {
    for (const piece of pieces) released += atOnce(channel.push(piece));
    const rest = atOnce(channel.end());
    refuse();
    return { released: released + rest, isRefused: false };
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return { released, isRefused: true };
  }
}

const cuts = fc.array(fc.integer({ min: 0, max: 400 }), { maxLength: 12 });

function cutAt(text: string, places: readonly number[]): string[] {
  const sorted = [0, ...places.map((place) => Math.min(place, text.length)).sort((a, b) => a - b), text.length];
  return sorted.slice(1).map((end, at) => text.slice(sorted[at], end));
}

const bits = fc.constantFrom(
  'a',
  ' ',
  '"',
  '\\',
  '\\\\',
  '\\n',
  '\\u0041',
  '\\u',
  '\\ud83d\\ude00',
  '😀',
  'é',
  'pin 12',
  '\\u00zz',
);

it('JSON of which nothing is found leaves as it came, wherever it is cut', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(bits, { maxLength: 60 }), cuts, async (parts, places) => {
      const text = `{${parts.join('')}`;
      expect(await sent(cutAt(text, places))).toEqual({ released: text, isRefused: false });
    }),
    { seed: 20261126, numRuns: runs(100, 2_000) },
  );
});

it('JSON with what is blocked is refused, and nothing of that was released, however it is written', async () => {
  const escaped = (text: string) =>
    fc
      .array(fc.boolean(), { minLength: text.length, maxLength: text.length })
      .map((flags) =>
        Array.from(text, (char, at) =>
          flags[at] ? `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}` : char,
        ).join(''),
      );
  const secrets = fc.constantFrom('bluebird', 'pin 1234').chain(escaped);
  const around = fc.string({ unit: fc.constantFrom('x', ' ', '\\n', '\\"', 'é') });
  await fc.assert(
    fc.asyncProperty(around, secrets, around, cuts, async (before, secret, after, places) => {
      const text = `{"a": "${before}${secret}${after}"}`;
      const { released, isRefused } = await sent(cutAt(text, places));
      const begin = text.length - secret.length - after.length - 2;
      expect([isRefused, text.startsWith(released), released.length <= begin]).toEqual([true, true, true]);
    }),
    { seed: 20261126, numRuns: runs(100, 2_000) },
  );
});
