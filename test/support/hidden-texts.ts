import * as z from 'zod';

/** A value with a text hidden at one place. */
export interface Hiding {
  /** Where it is hidden, such as `messages[].content`; `{key}` is the name of a member. */
  place: string;
  value: unknown;
}

interface JsonSchema {
  type?: string | string[];
  properties?: Record<string, JsonSchema>;
  required?: string[];
  items?: JsonSchema | boolean;
  anyOf?: JsonSchema[];
  oneOf?: JsonSchema[];
  allOf?: JsonSchema[];
  additionalProperties?: JsonSchema | boolean;
  propertyNames?: JsonSchema;
  enum?: unknown[];
  const?: unknown;
  $ref?: string;
  minItems?: number;
}

/** What is hidden, as a text and as a number. */
export interface Hidden {
  text: string;
  number: number;
}

const deepest = 20;

/**
 * Every place of a zod schema where something could be hidden: each text, each number, each name of a member that is
 * open, and a member that no schema knows. A field that is new in the schema is a new place here.
 */
export function hidingsIn(schema: z.ZodType, hidden: Hidden): Hiding[] {
  const root = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as JsonSchema & {
    $defs?: Record<string, JsonSchema>;
  };
  const resolve = (one: JsonSchema): JsonSchema => {
    if (one.$ref === undefined) return one;
    const name = one.$ref.split('/').at(-1) as string;
    return one.$ref === '#' ? root : (root.$defs?.[name] ?? {});
  };

  function least(given: JsonSchema, depth = 0): unknown {
    const one = resolve(given);
    if (one.const !== undefined) return one.const;
    if (one.enum !== undefined) return one.enum[0];
    const branch = (one.anyOf ?? one.oneOf)?.[0];
    if (branch !== undefined) return least(branch, depth + 1);
    if (one.allOf !== undefined) return Object.assign({}, ...one.allOf.map((part) => least(part, depth + 1)));
    if (one.properties !== undefined || one.type === 'object')
      return Object.fromEntries(
        (one.required ?? []).map((name) => [name, least(one.properties?.[name] ?? {}, depth + 1)]),
      );
    if (one.type === 'array') return (one.minItems ?? 0) > 0 ? [least(one.items as JsonSchema, depth + 1)] : [];
    if (one.type === 'number' || one.type === 'integer') return 1;
    if (one.type === 'boolean') return false;
    return one.type === 'null' ? null : 'x';
  }

  function* places(given: JsonSchema, place: string, depth: number): Generator<Hiding> {
    const one = resolve(given);
    if (depth > deepest || one.const !== undefined || one.enum !== undefined) return;
    const branches = one.anyOf ?? one.oneOf;
    if (branches !== undefined) {
      for (const branch of branches) yield* places(branch, place, depth + 1);
      return;
    }
    if (Array.isArray(one.type)) for (const type of one.type) yield* places({ ...one, type }, place, depth + 1);
    else if (one.type === 'string') yield { place, value: hidden.text };
    else if (one.type === 'number' || one.type === 'integer') yield { place, value: hidden.number };
    else if (one.type === 'array') {
      const items = one.items === true || one.items === undefined ? {} : (one.items as JsonSchema);
      for (const inner of places(items, `${place}[]`, depth + 1)) yield { ...inner, value: [inner.value] };
    } else if (one.properties !== undefined || one.type === 'object') yield* ofObject(one, place, depth);
    else if (one.type === undefined && one.allOf === undefined) {
      yield { place, value: hidden.text };
      yield { place: `${place}.{any}`, value: { any: [hidden.text] } };
      yield { place: `${place}.{number}`, value: { any: hidden.number } };
      yield { place: `${place}.{key}`, value: { [hidden.text]: 1 } };
    }
  }

  function* ofObject(one: JsonSchema, place: string, depth: number): Generator<Hiding> {
    const base = least(one) as Record<string, unknown>;
    for (const [name, inner] of Object.entries(one.properties ?? {}))
      for (const found of places(inner, place === '' ? name : `${place}.${name}`, depth + 1))
        yield { ...found, value: { ...base, [name]: found.value } };
    if (one.additionalProperties === false) return;
    const open = typeof one.additionalProperties === 'object' ? one.additionalProperties : {};
    yield { place: `${place}.{key}`, value: { ...base, [hidden.text]: least(open) } };
    for (const found of places(open, `${place}.{unknown}`, depth + 1))
      yield { ...found, value: { ...base, unknown_field: found.value } };
  }

  return [...places(root, '', 0)];
}
