import { isObject, type Loose } from './values.ts';

/** Keywords whose value is a schema or a list of them. */
const inner: ReadonlySet<string> = new Set(['items', 'prefixItems', 'additionalProperties', 'anyOf', 'oneOf', 'allOf']);
/** Keywords whose value names schemas. */
const named: ReadonlySet<string> = new Set(['properties', '$defs', 'definitions']);

/**
 * Applies a function to a JSON schema and to every schema in it, the inner ones first. Nearly all parts of a large schema
 * stay as they are, and copying them takes several times as long as reading them: what has not changed is not copied.
 * @param change  returns the very same schema where it changes nothing
 */
export function mapSchemas(schema: unknown, change: (schema: Loose) => Loose): unknown {
  if (!isObject(schema)) return Array.isArray(schema) ? schemasOf(schema, change) : schema;
  let copy: Loose | null = null;
  for (const key in schema) {
    const value = schema[key];
    // Nearly all values are texts.
    if (typeof value !== 'object' || value === null) continue;
    let changed: unknown = value;
    if (inner.has(key)) changed = mapSchemas(value, change);
    else if (named.has(key) && isObject(value)) changed = schemasIn(value, change);
    if (changed === value) continue;
    copy ??= { ...schema };
    copy[key] = changed;
  }
  return change(copy ?? schema);
}

function schemasIn(schemas: Loose, change: (schema: Loose) => Loose): Loose {
  let copy: Loose | null = null;
  for (const name in schemas) {
    const changed = mapSchemas(schemas[name], change);
    if (changed === schemas[name]) continue;
    copy ??= { ...schemas };
    // An assignment to `__proto__` would set the prototype.
    Object.defineProperty(copy, name, { value: changed, writable: true, enumerable: true, configurable: true });
  }
  return copy ?? schemas;
}

function schemasOf(schemas: readonly unknown[], change: (schema: Loose) => Loose): unknown[] {
  const changed = schemas.map((schema) => mapSchemas(schema, change));
  return changed.some((schema, at) => schema !== schemas[at]) ? changed : (schemas as unknown[]);
}
