import { isObject, type Loose } from '../../base/values.ts';
import { type Steps, spend } from './steps.ts';

/** A part of a value that does not fit a schema. */
export interface Wrong {
  /** The names and numbers from the outside in, joined by `/`; `the whole` for the complete value. */
  path: string;
  keyword: string;
  what: string;
}

/** The error of a schema that holds parts that are not checked here, or nothing that can be checked. */
export class Uncheckable extends Error {
  override name = 'Uncheckable';
}

/** Keywords that would change the result, and are not known here. */
const unknown = ['$dynamicRef', '$recursiveRef', 'unevaluatedProperties', 'unevaluatedItems', 'dependencies'];
/** The most schemas within each other, references among them. */
const maxDepth = 1_000;
/** The cost of one look at a schema, in characters that are read. */
const stepsOfLook = 8;

interface Place {
  outer: Place | null;
  name: string | number;
}

interface Run {
  root: Loose;
  steps: Steps;
  /** The faults that were found; null: the first one ends the check. */
  wrong: Wrong[] | null;
  referred: Map<string, unknown>;
}

/**
 * Tells whether a value fits a JSON Schema (2020-12) that a caller wrote. `pattern`, `patternProperties`, `format` and
 * `uniqueItems` are not checked: a caller could write one whose check takes for ever. Every look at a schema, every
 * member and every item is a step.
 * @throws OutOfSteps; Uncheckable
 */
export function fitsSchema(value: unknown, schema: object, steps: Steps): boolean {
  return isOf(value, schema, null, 0, { root: schema as Loose, steps, wrong: null, referred: new Map() });
}

/** Returns the parts of a value that do not fit a schema. @throws OutOfSteps; Uncheckable */
export function wrongIn(value: unknown, schema: object, steps: Steps): Wrong[] {
  const wrong: Wrong[] = [];
  isOf(value, schema, null, 0, { root: schema as Loose, steps, wrong, referred: new Map() });
  return wrong;
}

function isOf(value: unknown, schema: unknown, place: Place | null, depth: number, run: Run): boolean {
  spend(run.steps, stepsOfLook);
  if (depth > maxDepth) throw new Uncheckable('The schema refers to itself without an end');
  if (schema === true) return true;
  if (schema === false) return isWrong(run, place, 'false', 'nothing may stand here');
  if (!isObject(schema)) throw new Uncheckable('The schema is none');
  if (unknown.some((keyword) => schema[keyword] !== undefined)) throw new Uncheckable('A keyword is not known here');
  const within = (of: unknown, sub: unknown, at: Place | null) => isOf(of, sub, at, depth + 1, run);
  let fits = hasType(value, schema, place, run) && hasValue(value, schema, place, run);
  if (fits || run.wrong !== null) fits = isComposed(value, schema, place, run, within) && fits;
  if (!fits && run.wrong === null) return false;
  if (typeof value === 'number') return hasRange(value, schema, place, run) && fits;
  if (typeof value === 'string') return hasLength(value, schema, place, run) && fits;
  if (Array.isArray(value)) return hasItems(value, schema, place, run, within) && fits;
  if (isObject(value)) return hasMembers(value, schema, place, run, within) && fits;
  return fits;
}

type Within = (value: unknown, schema: unknown, place: Place | null) => boolean;

function isWrong({ wrong, steps }: Run, place: Place | null, keyword: string, what: string): false {
  if (wrong === null) return false;
  const names: (string | number)[] = [];
  for (let at = place; at !== null; at = at.outer) names.unshift(at.name);
  const path = names.join('/');
  spend(steps, path.length + what.length);
  wrong.push({ path: path === '' ? 'the whole' : path, keyword, what });
  return false;
}

/** Runs checks without noting the faults that they find. */
function quiet<Result>(run: Run, check: () => Result): Result {
  const { wrong } = run;
  run.wrong = null;
  try {
    return check();
  } finally {
    run.wrong = wrong;
  }
}

function hasType(value: unknown, { type }: Loose, place: Place | null, run: Run): boolean {
  if (type === undefined) return true;
  const types: readonly unknown[] = Array.isArray(type) ? type : [type];
  spend(run.steps, types.length);
  if (types.some((one) => isOfType(value, one))) return true;
  return isWrong(run, place, 'type', `expected the type ${types.slice(0, 8).join(' or ').slice(0, 100)}`);
}

function isOfType(value: unknown, type: unknown): boolean {
  if (type === 'integer') return Number.isInteger(value);
  if (value === null) return type === 'null';
  return type === (Array.isArray(value) ? 'array' : typeof value);
}

