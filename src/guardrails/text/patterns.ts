import { builtinPatterns } from '../builtin/index.ts';
import { literalMatcher } from '../matching/literals.ts';
import { compileRegex, PatternError, TooLargeError } from '../matching/regex.ts';
import { type GuardrailAction, patternLimits, type TextPattern, WrongPattern } from './pattern.ts';
import type { ScannedPattern } from './scanner.ts';

/** A compiled pattern. */
export interface CompiledPattern extends ScannedPattern {
  readonly action: GuardrailAction;
  /** true: what is taken out of a request is put into the response again. */
  readonly restores?: boolean;
  /** For an expression: the most steps of one window. */
  readonly steps: number;
}

/** The patterns of a guardrail by the side that they search. `acting` are those that block or redact. */
export interface CompiledPatterns {
  readonly input: SplitPatterns;
  readonly output: SplitPatterns;
  /** The most steps that one window of each of its expressions takes, together. */
  readonly steps: number;
}

export interface SplitPatterns {
  readonly acting: readonly CompiledPattern[];
  readonly flagging: readonly CompiledPattern[];
}

/**
 * @param patterns  without faults that show without the engine
 * @param maxSteps  the most steps of each expression
 * @returns no promise where no pattern is an expression
 * @throws WrongPattern
 */
export function compilePatterns(
  patterns: readonly TextPattern[],
  maxSteps: number = patternLimits.steps,
): CompiledPatterns | Promise<CompiledPatterns> {
  const compiled = patterns.map((pattern, index) => compileOne(pattern, index, maxSteps));
  if (compiled.some((one) => one instanceof Promise)) return Promise.all(compiled).then((all) => split(patterns, all));
  return split(patterns, compiled as CompiledPattern[]);
}

function compileOne(pattern: TextPattern, index: number, maxSteps: number): CompiledPattern | Promise<CompiledPattern> {
  const {
    builtin,
    literal,
    regex = '',
    ignoreCase = false,
    maxLength = patternLimits.defaultMaxLength,
    action,
    restore = false,
  } = pattern;
  const name = pattern.name ?? builtin ?? '';
  const common = { name, action, ...(restore && { restores: true }) };
  if (builtin !== undefined) return { ...common, matcher: builtinPatterns[builtin](), steps: 0 };
  if (literal !== undefined) return { ...common, matcher: literalMatcher(literal, ignoreCase), steps: 0 };
  return compileRegex(regex, ignoreCase, maxLength, maxSteps).then(
    (compiled) => ({ ...common, ...compiled }),
    (error) =>
      Promise.reject(
        error instanceof PatternError ? new WrongPattern(index, error.message, error instanceof TooLargeError) : error,
      ),
  );
}

function split(patterns: readonly TextPattern[], compiled: readonly CompiledPattern[]): CompiledPatterns {
  const on = (place: 'input' | 'output'): SplitPatterns => {
    const here = compiled.filter((_, at) => (patterns[at]?.on ?? 'both') === 'both' || patterns[at]?.on === place);
    return {
      acting: here.filter(({ action }) => action !== 'flag'),
      flagging: here.filter(({ action }) => action === 'flag'),
    };
  };
  return { input: on('input'), output: on('output'), steps: compiled.reduce((sum, { steps }) => sum + steps, 0) };
}
