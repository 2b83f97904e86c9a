import { isObject, type Loose } from '../../../base/values.ts';

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
  if (!isObject(schema)) return Array.isArray(schema) ? schemasOf(schema) : schema;
  // Most parts of a large schema stay as they are: a copy takes several times as long as a look.
  let copy: Loose | null = null;
  for (const key in schema) {
    const value = schema[key];
    if (key === 'const') {
      copy ??= { ...schema };
      delete copy.const;
      if (!('enum' in schema)) copy.enum = [value];
      continue;
    }
    const shaped = inner.has(key) ? googleSchema(value) : named.has(key) && isObject(value) ? schemasIn(value) : value;
    if (shaped === value) continue;
    copy ??= { ...schema };
    copy[key] = shaped;
  }
  return copy ?? schema;
}

function schemasIn(schemas: Loose): Loose {
  let copy: Loose | null = null;
  for (const name in schemas) {
    const shaped = googleSchema(schemas[name]);
    if (shaped === schemas[name]) continue;
    copy ??= { ...schemas };
    // An assignment to `__proto__` would set the prototype.
    Object.defineProperty(copy, name, { value: shaped, writable: true, enumerable: true, configurable: true });
  }
  return copy ?? schemas;
}

function schemasOf(schemas: readonly unknown[]): unknown[] {
  const shaped = schemas.map(googleSchema);
  return shaped.some((schema, at) => schema !== schemas[at]) ? shaped : (schemas as unknown[]);
}
