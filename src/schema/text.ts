import * as z from 'zod';

/**
 * A string of at most `max` characters, counted in code points, as JSON Schema counts: an emoji is one.
 * Issues are zod's own `too_big`.
 */
export function textUpTo(max: number) {
  return z.string().check((payload) => {
    const { value } = payload;
    // Code units first: only a string between max and twice that can be within the limit in code points alone.
    if (value.length <= max || (value.length <= 2 * max && countCodePoints(value) <= max)) return;
    payload.issues.push({ code: 'too_big', origin: 'string', maximum: max, inclusive: true, input: value });
  });
}

function countCodePoints(value: string): number {
  let count = 0;
  for (const _ of value) count += 1;
  return count;
}

/**
 * A JSON object that is passed on as it is: neither copied nor looked into, so that the order of its keys survives. A
 * model answers a JSON Schema in the order of its properties.
 */
export const jsonObject = z.custom<Record<string, unknown>>(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  { error: 'expected object' },
);
