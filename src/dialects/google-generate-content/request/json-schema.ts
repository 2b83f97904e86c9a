import { isObject, type Loose } from '../../../base/values.ts';

/** Keywords whose value is a schema or a list of them. */
const inner: ReadonlySet<string> = new Set(['items', 'prefixItems', 'additionalProperties', 'anyOf', 'oneOf', 'allOf']);
/** Keywords whose value names schemas. */
const named: ReadonlySet<string> = new Set(['properties', '$defs', 'definitions']);

/**
 * Returns a schema in the keywords that Google knows. Google ignores the others, so a `const`, by which variants are
 * told apart, becomes an `enum` of one value.
 * @see https://ai.google.dev/gemini-api/docs/structured-output "JSON Schema support"
 */
export function googleSchema(schema: unknown): unknown {
  if (!isObject(schema)) return Array.isArray(schema) ? schemasOf(schema) : schema;
  // Nearly all parts of a large schema stay as they are, and copying them takes several times as long as reading them.
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
