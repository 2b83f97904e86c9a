import type { TextMatcher } from './matcher.ts';
import { windowChars, windowedMatcher } from './windowed.ts';

/** The refusal of an expression, with the reason. */
export class PatternError extends Error {}

/** The refusal of an expression whose work on one window is more than one turn of the event loop may take. */
export class TooLargeError extends PatternError {}

/** The most matches of one expression in one text. */
const mostMatches = 1_000;
/** The number of steps after which the work may pause. */
const stepsAtOnce = 20_000;
/** The most bytes of the engine's memory of states. It makes new states while there is room, and each takes time. */
const mostStateBytes = 64 * 1024;

/** A compiled expression. */
export interface CompiledRegex {
  readonly matcher: TextMatcher;
  /** The most steps that the engine may take for one window: instructions of the expression times characters. */
  readonly steps: number;
}

/**
 * Compiles an expression in the syntax of RE2. The time to search a text is proportional to its length for every
 * expression.
 * @param maxLength  the most characters of a match; a longer one ends as if the text ended there
 * @param maxSteps   the most steps for one window
 * @throws PatternError that describes the fault of the expression
 * @see https://github.com/google/re2/wiki/Syntax
 */
export async function compileRegex(
  source: string,
  ignoresCase: boolean,
  maxLength: number,
  maxSteps: number,
): Promise<CompiledRegex> {
  const { RE2JS } = await import('re2js');
  const compiled = compile();
  const size = compiled.programSize();
  const steps = size * windowChars(maxLength);
  if (steps > maxSteps)
    throw new TooLargeError(
      `the expression is too large: it may take ${steps} steps (${size} instructions times ${windowChars(maxLength)} characters), and the limit is ${maxSteps}: expected fewer or smaller repetitions, or a smaller max_length`,
    );
  if (compiled.test('')) throw new PatternError('the expression matches an empty text');
  const hasQuickTest = boundStates(compiled.re2());
  const matcher = windowedMatcher(
    {
      maxMatches: mostMatches,
      windowsAtOnce: Math.max(1, Math.floor(stepsAtOnce / steps)),
      test: (text) => !hasQuickTest || compiled.test(text),
      find(text, from) {
        const search = compiled.matcher(text);
        return search.find(from) ? { start: search.start(), end: search.end() } : null;
      },
    },
    maxLength,
  );
  return { matcher, steps };

  function compile() {
    try {
      return RE2JS.compile(source, ignoresCase ? RE2JS.CASE_INSENSITIVE : 0);
    } catch (error) {
      throw new PatternError(error instanceof Error ? error.message.replace(/^error parsing regexp: /, '') : 'not RE2');
    }
  }
}

/**
 * Limits the memory of the engine's automaton, and with it the time of a test: in some expressions, every character
 * leads to a new state.
 * @returns false: this engine has no such automaton, so its test is not used
 */
function boundStates(engine: unknown): boolean {
  const { dfa } = engine as { dfa?: { stateBudget?: unknown; memBudget?: unknown } };
  if (typeof dfa?.stateBudget !== 'number' || typeof dfa.memBudget !== 'number') return false;
  dfa.stateBudget = mostStateBytes;
  dfa.memBudget = mostStateBytes;
  return true;
}
