import * as z from 'zod';
import { $constructor, $ZodAsyncError } from 'zod/v4/core';

interface ChosenDef extends z.core.$ZodUnionDef {
  /** The schema for an object; null: none is for it. */
  choose: (value: Record<string, unknown>) => z.core.SomeType | null;
  /** The possible values of `type`, for the error of an object without a schema. */
  types: readonly string[];
}

/**
 * A union whose alternative is chosen by a look at the value. So a fault is reported of that alternative alone, and of
 * hundreds of items each is checked once. Values are checked, not copied: the parsed value is the value itself.
 * @param options  the alternatives
 * @param choose   the alternative for an object; null: none is for it
 * @param types    what `type` may be, for the error of an object that no alternative is for
 */
export function chosen<const T extends readonly z.ZodType[]>(
  options: T,
  choose: (value: Record<string, unknown>) => T[number] | null,
  types: readonly string[],
): z.ZodUnion<T> {
  return new Chosen({ type: 'union', options, choose, types }) as unknown as z.ZodUnion<T>;
}

const Chosen = $constructor<z.ZodUnion, ChosenDef>('Chosen', (inst, def) => {
  z.ZodUnion.init(inst, def);
  const { choose, types } = def;
  inst._zod.parse = (payload, ctx) => {
    const input: unknown = payload.value;
    if (typeof input !== 'object' || input === null || Array.isArray(input)) {
      payload.issues.push({ code: 'invalid_type', expected: 'object', input, inst });
      return payload;
    }
    const schema = choose(input as Record<string, unknown>);
    if (schema === null) {
      payload.issues.push({ code: 'invalid_value', values: [...types], input, inst, path: ['type'] });
      return payload;
    }
    const result = schema._zod.run({ value: input, issues: [] }, ctx);
    if (result instanceof Promise) throw new $ZodAsyncError();
    for (const issue of result.issues) payload.issues.push(issue);
    return payload;
  };
});
