import { isObject, type Loose } from '../shared/values.ts';

/** Keywords whose value is a schema or a list of them. */
const inner: ReadonlySet<string> = new Set(['items', 'prefixItems', 'additionalProperties', 'anyOf', 'oneOf', 'allOf']);
/** Keywords whose value names schemas. */
const named: ReadonlySet<string> = new Set(['properties', '$defs', 'definitions']);

/**
 * A schema in the keywords that Google knows. It ignores those that it does not know, so that a `const`, by which
 * variants are told apart, has to become an `enum` of one value.
 * @see https://ai.google.dev/gemini-api/docs/structured-output "JSON Schema support"
 */
export function googleSchema(schema: unknown): unknown {
  if (!isObject(schema)) return Array.isArray(schema) ? schema.map(googleSchema) : schema;
  const entries: [string, unknown][] = [];
  for (const [key, value] of Object.entries(schema)) {
    if (key === 'const') {
      if (!('enum' in schema)) entries.push(['enum', [value]]);
    } else if (inner.has(key)) entries.push([key, googleSchema(value)]);
    else if (named.has(key) && isObject(value)) entries.push([key, schemasIn(value)]);
    else entries.push([key, value]);
  }
  return Object.fromEntries(entries);
}

/** `fromEntries` also keeps a property with the name `__proto__`. */
function schemasIn(schemas: Loose): Loose {
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, googleSchema(schema)]));
}
