/**
 * Leaves out the fields that are `undefined`. Otherwise such a field would replace a field with a value when the two
 * objects are spread together.
 */
export function definedOnly<T extends object>(fields: T): Partial<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Partial<T>;
}
