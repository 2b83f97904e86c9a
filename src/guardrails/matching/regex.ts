import type { Matcher } from './matcher.ts';
import { windowedMatcher } from './windowed.ts';

/** Why an expression is refused. */
export class PatternError extends Error {}

/** Instructions of a compiled expression: each may be looked at once for each character. */
const mostInstructions = 2_000;
/** Matches of one expression in one text. */
const mostMatches = 1_000;

/**
 * What RE2 does not have, found without it: the engine is loaded when the first expression is used.
 * @returns what is wrong with an expression; null: nothing that shows at once
 */
export function visibleFault(source: string): string | null {
  const plain = source.replace(/\\\\/g, '');
  if (/\(\?<?[=!]/.test(plain)) return 'look-around is not available in RE2';
  if (/\\[1-9]|\\k</.test(plain)) return 'backreferences are not available in RE2';
  return null;
}

/**
 * Compiles an expression in the syntax of RE2, which takes time in proportion to the text whatever the expression is.
 * @param maxLength  characters of a match; a longer one is taken as if the text ended there
 * @throws PatternError saying what is wrong with the expression
 * @see https://github.com/google/re2/wiki/Syntax
 */
export async function regexMatcher(source: string, ignoresCase: boolean, maxLength: number): Promise<Matcher> {
  const { RE2JS } = await import('re2js');
  const compiled = compile();
  if (compiled.programSize() > mostInstructions)
    throw new PatternError('the expression is too large: expected fewer or smaller repetitions');
  if (compiled.test('')) throw new PatternError('the expression matches an empty text');
  return windowedMatcher(
    {
      maxMatches: mostMatches,
      test: (text) => compiled.test(text),
      find(text, from) {
        const search = compiled.matcher(text);
        return search.find(from) ? { start: search.start(), end: search.end() } : null;
      },
    },
    maxLength,
  );

  function compile() {
    try {
      return RE2JS.compile(source, ignoresCase ? RE2JS.CASE_INSENSITIVE : 0);
    } catch (error) {
      throw new PatternError(error instanceof Error ? error.message.replace(/^error parsing regexp: /, '') : 'not RE2');
    }
  }
}
