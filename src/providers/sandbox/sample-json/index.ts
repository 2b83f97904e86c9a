import { isSchema, list, listOrOne, mergeSchemas, type Schema, type Spend, unitsPerKey } from './merge-schema.ts';
import { check, fits, number, SampleError, sampleNumber, sampleString } from './scalar.ts';

/** Keywords that forbid or depend on what else is there: a value made without a validator could break them. */
const unsupported = [
  'not',
  'if',
  'contains',
  'dependentRequired',
  'dependentSchemas',
  'dependencies',
  'patternProperties',
  'propertyNames',
  '$dynamicRef',
];

interface Sampling {
  root: unknown;
  /** The number of schemas that were read: it limits the work of nested alternatives and references. */
  visited: number;
  /** @throws SampleError when large schemas take too much work */
  spend: Spend;
}

/** OpenAI's own limit for a schema. */
const maxCharacters = 120_000;
const maxVisited = 2_000;
/** The most characters to read and copy, schema by schema: some 50 ms. */
const maxWork = 1_000_000;
const maxDepth = 40;
const maxItems = 100;
/** From this depth on, optional properties and items are left out, so that a recursive schema ends. */
const leanDepth = 4;

/**
 * A value that fits a JSON schema: the first alternative that works, all properties, one item per array, the smallest
 * number, `"sandbox"` for text. The same schema gives the same value. Where alternatives of `oneOf` overlap, the value
 * may fit more than one.
 * @throws SampleError for what no value fits, or what the sandbox does not know how to fit
 */
export function sampleJson(schema: unknown): unknown {
  if ((JSON.stringify(schema) ?? '').length > maxCharacters)
    throw new SampleError(`#: longer than ${maxCharacters} characters`);
  let left = maxWork;
  const spend: Spend = (units) => {
    left -= units;
    if (left < 0) throw new SampleError('#: too much work');
  };
  return sample(schema, '#', 0, { root: schema, visited: 0, spend });
}

function sample(schema: unknown, path: string, depth: number, sampling: Sampling): unknown {
  sampling.visited += 1;
  if (sampling.visited > maxVisited || depth > maxDepth) throw new SampleError(`${path}: nested too deep`);
  if (schema === undefined || schema === true) return 'sandbox';
  if (!isSchema(schema)) throw new SampleError(`${path}: no value fits`);
  const keyword = unsupported.find((name) => schema[name] !== undefined);
  if (keyword !== undefined) throw new SampleError(`${path}: "${keyword}" is not supported`);
  if (typeof schema.$ref === 'string')
    return sampleMerged(schema, '$ref', [resolve(schema.$ref, path, sampling)], path, depth, sampling);
  for (const key of ['anyOf', 'oneOf']) {
    const alternatives = schema[key];
    if (Array.isArray(alternatives))
      return sampleMerged(schema, key, leanFirst(alternatives, depth, sampling), path, depth, sampling);
  }
  if (Array.isArray(schema.allOf)) return sampleAll(schema, schema.allOf, path, depth, sampling);
  if (schema.const !== undefined) return check(schema, schema.const, path);
  if (Array.isArray(schema.enum)) {
    const { enum: values, ...others } = schema;
    sampling.spend(schema.enum.length * unitsPerKey);
    return check(
      others,
      (values as unknown[]).find((value) => fits(others, value)),
      path,
    );
  }
  return sampleType(schema, path, depth, sampling);
}

/** Tries the alternatives, each joined with the keywords beside them. Returns the first value that can be made. */
function sampleMerged(
  schema: Schema,
  key: string,
  alternatives: readonly unknown[],
  path: string,
  depth: number,
  sampling: Sampling,
): unknown {
  const { [key]: _, ...others } = schema;
  let reason: SampleError | null = null;
  for (const alternative of alternatives) {
    const merged =
      alternative === true ? others : isSchema(alternative) ? mergeSchemas(others, alternative, sampling.spend) : null;
    if (!merged) continue;
    try {
      return sample(merged, path, depth + 1, sampling);
    } catch (error) {
      if (!(error instanceof SampleError)) throw error;
      reason = error;
    }
  }
  throw reason ?? new SampleError(`${path}: no alternative of "${key}" fits`);
}

function sampleAll(
  schema: Schema,
  parts: readonly unknown[],
  path: string,
  depth: number,
  sampling: Sampling,
): unknown {
  const { allOf: _, ...others } = schema;
  let merged: Schema | null = others;
  for (const part of parts) {
    if (part === true) continue;
    merged = merged && isSchema(part) ? mergeSchemas(merged, part, sampling.spend) : null;
  }
  if (!merged) throw new SampleError(`${path}: the parts of "allOf" cannot be joined`);
  return sample(merged, path, depth + 1, sampling);
}

