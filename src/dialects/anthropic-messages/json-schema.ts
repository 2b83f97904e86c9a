import { isObject, type Loose } from '../../base/values.ts';

/** The most properties that may be left out; more are refused. */
const maxOptional = 24;
/** The most depth of a schema. A deeper one, such as one that refers to itself, is refused. */
const maxDepth = 64;
/**
 * The most parts of all schemas of a request that are read, each as often as it is referred to: references to
 * references multiply.
 */
const maxParts = 10_000;

/** Keywords that the grammar knows, and that hold no schema. */
const plainKeywords = ['$ref', '$schema', '$id', 'title', 'description', 'default', 'const', 'enum', 'type'];
const listKeywords = ['anyOf', 'allOf'];
const mapKeywords = ['properties', '$defs', 'definitions'];
/** Keywords that are refused. The model is told of them in words. */
const toldKeywords = [
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'pattern',
  'minItems',
  'maxItems',
  'uniqueItems',
  'minProperties',
  'maxProperties',
];
const formats = new Set(['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'uri', 'ipv4', 'ipv6', 'uuid']);

/**
 * Returns a JSON Schema as Anthropic's grammar takes it: objects are closed, and limits of numbers, texts and lists
 * become words in the description.
 * @param effort  the work for the request: the part that one schema has used, the next one lacks
 * @returns null where the grammar has no form of it: it refers to itself, leaves objects open, is too large, or has too
 * many properties that may be left out
 * @see https://platform.claude.com/docs/en/build-with-claude/structured-outputs "JSON Schema limitations"
 */
export function grammarSchema(schema: Loose, effort: SchemaEffort): Loose | null {
  const state: State = { root: schema, optional: 0, effort };
  if (!fits(schema, state, 0, []) || state.optional > maxOptional) return null;
  const shaped = reshape(schema, effort, 0);
  return effort.partsLeft < 0 ? null : shaped;
}

/** The work that may still be done for the schemas of a request. */
export interface SchemaEffort {
  partsLeft: number;
}

export function newSchemaEffort(): SchemaEffort {
  return { partsLeft: maxParts };
}

interface State {
  root: Loose;
  optional: number;
  effort: SchemaEffort;
}

/** @returns false: the schemas have too many parts */
function spend(effort: SchemaEffort, parts: number): boolean {
  effort.partsLeft -= parts;
  return effort.partsLeft >= 0;
}

/** Returns the work of reading one part: its names, and the length of its reference. */
function sizeOf({ $ref: ref, properties, required }: Loose): number {
  const names = isObject(properties) ? Object.keys(properties).length : 0;
  return 1 + names + (Array.isArray(required) ? required.length : 0) + (typeof ref === 'string' ? ref.length >> 6 : 0);
}

function fits(schema: unknown, state: State, depth: number, refs: readonly string[]): boolean {
  if (!isObject(schema)) return true;
  if (depth > maxDepth || !spend(state.effort, sizeOf(schema)) || isOpen(schema)) return false;
  const { $ref: ref, properties, required } = schema;
  if (typeof ref === 'string') {
    const target = refs.includes(ref) ? undefined : targetOf(ref, state.root);
    return target !== undefined && fits(target, state, depth + 1, [...refs, ref]);
  }
  if (isObject(properties)) {
    const needed = new Set(Array.isArray(required) ? required : []);
    state.optional += Object.keys(properties).filter((name) => !needed.has(name)).length;
    if (state.optional > maxOptional) return false;
  }
  return partsOf(schema).every((part) => fits(part, state, depth + 1, refs));
}

/** true: an object has properties without a name in the schema. */
function isOpen({ type, properties, additionalProperties: others, patternProperties: patterns }: Loose): boolean {
  const isObjectType = type === 'object' || (Array.isArray(type) && type.includes('object'));
  return (
    others === true ||
    isObject(others) ||
    isObject(patterns) ||
    (isObjectType && !isObject(properties) && others !== false)
  );
}

/** Returns the schemas of which a value consists. Definitions count where they are referred to. */
function partsOf(schema: Loose): unknown[] {
  const { properties, items, anyOf, oneOf, allOf } = schema;
  const lists = [anyOf, oneOf, allOf, items].flatMap((part) => (Array.isArray(part) ? part : []));
  return [
    ...(isObject(properties) ? Object.values(properties) : []),
    ...(Array.isArray(items) ? [] : [items]),
    ...lists,
  ];
}

/** Returns the schema that a reference inside of the schema, such as `#/$defs/Person`, refers to. */
function targetOf(ref: string, root: Loose): unknown {
  if (ref !== '#' && !ref.startsWith('#/')) return undefined;
  let target: unknown = root;
  for (const step of ref.split('/').slice(1)) {
    const key = step.replaceAll('~1', '/').replaceAll('~0', '~');
    if (!isObject(target) || !Object.hasOwn(target, key)) return undefined;
    target = target[key];
  }
  return target;
}

function reshape(schema: unknown, effort: SchemaEffort, depth: number): Loose {
  if (!isObject(schema) || depth > maxDepth || !spend(effort, 1)) return schema as Loose;
  const shaped: Loose = {};
  for (const key of plainKeywords) if (schema[key] !== undefined) shaped[key] = schema[key];
  for (const key of listKeywords) {
    const list = schema[key] ?? (key === 'anyOf' ? schema.oneOf : undefined);
    if (Array.isArray(list)) shaped[key] = list.map((one) => reshape(one, effort, depth + 1));
  }
  for (const key of mapKeywords) {
    const map = schema[key];
    if (isObject(map))
      shaped[key] = Object.fromEntries(
        Object.entries(map).map(([name, one]) => [name, reshape(one, effort, depth + 1)]),
      );
  }
  if (schema.items !== undefined)
    shaped.items = Array.isArray(schema.items)
      ? schema.items.map((one) => reshape(one, effort, depth + 1))
      : reshape(schema.items, effort, depth + 1);
  if (isObject(schema.properties) || schema.additionalProperties === false) shaped.additionalProperties = false;
  if (schema.required !== undefined) shaped.required = schema.required;
  const isKnownFormat = typeof schema.format === 'string' && formats.has(schema.format);
  if (isKnownFormat) shaped.format = schema.format;
  const told = [...toldKeywords, ...(isKnownFormat ? [] : ['format'])]
    .filter((key) => schema[key] !== undefined)
    .map((key) => `${key}: ${JSON.stringify(schema[key])}`);
  if (told.length > 0) shaped.description = [schema.description, `(${told.join(', ')})`].filter(Boolean).join(' ');
  return shaped;
}
