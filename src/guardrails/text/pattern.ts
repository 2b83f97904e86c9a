import type { Issue } from '../../base/refusal.ts';
import { builtinSlugs } from '../../schema/tenants/guardrail.ts';
import type { BuiltinPattern } from '../builtin/index.ts';

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

/** Limits of patterns. */
export const patternLimits = {
  count: 100,
  /** Each built-in pattern once for requests and once for responses. */
  builtins: 2 * builtinSlugs.length,
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
    expect(builtinSlugs.includes(builtin), 'builtin', `expected one of ${builtinSlugs.join(', ')}`);
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
 * Finds features that RE2 does not have, without the engine, which is loaded when the first expression is used.
 * @returns the fault of an expression; null: none that shows without the engine
 */
function visibleFault(source: string): string | null {
  const plain = source.replace(/\\\\/g, '');
  if (/\(\?<?[=!]/.test(plain)) return 'look-around is not available in RE2';
  if (/\\[1-9]|\\k</.test(plain)) return 'backreferences are not available in RE2';
  return null;
}