function sampleType(schema: Schema, path: string, depth: number, sampling: Sampling): unknown {
  const type = listOrOne(schema.type)[0] ?? impliedType(schema);
  if (type === 'null') return null;
  if (type === 'boolean') return true;
  if (type === 'integer' || type === 'number') return sampleNumber(schema, type === 'integer', path);
  if (type === 'string') return sampleString(schema, path);
  if (type === 'array') return sampleArray(schema, path, depth, sampling);
  if (type === 'object') return sampleObject(schema, path, depth, sampling);
  throw new SampleError(`${path}: unknown type`);
}

function impliedType(schema: Schema): string {
  if (schema.properties !== undefined || schema.required !== undefined || schema.additionalProperties !== undefined)
    return 'object';
  if (schema.items !== undefined || schema.prefixItems !== undefined || schema.minItems !== undefined) return 'array';
  if (
    ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'].some(
      (key) => schema[key] !== undefined,
    )
  )
    return 'number';
  return 'string';
}

function sampleArray(schema: Schema, path: string, depth: number, sampling: Sampling): unknown[] {
  const min = number(schema.minItems, 0);
  const max = number(schema.maxItems, Infinity);
  const first = list(schema.prefixItems);
  const usual = depth >= leanDepth || schema.items === false ? first.length : Math.max(first.length, 1);
  const count = Math.min(Math.max(min, usual), max);
  if (count < min || count > maxItems) throw new SampleError(`${path}: "minItems" cannot be met`);
  if (schema.uniqueItems === true && count > 1)
    throw new SampleError(`${path}: "uniqueItems" with more than one item is not supported`);
  const items: unknown[] = [];
  for (let index = 0; index < count; index += 1) {
    const item = index < first.length ? first[index] : schema.items;
    try {
      items.push(sample(item, `${path}/${index}`, depth + 1, sampling));
    } catch (error) {
      // A surplus item is left out rather than refused.
      if (error instanceof SampleError && index >= min) break;
      throw error;
    }
  }
  return items;
}

function sampleObject(schema: Schema, path: string, depth: number, sampling: Sampling): Record<string, unknown> {
  const properties = isSchema(schema.properties) ? schema.properties : {};
  sampling.spend((Object.keys(properties).length + list(schema.required).length) * unitsPerKey);
  const required = new Set(list(schema.required).filter((name) => typeof name === 'string'));
  const min = number(schema.minProperties, 0);
  const max = number(schema.maxProperties, Infinity);
  const entries: [string, unknown][] = [];
  // Required ones first, so that a limit on their number cuts optional ones; the order of the schema is kept otherwise.
  const names = [...new Set([...Object.keys(properties), ...required])].sort(
    (a, b) => Number(required.has(b)) - Number(required.has(a)),
  );
  for (const name of names) {
    const needed = required.has(name) || entries.length < min;
    if (!needed && (depth >= leanDepth || entries.length >= max)) continue;
    const known = Object.hasOwn(properties, name);
    if (!known && schema.additionalProperties === false)
      throw new SampleError(`${path}: "${name}" is required and not allowed`);
    try {
      entries.push([
        name,
        sample(known ? properties[name] : schema.additionalProperties, `${path}/${name}`, depth + 1, sampling),
      ]);
    } catch (error) {
      if (required.has(name) || !(error instanceof SampleError)) throw error;
    }
  }
  while (entries.length < min && schema.additionalProperties !== false && entries.length < maxItems) {
    entries.push([`sandbox_${entries.length}`, sample(schema.additionalProperties, path, depth + 1, sampling)]);
  }
  if (entries.length < min || entries.length > max)
    throw new SampleError(`${path}: the number of properties cannot be met`);
  return Object.fromEntries(entries);
}

/** Deep down the alternatives without further structure come first: a tree then ends in null. */
function leanFirst(alternatives: readonly unknown[], depth: number, { spend }: Sampling): readonly unknown[] {
  spend(alternatives.length * unitsPerKey);
  if (depth < leanDepth) return alternatives;
  const isLean = (schema: unknown) =>
    isSchema(schema) && schema.$ref === undefined && schema.properties === undefined && schema.items === undefined;
  return [...alternatives].sort((a, b) => Number(isLean(b)) - Number(isLean(a)));
}

/** Follows a JSON pointer within the schema. */
function resolve(ref: string, path: string, { root, spend }: Sampling): unknown {
  spend(ref.length);
  if (!ref.startsWith('#')) throw new SampleError(`${path}: only references within the schema are followed`);
  let found: unknown = root;
  for (const name of ref.slice(1).split('/').slice(1)) {
    const key = decodePointer(name);
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, key))
      throw new SampleError(`${path}: a reference leads nowhere`);
    found = (found as Record<string, unknown>)[key];
  }
  return found;
}

function decodePointer(name: string): string {
  const text = name.replaceAll('~1', '/').replaceAll('~0', '~');
  try {
    return decodeURIComponent(text);
  } catch {
    // A lone % is no escape: the name is meant literally.
    return text;
  }
}
