import { type Schema, Validator } from '@cfworker/json-schema';
import { isObject } from '../../base/values.ts';

/**
 * Keywords that are not checked: a caller could write a pattern, or a list, whose check takes for ever. Providers ignore
 * most of them as well.
 */
const unchecked: ReadonlySet<string> = new Set([
  'pattern',
  'patternProperties',
  'format',
  'uniqueItems',
  '$dynamicRef',
]);
/** Keywords whose values are names of schemas, and not keywords. */
const named: ReadonlySet<string> = new Set(['properties', '$defs', 'definitions', 'dependentSchemas']);
/** Keywords whose values are data. */
const literal: ReadonlySet<string> = new Set(['const', 'enum', 'default', 'examples', 'required']);
/** Reads of the schema in one check. References can double the work with each level. */
const mostReads = 200_000;

/** @returns null: the schema cannot be checked within bounds */
export type FitsSchema = (value: unknown) => boolean | null;

/** Checks values by a JSON Schema that a caller wrote. */
export function schemaCheck(schema: object): FitsSchema {
  const bounded = checkable(schema) as Schema;
  return (value) => {
    const reads = { left: mostReads };
    try {
      return new Validator(counted(bounded, reads), '2020-12').validate(value).valid;
    } catch {
      // Too many reads, endless references, or no schema at all.
      return null;
    }
  };
}

/** Errors of keywords that only say that something below is wrong. */
const outer: ReadonlySet<string> = new Set([
  'properties',
  'items',
  'prefixItems',
  '$ref',
  'allOf',
  'additionalProperties',
]);

/** What of a value is not of a schema; null: that cannot be said within bounds. */
export function wrongIn(value: unknown, schema: object): { path: string; what: string }[] | null {
  const reads = { left: mostReads };
  try {
    const { valid, errors } = new Validator(counted(checkable(schema) as Schema, reads), '2020-12', false).validate(
      value,
    );
    if (valid) return [];
    const inner = errors.filter(({ keyword }) => !outer.has(keyword));
    return (inner.length > 0 ? inner : errors).map(({ instanceLocation, error }) => ({
      path: instanceLocation === '#' ? 'the whole' : instanceLocation.slice(2),
      what: error,
    }));
  } catch {
    return null;
  }
}

/** A copy without the keywords that are not checked. */
function checkable(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(checkable);
  if (!isObject(schema)) return schema;
  const kept = Object.entries(schema).filter(([name]) => !unchecked.has(name));
  return Object.fromEntries(
    kept.map(([name, value]) => {
      if (literal.has(name)) return [name, value];
      if (!named.has(name) || !isObject(value)) return [name, checkable(value)];
      return [name, Object.fromEntries(Object.entries(value).map(([own, one]) => [own, checkable(one)]))];
    }),
  );
}

/** The same schema, which counts how often it is read. */
function counted<Value extends object>(value: Value, reads: { left: number }): Value {
  return new Proxy(value, {
    get(target, name, receiver) {
      if (reads.left-- <= 0) throw new RangeError('The check of the schema takes too long');
      const member: unknown = Reflect.get(target, name, receiver);
      return typeof member === 'object' && member !== null ? counted(member, reads) : member;
    },
  });
}
