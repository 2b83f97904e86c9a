import type { Issue } from '../../base/refusal.ts';
import { type BuiltinPattern, builtinPatterns } from '../builtin/index.ts';
import { literalMatcher } from '../matching/literals.ts';
import { compileRegex, PatternError, TooLargeError, visibleFault } from '../matching/regex.ts';
import type { ScannedPattern } from './scanner.ts';

/**
 * The action where a pattern is found.
 * - `block`: the request or the response is refused (403)
 * - `redact`: `[REDACTED:name]` replaces the match; with `restore`, `[REDACTED:name#1]` and so on
 * - `flag`: only `service_metadata.pipeline` and the record tell of it
 */
export type GuardrailAction = 'block' | 'redact' | 'flag';

/** A pattern to search for: exactly one of `builtin`, `literal` and `regex`. */
export interface TextPattern {
  /** A pattern of the gateway. */
  builtin?: BuiltinPattern;
  /** A literal text. */
  literal?: string;
  /** A regular expression in the syntax of RE2, which has no look-around and no backreferences. */
  regex?: string;
  /**
   * The name that is shown where the pattern is found; required for `literal` and `regex`. Default: the name of the
   * built-in pattern.
   */
  name?: string;
  /** The action where the pattern is found. */
  action: GuardrailAction;
  /**
   * For `redact`, true: each text that is taken out of the request has a placeholder of its own, and the client gets
   * the text again where the model writes the placeholder. Default false.
   */
  restore?: boolean;
  /** The side to search. Default `both`. */
  on?: 'input' | 'output' | 'both';
  /** For `literal` and `regex`, true: upper and lower case are the same. Default false. */
  ignoreCase?: boolean;
  /**
   * For `regex`: the most characters of a match; a longer one ends as if the text ended there. Streams are held back by
   * that much and a quarter. Default 256.
   */
  maxLength?: number;
}

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

/** Limits of patterns. */
export const patternLimits = {
  count: 100,
  /** Each built-in pattern once for requests and once for responses. */
  builtins: 2 * Object.keys(builtinPatterns).length,
  chars: 1_000,
  nameChars: 64,
  maxLength: 4_096,
  defaultMaxLength: 256,
  /** The most instructions of an expression times the characters of one window. */
  steps: 150_000,
} as const;

const actions: readonly unknown[] = ['block', 'redact', 'flag'];
const places: readonly unknown[] = [undefined, 'input', 'output', 'both'];
const nameForm = /^[\w.: -]+$/;

/** Finds the faults of patterns that show without the engine. @param at  the path of the patterns */
export function patternFaults(patterns: readonly TextPattern[], at: string): Issue[] {
  if (!Array.isArray(patterns) || patterns.length === 0) return [{ path: at, message: 'expected a list of patterns' }];
  const builtins = patterns.filter((pattern) => pattern?.builtin !== undefined).length;
  if (builtins > patternLimits.builtins)
    return [{ path: at, message: `expected at most ${patternLimits.builtins} built-in patterns` }];
  if (patterns.length - builtins > patternLimits.count)
    return [{ path: at, message: `expected at most ${patternLimits.count} patterns that are not built in` }];
  return patterns.flatMap((pattern, index) => faultsOf(pattern, `${at}[${index}]`));
}

function faultsOf(pattern: TextPattern, at: string): Issue[] {
  const issues: Issue[] = [];
  const expect = (isRight: boolean, path: string, message: string) => {
    if (!isRight) issues.push({ path: path === '' ? at : `${at}.${path}`, message });
  };
  const { builtin, literal, regex, name, action, on, restore, maxLength } = pattern;
  const given = [builtin, literal, regex].filter((one) => one !== undefined);
  expect(given.length === 1, '', 'expected exactly one of builtin, literal and regex');
  if (builtin !== undefined)
    expect(
      Object.hasOwn(builtinPatterns, builtin),
      'builtin',
      `expected one of ${Object.keys(builtinPatterns).join(', ')}`,
    );
  for (const [path, text] of [
    ['literal', literal],
    ['regex', regex],
  ] as const)
    if (text !== undefined)
      expect(
        typeof text === 'string' && text.length > 0 && text.length <= patternLimits.chars,
        path,
        `expected 1 to ${patternLimits.chars} characters`,
      );
  const isNamed = typeof name === 'string' && name.length <= patternLimits.nameChars && nameForm.test(name);
  expect(
    isNamed || (name === undefined && builtin !== undefined),
    'name',
    `expected a name of 1 to ${patternLimits.nameChars} letters, digits, spaces and _ - . :`,
  );
  expect(actions.includes(action), 'action', 'expected block, redact or flag');
  expect(places.includes(on), 'on', 'expected input, output or both');
  expect(restore === undefined || typeof restore === 'boolean', 'restore', 'expected true or false');
  expect(restore !== true || action === 'redact', 'restore', 'expected the action redact beside it');
  expect(
    restore !== true || on !== 'output',
    'restore',
    'expected to search the input, where there is something to restore',
  );
  expect(
    maxLength === undefined || (Number.isInteger(maxLength) && maxLength >= 1 && maxLength <= patternLimits.maxLength),
    'maxLength',
    `expected a whole number from 1 to ${patternLimits.maxLength}`,
  );
  const fault = typeof regex === 'string' ? visibleFault(regex) : null;
  if (fault !== null) issues.push({ path: `${at}.regex`, message: fault });
  return issues;
}

/** The refusal of the first expression that the engine does not accept, with the reason. */
export class WrongPattern extends Error {
  readonly index: number;
  /** true: it is a valid expression, but takes more work than a guardrail may. */
  readonly isTooLarge: boolean;

  constructor(index: number, message: string, isTooLarge = false) {
    super(message);
    this.index = index;
    this.isTooLarge = isTooLarge;
  }
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
