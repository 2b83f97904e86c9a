import { isObject, type Loose } from '../../base/values.ts';

/** Levels of a schema that are looked at. */
const maxDepth = 64;

/**
 * Changes values to the types that a schema names, where nothing is lost: `"42"` to `42`, `"true"` to `true`, `7` to
 * `"7"`, one value to a list of one, JSON in a string to what it says. References are followed within the schema.
 * @param value  is changed in place
 * @returns the value, or another one in its place
 */
export function coerce(value: unknown, schema: unknown, root: unknown = schema, depth = 0): unknown {
  const of = resolved(schema, root);
  if (!isObject(of) || depth > maxDepth) return value;
  const types = typesOf(of);
  const fitting = types.length === 0 || types.includes(typeOf(value)) || isInteger(value, types);
  const changed = fitting ? value : (changedTo(value, types) ?? value);
  if (Array.isArray(changed) && isObject(of.items))
    for (let at = 0; at < changed.length; at++) changed[at] = coerce(changed[at], of.items, root, depth + 1);
  if (isObject(changed) && isObject(of.properties))
    for (const name of Object.keys(of.properties))
      if (name !== '__proto__' && Object.hasOwn(changed, name))
        changed[name] = coerce(changed[name], (of.properties as Loose)[name], root, depth + 1);
  return changed;
}

/** What `#/$defs/name` and the like stand for; one step. */
function resolved(schema: unknown, root: unknown): unknown {
  if (!isObject(schema) || typeof schema.$ref !== 'string' || !schema.$ref.startsWith('#/')) return schema;
  let found: unknown = root;
  for (const part of schema.$ref.slice(2).split('/')) {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~');
    found = isObject(found) && Object.hasOwn(found, name) ? found[name] : undefined;
  }
  return found;
}

function typesOf({ type }: Loose): unknown[] {
  return Array.isArray(type) ? type : type === undefined ? [] : [type];
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

function isInteger(value: unknown, types: readonly unknown[]): boolean {
  return types.includes('integer') && Number.isInteger(value);
}

/** undefined: no type of these can hold the value without loss. */
function changedTo(value: unknown, types: readonly unknown[]): unknown {
  if (typeof value === 'string') return fromText(value, types);
  if (types.includes('string') && (typeof value === 'number' || typeof value === 'boolean')) return String(value);
  return types.includes('array') ? [value] : undefined;
}

function fromText(text: string, types: readonly unknown[]): unknown {
  const trimmed = text.trim();
  const number = Number(trimmed);
  const isNumber = trimmed !== '' && String(number) === trimmed && Number.isFinite(number);
  if (isNumber && (types.includes('number') || (types.includes('integer') && Number.isInteger(number)))) return number;
  if (types.includes('boolean') && (trimmed === 'true' || trimmed === 'false')) return trimmed === 'true';
  if (types.includes('null') && trimmed === 'null') return null;
  if ((types.includes('object') && trimmed.startsWith('{')) || (types.includes('array') && trimmed.startsWith('['))) {
    try {
      return JSON.parse(trimmed);
    } catch {
      return undefined;
    }
  }
  return types.includes('array') ? [text] : undefined;
}
