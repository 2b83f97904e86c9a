import * as z from 'zod';

/** One option as its schema has it. */
export interface OptionFact {
  /** Of a record's values `providers.<slug>.apiKey`, of a list's items `models[].slug`. */
  path: string;
  /** As the docs write it; null where the schema only asks for a function or some methods. */
  type: string | null;
  /** As JSON; undefined without one. */
  default: string | undefined;
  isRequired: boolean;
  /** It has options of its own, each with its own path. */
  isSection: boolean;
}

/** What is below an object schema, depth first. */
export function optionsOf(schema: z.ZodType, prefix = ''): OptionFact[] {
  const { inner } = unwrapped(schema);
  if (inner instanceof z.ZodRecord) return optionsOf(inner.valueType as z.ZodType, `${prefix}.<slug>`);
  if (inner instanceof z.ZodArray) return optionsOf(inner.element as z.ZodType, `${prefix}[]`);
  // A provider as options, or one that was made elsewhere.
  if (inner instanceof z.ZodUnion) return inner.options.flatMap((option) => optionsOf(option as z.ZodType, prefix));
  if (!(inner instanceof z.ZodObject)) return [];
  return Object.entries(inner.shape as Record<string, z.ZodType>).flatMap(([name, value]) => {
    const path = prefix === '' ? name : `${prefix}.${name}`;
    const below = optionsOf(value, path);
    const { inner: bare, isOptional, isNullable, given } = unwrapped(value);
    const type = typeOf(bare);
    const fact: OptionFact = {
      path,
      type: type === null || !isNullable ? type : `${type} or null`,
      default: given === undefined ? undefined : JSON.stringify(given),
      isRequired: !isOptional,
      isSection: below.length > 0,
    };
    return [fact, ...below];
  });
}

function unwrapped(schema: z.ZodType): { inner: z.ZodType; isOptional: boolean; isNullable: boolean; given: unknown } {
  let inner = schema;
  let isOptional = false;
  let isNullable = false;
  let given: unknown;
  for (;;) {
    if (inner instanceof z.ZodDefault || inner instanceof z.ZodPrefault) {
      isOptional = true;
      given = inner.def.defaultValue;
    } else if (inner instanceof z.ZodOptional) isOptional = true;
    else if (inner instanceof z.ZodNullable) isNullable = true;
    else return { inner, isOptional, isNullable, given };
    inner = inner.unwrap() as z.ZodType;
  }
}

function typeOf(schema: z.ZodType): string | null {
  if (schema instanceof z.ZodURL) return 'URL';
  if (schema instanceof z.ZodString) return 'string';
  if (schema instanceof z.ZodBoolean) return 'boolean';
  if (schema instanceof z.ZodNumber) return integerRange(schema);
  if (schema instanceof z.ZodEnum) return schema.options.map((value) => `\`${value}\``).join(', ');
  if (schema instanceof z.ZodRecord) return 'record';
  if (schema instanceof z.ZodObject) return 'object';
  if (schema instanceof z.ZodArray) {
    const { inner } = unwrapped(schema.element as z.ZodType);
    // Of objects that the schema describes, or of which it only asks for some methods; or of several kinds.
    const of = inner instanceof z.ZodObject ? null : typeOf(inner);
    return of === null ? 'list' : `list of ${of}`;
  }
  if (schema instanceof z.ZodUnion) {
    const has = (type: new (...given: never[]) => unknown) => schema.options.some((option) => option instanceof type);
    if (!has(z.ZodNumber)) return null;
    // Text or a number: only amounts of money are.
    return has(z.ZodString) ? 'price' : schema.options.map((option) => typeOf(option as z.ZodType)).join(' or ');
  }
  if (schema instanceof z.ZodCustom) return null;
  throw new Error(`The docs have no word for ${schema.constructor.name}`);
}

function integerRange({ minValue, maxValue, isInt }: z.ZodNumber): string {
  if (!isInt) return 'number';
  if (minValue === Number.MIN_SAFE_INTEGER) return 'integer';
  return maxValue !== null && maxValue < Number.MAX_SAFE_INTEGER
    ? `integer ${minValue} to ${maxValue}`
    : `integer ≥ ${minValue}`;
}