function hasValue(value: unknown, schema: Loose, place: Place | null, run: Run): boolean {
  let fits = true;
  if (schema.const !== undefined && !isSame(value, schema.const, run.steps))
    fits = isWrong(run, place, 'const', 'expected another value');
  if (Array.isArray(schema.enum) && !schema.enum.some((one) => isSame(value, one, run.steps)))
    fits = isWrong(run, place, 'enum', `expected one of ${schema.enum.length} values`);
  return fits;
}

function isSame(one: unknown, other: unknown, steps: Steps): boolean {
  spend(
    steps,
    typeof one === 'string' && typeof other === 'string' && one.length === other.length ? 1 + one.length / 16 : 1,
  );
  if (one === other) return true;
  if (Array.isArray(one))
    return (
      Array.isArray(other) && one.length === other.length && one.every((item, at) => isSame(item, other[at], steps))
    );
  if (!isObject(one) || !isObject(other)) return false;
  const names = Object.keys(one);
  spend(steps, names.length);
  return (
    names.length === Object.keys(other).length &&
    names.every((name) => Object.hasOwn(other, name) && isSame(one[name], other[name], steps))
  );
}

/** Checks references, and schemas that are put together. */
function isComposed(value: unknown, schema: Loose, place: Place | null, run: Run, within: Within): boolean {
  let fits = true;
  if (typeof schema.$ref === 'string') fits = within(value, referred(schema.$ref, run), place);
  if (Array.isArray(schema.allOf))
    for (const one of schema.allOf) {
      if (!fits && run.wrong === null) return false;
      fits = within(value, one, place) && fits;
    }
  if (!fits && run.wrong === null) return false;
  const passes = (one: unknown) => quiet(run, () => within(value, one, place));
  if (Array.isArray(schema.anyOf) && !schema.anyOf.some(passes))
    fits = isWrong(run, place, 'anyOf', 'expected one of several forms');
  if (Array.isArray(schema.oneOf) && schema.oneOf.filter(passes).length !== 1)
    fits = isWrong(run, place, 'oneOf', 'expected exactly one of several forms');
  if (schema.not !== undefined && passes(schema.not)) fits = isWrong(run, place, 'not', 'a form that may not be');
  if (schema.if !== undefined) {
    const then = passes(schema.if) ? schema.then : schema.else;
    if (then !== undefined) fits = within(value, then, place) && fits;
  }
  return fits;
}

function referred(ref: string, { root, steps, referred: known }: Run): unknown {
  if (known.has(ref)) return known.get(ref);
  if (ref !== '#' && !ref.startsWith('#/')) throw new Uncheckable('A reference does not begin with #/');
  spend(steps, ref.length);
  let found: unknown = root;
  for (const part of ref.split('/').slice(1)) {
    const name = unescaped(part);
    found =
      typeof found === 'object' && found !== null && Object.hasOwn(found, name) ? (found as Loose)[name] : undefined;
  }
  if (found === undefined) throw new Uncheckable('A reference leads nowhere');
  known.set(ref, found);
  return found;
}

function unescaped(part: string): string {
  const plain = part.replaceAll('~1', '/').replaceAll('~0', '~');
  try {
    return decodeURIComponent(plain);
  } catch {
    // The text holds a percent sign that escapes nothing.
    return plain;
  }
}

function hasRange(value: number, schema: Loose, place: Place | null, run: Run): boolean {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema;
  let fits = true;
  if (typeof minimum === 'number' && value < minimum) fits = isWrong(run, place, 'minimum', `less than ${minimum}`);
  if (typeof maximum === 'number' && value > maximum) fits = isWrong(run, place, 'maximum', `more than ${maximum}`);
  if (typeof exclusiveMinimum === 'number' && value <= exclusiveMinimum)
    fits = isWrong(run, place, 'exclusiveMinimum', `not more than ${exclusiveMinimum}`);
  if (typeof exclusiveMaximum === 'number' && value >= exclusiveMaximum)
    fits = isWrong(run, place, 'exclusiveMaximum', `not less than ${exclusiveMaximum}`);
  if (typeof multipleOf === 'number' && !isMultiple(value, multipleOf))
    fits = isWrong(run, place, 'multipleOf', `not a multiple of ${multipleOf}`);
  return fits;
}

function isMultiple(value: number, divisor: number): boolean {
  if (value % divisor === 0) return true;
  // 0.3 is a multiple of 0.1 to everybody but a computer.
  const count = value / divisor;
  return Number.isFinite(count) && Math.abs(count) < 1e9 && Math.abs(count - Math.round(count)) < 1e-9;
}

