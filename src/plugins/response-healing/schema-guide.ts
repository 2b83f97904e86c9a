import { isObject, type Loose } from '../../base/values.ts';
import { type Steps, spend } from './steps.ts';

/** A place in a schema, with the complete schema that references refer to. */
export interface Guide {
  schema: Loose;
  root: unknown;
}

/** The most references that are followed one after the other. */
const mostReferences = 16;

const fields = new WeakMap<Loose, ReadonlyMap<string, Guide | null>>();

/** @returns null: the place in the schema says nothing */
export function guideOf(schema: unknown, root: unknown, steps: Steps): Guide | null {
  let found = schema;
  for (let count = 0; isObject(found) && typeof found.$ref === 'string'; count++) {
    if (count === mostReferences || !found.$ref.startsWith('#')) return null;
    spend(steps, found.$ref.length);
    found = pointed(found.$ref, root);
  }
  return isObject(found) ? { schema: found, root } : null;
}

/** Returns the schema that `#/$defs/name` and the like stand for. */
function pointed(ref: string, root: unknown): unknown {
  let found: unknown = root;
  for (const part of ref.split('/').slice(1)) {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~');
    found =
      typeof found === 'object' && found !== null && Object.hasOwn(found, name) ? (found as Loose)[name] : undefined;
  }
  return found;
}

/** Returns the members that a schema names; null: it names none. Made once for each schema. */
export function fieldsOf({ schema, root }: Guide, steps: Steps): ReadonlyMap<string, Guide | null> | null {
  if (!isObject(schema.properties)) return null;
  const known = fields.get(schema.properties);
  if (known !== undefined) return known;
  const made = new Map<string, Guide | null>();
  for (const name of Object.keys(schema.properties)) {
    spend(steps, 1);
    made.set(name, guideOf(schema.properties[name], root, steps));
  }
  fields.set(schema.properties, made);
  return made;
}

/** Returns the schema of the items of a list; null: the schema does not say. */
export function itemsOf({ schema, root }: Guide, steps: Steps): Guide | null {
  return isObject(schema.items) ? guideOf(schema.items, root, steps) : null;
}
