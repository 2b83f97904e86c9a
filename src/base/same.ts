/** Compares two values that JSON can hold. @returns true where they are the same: equal texts, numbers and lists, and objects with equal fields. */
export function isSame(one: unknown, other: unknown): boolean {
  if (Object.is(one, other)) return true;
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false;
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  const keys = Object.keys(one);
  if (keys.length !== Object.keys(other).length) return false;
  return keys.every((key) => Object.hasOwn(other, key) && isSame((one as Fields)[key], (other as Fields)[key]));
}

type Fields = Readonly<Record<string, unknown>>;
