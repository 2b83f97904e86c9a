import * as z from 'zod';
import { definedOnly } from '../base/defined-only.ts';
import { type Issue, refusal } from '../base/refusal.ts';
import { didYouMean, nearest } from '../base/text/nearest.ts';
import { isObject, type Loose } from '../base/values.ts';
import { expectation } from './chat/expectations.ts';
import { validationIssues } from './chat/validate.ts';

/** The names that an object of the host app may have, each with its schema. */
export type HostShape = Readonly<Record<string, z.ZodType>>;

/** Schemas for the fields of such objects. */
export const field = {
  /** A function. */
  fn: () => z.custom((value) => typeof value === 'function', expectation('expected a function')),
  /** The name of an extension. */
  id: () => z.string().regex(/^\S{1,80}$/, expectation('expected a text of 1 to 80 characters without blanks')),
  flag: () => z.boolean(),
  text: () => z.string().min(1),
  /** A whole number. */
  count: (least = 0) => z.int().min(least),
  object: () => z.custom((value) => isObject(value), expectation('expected an object')),
} as const;

/**
 * Finds the mistakes in an object that the host app's own code has written: a name that nobody reads would be without
 * effect, and nobody would know.
 */
export function hostObjectIssues(given: unknown, shape: HostShape): Issue[] {
  if (!isObject(given)) return [{ path: '', message: 'expected an object' }];
  const issues: Issue[] = unknownNames(given, Object.keys(shape));
  const known: Loose = {};
  // What a class has on its prototype counts too.
  for (const name in shape) if (given[name] !== undefined) known[name] = given[name];
  // Once for each object: functions that zod would generate take longer than they save.
  const parsed = z.object(shape).safeParse(known, { jitless: true });
  return parsed.success ? issues : [...issues, ...validationIssues(parsed.error)];
}

/**
 * Returns the very object that is given.
 * @param of  the function that it is an argument of
 * @throws GatewayError invalid_request (400) naming every mistake, with `of` before its place
 */
export function checkedHostObject<T extends object>(of: string, given: T, shape: () => HostShape): T {
  throwIssues(of, hostObjectIssues(given, shape()));
  return given;
}

/** @throws GatewayError invalid_request (400), where there are issues */
export function throwIssues(of: string, issues: readonly Issue[]): void {
  if (issues.length === 0) return;
  throw refusal(
    'invalid_request',
    issues.map(({ path, message }) => ({ path: path === '' ? of : `${of}.${path}`, message })),
  );
}

/** The same fields, each of which is set or not there. */
export type Defined<T> = { [Name in keyof T]?: Exclude<T[Name], undefined> };

/**
 * Returns the settings that are set: one that is `undefined` is as if it were not there, and has its default.
 * @throws GatewayError as `checkedHostObject`
 */
export function checkedSettings<T extends object>(of: string, given: T, shape: () => HostShape): Defined<T> {
  // Without settings, no schema is made: the built-in plugins are made at import.
  if (isObject(given) && Object.keys(given).length === 0) return {};
  return definedOnly(checkedHostObject(of, given, shape)) as Defined<T>;
}

/** An object of a class may have fields and methods of its own; there, only a slip in a name of ours is a mistake. */
function unknownNames(given: Loose, names: readonly string[]): Issue[] {
  const prototype = Object.getPrototypeOf(given);
  const isPlain = prototype === null || prototype === Object.prototype;
  const own = Object.keys(given).filter((name) => given[name] !== undefined);
  const all = isPlain ? own : [...own, ...Object.getOwnPropertyNames(prototype)];
  return all
    .filter((name) => !names.includes(name) && name !== 'constructor')
    .map((name) => ({ name, near: nearest(name, names, { max: 1 }) }))
    .filter(({ name, near }) => isPlain || (near.length > 0 && typeof given[name] === 'function'))
    .map(({ name, near }) => ({ path: name, message: `unknown name${didYouMean(near)}` }));
}
