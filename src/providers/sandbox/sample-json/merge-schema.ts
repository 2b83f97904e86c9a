export type Schema = Readonly<Record<string, unknown>>;

export function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const tightest = {
  minimum: Math.max,
  exclusiveMinimum: Math.max,
  minLength: Math.max,
  minItems: Math.max,
  minProperties: Math.max,
  maximum: Math.min,
  exclusiveMaximum: Math.min,
  maxLength: Math.min,
  maxItems: Math.min,
  maxProperties: Math.min,
} satisfies Record<string, (a: number, b: number) => number>;

function isLimit(key: string): key is keyof typeof tightest {
  return Object.hasOwn(tightest, key);
}

/** Called before work, with its size in characters to read. Throws when the work is too much. */
export type Spend = (units: number) => void;
/** Copying a key of a large object takes as long as reading so many characters. */
export const unitsPerKey = 10;

/** Joins two schemas into one that demands both; null where they contradict each other or cannot be joined. */
export function mergeSchemas(a: Schema, b: Schema, spend: Spend): Schema | null {
  spend((Object.keys(a).length + Object.keys(b).length) * unitsPerKey);
  const merged: Record<string, unknown> = { ...a };
  for (const [key, theirs] of Object.entries(b)) {
    const ours = Object.hasOwn(a, key) ? a[key] : undefined;
    if (ours === undefined || isSame(ours, theirs, spend)) merged[key] = theirs;
    else if (key === 'properties' && isSchema(ours) && isSchema(theirs)) merged[key] = mergeProperties(ours, theirs);
    else if (key === 'required') merged[key] = [...new Set([...list(ours), ...list(theirs)])];
    else if (key === 'type') {
      const types = listOrOne(ours).filter(
        (type) => listOrOne(theirs).includes(type) || (type === 'integer' && listOrOne(theirs).includes('number')),
      );
      const narrowed =
        types.length > 0
          ? types
          : listOrOne(theirs).filter((type) => type === 'integer' && listOrOne(ours).includes('number'));
      if (narrowed.length === 0) return null;
      merged[key] = narrowed;
    } else if (key === 'enum') {
      const others = new Set(list(theirs).map((other) => JSON.stringify(other)));
      const values = list(ours).filter((value) => others.has(JSON.stringify(value)));
      if (values.length === 0) return null;
      merged[key] = values;
    } else if (isLimit(key) && typeof ours === 'number' && typeof theirs === 'number')
      merged[key] = tightest[key](ours, theirs);
    else if (key === 'allOf') merged[key] = [...list(ours), ...list(theirs)];
    else if (['anyOf', 'oneOf', '$ref'].includes(key)) merged.allOf = [...list(merged.allOf), { [key]: theirs }];
    else if (key === 'items') merged[key] = { allOf: [ours, theirs] };
    else if (key === 'additionalProperties')
      merged[key] = ours === false || theirs === false ? false : { allOf: [ours, theirs] };
    else if (['const', 'pattern', 'format', 'multipleOf', 'prefixItems', 'uniqueItems'].includes(key)) return null;
  }
  return closeProperties(merged, a, b);
}

/** Compares two values. The work is to read both. */
function isSame(ours: unknown, theirs: unknown, spend: Spend): boolean {
  const [our, their] = [JSON.stringify(ours) ?? '', JSON.stringify(theirs) ?? ''];
  spend(our.length + their.length);
  return our === their;
}

function mergeProperties(a: Schema, b: Schema): Schema {
  const merged: Record<string, unknown> = { ...a };
  for (const [name, schema] of Object.entries(b))
    merged[name] = Object.hasOwn(a, name) ? { allOf: [a[name], schema] } : schema;
  return merged;
}

/** A property that one side has may not appear if the other side is closed and does not have it. */
function closeProperties(merged: Record<string, unknown>, ...sides: Schema[]): Schema {
  if (!isSchema(merged.properties)) return merged;
  const properties: Record<string, unknown> = { ...merged.properties };
  for (const side of sides) {
    if (side.additionalProperties !== false) continue;
    const known = isSchema(side.properties) ? side.properties : {};
    for (const name of Object.keys(properties)) if (!Object.hasOwn(known, name)) properties[name] = false;
  }
  return { ...merged, properties };
}

export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function listOrOne(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : value === undefined ? [] : [value];
}
