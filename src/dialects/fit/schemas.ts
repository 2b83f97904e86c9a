import { mapSchemas } from '../../base/json-schema.ts';
import { isObject, type Loose } from '../../base/values.ts';

/** Keywords beside which an object need not say its properties. */
const instead = ['$ref', 'anyOf', 'oneOf', 'allOf', 'enum', 'not'] as const;

/**
 * Returns the schema of a tool's arguments with what providers insist on, and servers leave out: the type of the whole,
 * the properties of an object that has none, the items of a list. They change nothing of what the schema allows.
 * @returns the very same schema where it has all that
 * @see https://platform.openai.com/docs/guides/function-calling "schema must be a JSON Schema of 'type: \"object\"'",
 *   "object schema missing properties", "array schema missing items"
 */
export function wholeSchema(schema: Loose): Loose {
  const whole = mapSchemas(schema, completed) as Loose;
  const lacksType = whole.type === undefined || whole.type === null;
  const lacksProperties =
    (lacksType || whole.type === 'object') && !isObject(whole.properties) && !instead.some((key) => key in whole);
  if (!lacksType && !lacksProperties) return whole;
  return { ...whole, ...(lacksType ? { type: 'object' } : {}), ...(lacksProperties ? { properties: {} } : {}) };
}

function completed(schema: Loose): Loose {
  const lacksItems = schema.type === 'array' && !isSchema(schema.items) && !Array.isArray(schema.prefixItems);
  // Serialisers of some languages write an empty list as null.
  const isNull = schema.required === null || schema.properties === null;
  if (!lacksItems && !isNull) return schema;
  const whole: Loose = { ...schema, ...(lacksItems ? { items: {} } : {}) };
  if (schema.required === null) delete whole.required;
  if (schema.properties === null) delete whole.properties;
  return whole;
}

function isSchema(value: unknown): boolean {
  return typeof value === 'object' ? value !== null : typeof value === 'boolean';
}