function hasLength(value: string, { minLength, maxLength }: Loose, place: Place | null, run: Run): boolean {
  if (typeof minLength !== 'number' && typeof maxLength !== 'number') return true;
  spend(run.steps, value.length);
  // A character of two units counts as one.
  let length = value.length;
  for (let at = 0; at < value.length; at++)
    if ((value.charCodeAt(at) & 0xfc00) === 0xdc00 && isPair(value, at)) length--;
  let fits = true;
  if (typeof minLength === 'number' && length < minLength) fits = isWrong(run, place, 'minLength', 'too short');
  if (typeof maxLength === 'number' && length > maxLength) fits = isWrong(run, place, 'maxLength', 'too long');
  return fits;
}

function isPair(value: string, second: number): boolean {
  return (value.charCodeAt(second - 1) & 0xfc00) === 0xd800;
}

function hasItems(value: readonly unknown[], schema: Loose, place: Place | null, run: Run, within: Within): boolean {
  let fits = true;
  if (typeof schema.minItems === 'number' && value.length < schema.minItems)
    fits = isWrong(run, place, 'minItems', 'too few items');
  if (typeof schema.maxItems === 'number' && value.length > schema.maxItems)
    fits = isWrong(run, place, 'maxItems', 'too many items');
  const { prefixItems, items, additionalItems, contains } = schema;
  const first: readonly unknown[] = Array.isArray(prefixItems) ? prefixItems : Array.isArray(items) ? items : [];
  const others = Array.isArray(items) ? additionalItems : items;
  const last = others === undefined ? Math.min(first.length, value.length) : value.length;
  for (let at = 0; at < last; at++) {
    if (!fits && run.wrong === null) return false;
    fits = within(value[at], at < first.length ? first[at] : others, { outer: place, name: at }) && fits;
  }
  if (contains === undefined || (!fits && run.wrong === null)) return fits;
  const count = value.filter((item) => quiet(run, () => within(item, contains, place))).length;
  const least = typeof schema.minContains === 'number' ? schema.minContains : 1;
  const most = typeof schema.maxContains === 'number' ? schema.maxContains : Infinity;
  return count >= least && count <= most
    ? fits
    : isWrong(run, place, 'contains', 'too few, or too many, items of a form');
}

function hasMembers(value: Loose, schema: Loose, place: Place | null, run: Run, within: Within): boolean {
  const names = Object.keys(value);
  spend(run.steps, names.length);
  let fits = hasNames(value, names, schema, place, run);
  const { properties, additionalProperties, propertyNames, dependentSchemas } = schema;
  const isDeclared = (name: string) => isObject(properties) && Object.hasOwn(properties, name);
  for (const name of names) {
    if (!fits && run.wrong === null) return false;
    const at = { outer: place, name };
    if (isDeclared(name)) fits = within(value[name], (properties as Loose)[name], at) && fits;
    // The names that a pattern allows are not checked.
    else if (additionalProperties !== undefined && schema.patternProperties === undefined)
      fits = within(value[name], additionalProperties, at) && fits;
    if (propertyNames !== undefined) fits = within(name, propertyNames, at) && fits;
    if (isObject(dependentSchemas) && Object.hasOwn(dependentSchemas, name))
      fits = within(value, dependentSchemas[name], place) && fits;
  }
  return fits;
}

function hasNames(value: Loose, names: readonly string[], schema: Loose, place: Place | null, run: Run): boolean {
  const { required, dependentRequired, minProperties, maxProperties } = schema;
  let fits = true;
  const needs = (list: unknown, keyword: string) => {
    if (!Array.isArray(list)) return;
    for (const name of list) {
      spend(run.steps, 1);
      if (typeof name === 'string' && !Object.hasOwn(value, name)) {
        fits = isWrong(run, place, keyword, `${name.slice(0, 100)} is missing`);
        if (run.wrong === null) return;
      }
    }
  };
  needs(required, 'required');
  if (isObject(dependentRequired))
    for (const name of names)
      if (Object.hasOwn(dependentRequired, name)) needs(dependentRequired[name], 'dependentRequired');
  if (typeof minProperties === 'number' && names.length < minProperties)
    fits = isWrong(run, place, 'minProperties', 'too few members');
  if (typeof maxProperties === 'number' && names.length > maxProperties)
    fits = isWrong(run, place, 'maxProperties', 'too many members');
  return fits;
}
