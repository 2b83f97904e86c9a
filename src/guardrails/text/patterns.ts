import type { Issue } from '../../base/refusal.ts';
import { type BuiltinPattern, builtinPatterns } from '../builtin/index.ts';
import { literalMatcher } from '../matching/literal.ts';
import { PatternError, regexMatcher, visibleFault } from '../matching/regex.ts';
import type { ScannedPattern } from './scanner.ts';

/**
 * What happens where a pattern is found.
 * - `block`: the request or the response is refused (403)
 * - `redact`: `[REDACTED:name]` stands in its place
 * - `flag`: only `service_metadata.pipeline` and the record tell of it
 */
export type GuardrailAction = 'block' | 'redact' | 'flag';

/** What is looked for: exactly one of `builtin`, `literal` and `regex`. */
export interface TextPattern {
  /** A pattern of the gateway. */
  builtin?: BuiltinPattern;
  /** A text as it is. */
  literal?: string;
  /** A regular expression in the syntax of RE2, which has no look-around and no backreferences. */
  regex?: string;
  /** Shown where it is found; required for `literal` and `regex`. Default: the name of the built-in pattern. */
  name?: string;
  /** What happens where it is found. */
  action: GuardrailAction;
  /** Where it is looked for. Default `both`. */
  on?: 'input' | 'output' | 'both';
  /** Of `literal` and `regex`, true: upper and lower case are the same. Default false. */
  ignoreCase?: boolean;
  /**
   * Of `regex`: characters of a match; a longer one is taken as if the text ended there. Streams are held back by that
   * much and a quarter. Default 256.
   */
  maxLength?: number;
}

/** A pattern, ready to be looked for. */
export interface CompiledPattern extends ScannedPattern {
  readonly action: GuardrailAction;
}

/** The patterns of a guardrail, by where they are looked for. `acting` are those that block or redact. */
export interface CompiledPatterns {
  readonly input: SplitPatterns;
  readonly output: SplitPatterns;
}

export interface SplitPatterns {
  readonly acting: readonly CompiledPattern[];
  readonly flagging: readonly CompiledPattern[];
}

/** Limits of patterns. */
export const patternLimits = {
  count: 100,
  chars: 1_000,
  nameChars: 64,
  maxLength: 4_096,
  defaultMaxLength: 256,
} as const;

const actions: readonly unknown[] = ['block', 'redact', 'flag'];
const places: readonly unknown[] = [undefined, 'input', 'output', 'both'];
const nameForm = /^[\w.: -]+$/;

/** What is wrong with patterns, as far as it shows without the engine. @param at  where they stand */
export function patternFaults(patterns: readonly TextPattern[], at: string): Issue[] {
  if (!Array.isArray(patterns) || patterns.length === 0 || patterns.length > patternLimits.count)
    return [{ path: at, message: `expected a list of 1 to ${patternLimits.count} patterns` }];
  return patterns.flatMap((pattern, index) => faultsOf(pattern, `${at}[${index}]`));
}

function faultsOf(pattern: TextPattern, at: string): Issue[] {
  const issues: Issue[] = [];
  const expect = (isRight: boolean, path: string, message: string) => {
    if (!isRight) issues.push({ path: path === '' ? at : `${at}.${path}`, message });
  };
  const { builtin, literal, regex, name, action, on, maxLength } = pattern;
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
  expect(
    maxLength === undefined || (Number.isInteger(maxLength) && maxLength >= 1 && maxLength <= patternLimits.maxLength),
    'maxLength',
    `expected a whole number from 1 to ${patternLimits.maxLength}`,
  );
  const fault = typeof regex === 'string' ? visibleFault(regex) : null;
  if (fault !== null) issues.push({ path: `${at}.regex`, message: fault });
  return issues;
}

/** The first expression that the engine refuses, and why. */
export class WrongPattern extends Error {
  readonly index: number;

  constructor(index: number, message: string) {
    super(message);
    this.index = index;
  }
}

/**
 * @param patterns  without faults that show
 * @returns no promise where no pattern is an expression
 * @throws WrongPattern
 */
export function compilePatterns(patterns: readonly TextPattern[]): CompiledPatterns | Promise<CompiledPatterns> {
  const compiled = patterns.map(compileOne);
  if (compiled.some((one) => one instanceof Promise)) return Promise.all(compiled).then((all) => split(patterns, all));
  return split(patterns, compiled as CompiledPattern[]);
}

function compileOne(pattern: TextPattern, index: number): CompiledPattern | Promise<CompiledPattern> {
  const {
    builtin,
    literal,
    regex = '',
    ignoreCase = false,
    maxLength = patternLimits.defaultMaxLength,
    action,
  } = pattern;
  const name = pattern.name ?? builtin ?? '';
  if (builtin !== undefined) return { name, action, matcher: builtinPatterns[builtin]() };
  if (literal !== undefined) return { name, action, matcher: literalMatcher(literal, ignoreCase) };
  return regexMatcher(regex, ignoreCase, maxLength).then(
    (matcher) => ({ name, action, matcher }),
    (error) => Promise.reject(error instanceof PatternError ? new WrongPattern(index, error.message) : error),
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
  return { input: on('input'), output: on('output') };
}
