import * as z from 'zod';

/**
 * The fields of an object, each with a function that makes its schema. To make the schemas of all options takes longer
 * than to check the few that are given.
 */
export type LateFields = Readonly<Record<string, () => z.ZodType>>;

type Made<Fields extends LateFields> = { [Name in keyof Fields]: ReturnType<Fields[Name]> };

/** The fields with their schemas, for a schema of the whole object. */
export function madeFields<Fields extends LateFields>(fields: Fields): Made<Fields> {
  return Object.fromEntries(Object.entries(fields).map(([name, make]) => [name, make()])) as Made<Fields>;
}

/** The parts of a schema that depend on what is given. */
export interface PartOf {
  /** Fields that must be given. */
  required?: readonly string[];
  /** Fields with a smaller schema, for the values that the given objects have there. */
  smaller?: Readonly<Record<string, (values: readonly unknown[]) => z.ZodType>>;
}

/**
 * The part of a schema that some objects need: with the fields that at least one of them has. An object that fits it fits
 * the whole schema. Defaults of other fields are not filled in.
 */
export function partFor(fields: LateFields, given: readonly unknown[], part: PartOf = {}): z.ZodType {
  const objects = given.filter((one) => typeof one === 'object' && one !== null) as Record<string, unknown>[];
  const shape: Record<string, z.ZodType> = {};
  for (const [name, make] of Object.entries(fields)) {
    const values = objects.map((one) => one[name]).filter((value) => value !== undefined);
    if (values.length === 0 && !part.required?.includes(name)) continue;
    shape[name] = part.smaller?.[name]?.(values) ?? make();
  }
  return z.strictObject(shape);
}

/**
 * Checks objects by a part of a loose schema, which grows by the fields that objects have. Only what does not fit is
 * checked by the whole schema, which then says why. Values are not rewritten: the fields of a schema have no defaults.
 * @param required  fields that must be given
 * @param whole     the schema of all fields
 */
export function checkByFields<Body>(
  fields: LateFields,
  required: readonly string[],
  whole: () => z.ZodType<Body>,
): Pick<z.ZodType<Body>, 'safeParse'> {
  // In the order of the whole schema, which is the order of what is forwarded.
  const made = new Map<string, z.ZodType | null>(Object.keys(fields).map((name) => [name, null]));
  let part: z.ZodType | null = null;
  const grow = (names: readonly string[]) => {
    for (const name of names) {
      if (made.get(name) !== null) continue;
      made.set(name, (fields[name] as () => z.ZodType)());
      part = null;
    }
    part ??= z.looseObject(Object.fromEntries([...made].filter(([, schema]) => schema !== null)) as z.ZodRawShape);
    return part as z.ZodType<Body>;
  };
  return {
    safeParse(value, params) {
      if (typeof value === 'object' && value !== null) {
        const parsed = grow([...required, ...Object.keys(value)]).safeParse(value, params);
        if (parsed.success) return parsed;
      }
      return whole().safeParse(value, params);
    },
  };
}
