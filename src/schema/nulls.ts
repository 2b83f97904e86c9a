import type * as z from 'zod';
import { isObject } from '../base/values.ts';

/**
 * The parts of a zod schema that this file reads.
 * @see https://zod.dev/packages/core
 */
interface Definition {
  type: string;
  shape?: Readonly<Record<string, z.ZodType>>;
  element?: z.ZodType;
  valueType?: z.ZodType;
  innerType?: z.ZodType;
  in?: z.ZodType;
  options?: readonly z.ZodType[];
  discriminator?: string;
  /** The choice in a schema of `chosen`. */
  choose?: (value: Record<string, unknown>) => z.ZodType | null;
}

/**
 * The value without each null in an optional field that takes no null.
 * @returns the value itself where there is none; never changes the value
 */
export function withoutNulls(schema: z.ZodType, value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const { type, element, valueType, innerType, in: input, options, ...def } = definitionOf(schema);
  if (options) return ofUnion(options, def, value);
  const inner = innerType ?? input;
  if (inner) return withoutNulls(inner, value);
  if (Array.isArray(value)) return element ? ofList(element, value) : value;
  if (type === 'object') return ofObject(def.shape ?? {}, value as Record<string, unknown>);
  return valueType ? ofMap(valueType, value as Record<string, unknown>) : value;
}

function ofList(element: z.ZodType, list: readonly unknown[]): readonly unknown[] {
  let out: unknown[] | null = null;
  for (const [at, item] of list.entries()) {
    const other = withoutNulls(element, item);
    if (other === item) continue;
    out ??= [...list];
    out[at] = other;
  }
  return out ?? list;
}

function ofObject(shape: Readonly<Record<string, z.ZodType>>, object: Record<string, unknown>): object {
  const changes = new Map<string, unknown>();
  for (const [name, schema] of Object.entries(shape)) {
    if (!Object.hasOwn(object, name)) continue;
    const value = object[name];
    if (value === null) {
      if (isOptional(schema) && !takes(schema, null)) changes.set(name, undefined);
      continue;
    }
    const other = withoutNulls(schema, value);
    if (other !== value) changes.set(name, other);
  }
  return changed(object, changes);
}

/** An entry of a map is no field: what is null there is left as it is. */
function ofMap(valueType: z.ZodType, map: Record<string, unknown>): object {
  // Most maps hold anything, such as a JSON Schema: there is nothing to look for.
  if (definitionOf(valueType).type === 'unknown') return map;
  const changes = new Map<string, unknown>();
  for (const [name, value] of Object.entries(map)) {
    const other = withoutNulls(valueType, value);
    if (other !== value) changes.set(name, other);
  }
  return changed(map, changes);
}

function changed(object: Record<string, unknown>, changes: ReadonlyMap<string, unknown>): object {
  if (changes.size === 0) return object;
  return Object.fromEntries(
    Object.entries(object).flatMap(([name, value]) => {
      if (!changes.has(name)) return [[name, value]];
      const other = changes.get(name);
      return other === undefined ? [] : [[name, other]];
    }),
  );
}

function ofUnion(
  options: readonly z.ZodType[],
  { choose, discriminator }: Partial<Definition>,
  value: object,
): unknown {
  if (choose) {
    const schema = isObject(value) ? choose(value) : null;
    return schema ? withoutNulls(schema, value) : value;
  }
  if (discriminator !== undefined) {
    const named = isObject(value) ? value[discriminator] : undefined;
    const schema = options.find((option) => option._zod.propValues?.[discriminator]?.has(named as string));
    return schema ? withoutNulls(schema, value) : value;
  }
  let changed = value as unknown;
  for (const option of options) {
    const other = withoutNulls(option, value);
    if (takes(option, other)) return other;
    if (other !== value) changed = other;
  }
  // None takes it. What is wrong beside the nulls is then the error.
  return changed;
}

function isOptional(schema: z.ZodType): boolean {
  return schema._zod.optin === 'optional';
}

function takes(schema: z.ZodType, value: unknown): boolean {
  return schema.safeParse(value, { jitless: true }).success;
}

function definitionOf(schema: z.ZodType): Definition {
  return schema._zod.def as unknown as Definition;
}
