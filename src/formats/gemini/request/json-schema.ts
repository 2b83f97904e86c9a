import { isObject, type Loose } from '../../../base/values.ts';

/** The types of Google's schemas, which are written in capitals. */
const types = new Set(['STRING', 'NUMBER', 'INTEGER', 'BOOLEAN', 'ARRAY', 'OBJECT', 'NULL']);

/** Fields that hold one schema, a list of schemas, or schemas by name. Values such as `enum` and `default` stay as they are. */
const one = new Set(['items', 'additionalProperties', 'not', 'if', 'then', 'else', 'contains', 'propertyNames']);
const several = new Set(['anyOf', 'oneOf', 'allOf', 'prefixItems']);
const named = new Set(['properties', '$defs', 'definitions', 'patternProperties', 'dependentSchemas']);
/** Google's schemas have counts as texts. */
const counts = new Set(['minItems', 'maxItems', 'minLength', 'maxLength', 'minProperties', 'maxProperties']);

/** Fields of Google's that JSON Schema does not have. */
const foreign = new Set(['propertyOrdering', 'property_ordering', 'nullable']);
const renamed: Readonly<Record<string, string>> = {
  any_of: 'anyOf',
  min_items: 'minItems',
  max_items: 'maxItems',
  min_length: 'minLength',
  max_length: 'maxLength',
  min_properties: 'minProperties',
  max_properties: 'maxProperties',
};

/**
 * Makes JSON Schema of a schema of Google's: types in lower case, and `nullable` as a further type. JSON Schema stays
 * as it is. The depth is bounded by the body's.
 */
export function jsonSchemaOf(schema: unknown): unknown {
  if (!isObject(schema)) return schema;
  const made: Loose = {};
  for (const [written, value] of Object.entries(schema)) {
    const key = renamed[written] ?? written;
    if (foreign.has(key)) continue;
    setField(made, key, fieldValue(key, value));
  }
  if (schema.nullable === true) addNull(made);
  return made;
}

function fieldValue(key: string, value: unknown): unknown {
  if (key === 'type') return Array.isArray(value) ? value.map(typeOf) : typeOf(value);
  if (one.has(key)) return Array.isArray(value) ? value.map(jsonSchemaOf) : jsonSchemaOf(value);
  if (several.has(key) && Array.isArray(value)) return value.map(jsonSchemaOf);
  if (counts.has(key) && typeof value === 'string' && /^\d{1,15}$/.test(value)) return Number(value);
  if (!named.has(key) || !isObject(value)) return value;
  const schemas: Loose = {};
  for (const [name, schema] of Object.entries(value)) setField(schemas, name, jsonSchemaOf(schema));
  return schemas;
}

function typeOf(type: unknown): unknown {
  return typeof type === 'string' && types.has(type) ? type.toLowerCase() : type;
}

function addNull(schema: Loose): void {
  if (typeof schema.type === 'string') schema.type = [schema.type, 'null'];
  if (Array.isArray(schema.enum) && !schema.enum.includes(null)) schema.enum = [...schema.enum, null];
}

/** A property may be named `__proto__`, which an assignment would take for the prototype. */
function setField(to: Loose, name: string, value: unknown): void {
  if (name === '__proto__')
    Object.defineProperty(to, name, { value, configurable: true, enumerable: true, writable: true });
  else to[name] = value;
}
