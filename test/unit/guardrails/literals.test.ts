import fc from 'fast-check';
import { expect, it } from 'vitest';
import { literalMatcher } from '../../../src/guardrails/matching/literals.ts';
import { atOnce } from '../../../src/guardrails/text/pace.ts';
import { Scanner } from '../../../src/guardrails/text/scanner.ts';
import { runs } from '../../support/runs.ts';

type Literal = readonly [text: string, ignoresCase: boolean];

/** Every match, each literal by itself, by the plainest search. */
function naive(literals: readonly Literal[], text: string): string[] {
  return literals.flatMap(([literal, ignoresCase], by) => {
    const [look, needle] = ignoresCase ? [text.toLowerCase(), literal.toLowerCase()] : [text, literal];
    const found: string[] = [];
    for (let at = look.indexOf(needle); at >= 0; at = look.indexOf(needle, at + needle.length))
      found.push(`${by} ${at} ${at + needle.length}`);
    return found;
  });
}

it('a set of literals finds what a search for each of them finds, wherever the text is cut', () => {
  const word = fc.stringMatching(/^[abAB]{1,5}$/);
  const literal = fc.tuple(word, fc.boolean());
  fc.assert(
    fc.property(
      fc.array(literal, { minLength: 1, maxLength: 12 }),
      fc.array(fc.stringMatching(/^[abABx]{0,9}$/), { maxLength: 8 }),
      (literals, pieces) => {
        const found: string[] = [];
        const patterns = literals.map(([text, ignoresCase], by) => ({
          name: `${by}`,
          matcher: literalMatcher(text, ignoresCase),
        }));
        const scanner = new Scanner(patterns, ({ name }, _, place) =>
          found.push(`${name} ${place?.start} ${place?.end}`),
        );
        for (const piece of pieces) atOnce(scanner.push(piece));
        atOnce(scanner.end());
        expect(found.sort()).toEqual(naive(literals, pieces.join('')).sort());
      },
    ),
    { seed: 20261126, numRuns: runs(300, 5_000) },
  );
});
