/** A wire object whose fields are unknown until they are checked. */
export type Loose = Record<string, unknown>;

export function isObject(value: unknown): value is Loose {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Adds items to a list. As arguments of one call, some 120,000 values would be too many. */
export function addAll<Item>(list: Item[], more: Iterable<Item>): void {
  for (const one of more) list.push(one);
}

/** Tells whether a value can be the index of a choice or a tool call. */
export function isIndex(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/** Sets the fields of another object, which wins. A field `__proto__` would change the prototype, and is left out. */
export function addFields(to: Loose, from: Loose): void {
  for (const name in from) if (name !== '__proto__') to[name] = from[name];
}

const ordinary = { configurable: true, enumerable: true, writable: true };

/**
 * A copy without some fields, which are rarely present: docs/performance.md, "Spread instead of a rest pattern".
 */
export function without(names: readonly string[], value: Loose): Loose {
  if (!holdsAny(names, value)) return { ...value };
  const others: Loose = {};
  for (const name in value) {
    if (names.includes(name)) continue;
    // An assignment to `__proto__` would change the prototype of the copy.
    if (name === '__proto__') Object.defineProperty(others, name, { value: value[name], ...ordinary });
    else others[name] = value[name];
  }
  return others;
}

function holdsAny(names: readonly string[], value: Loose): boolean {
  for (const name in value) if (names.includes(name)) return true;
  return false;
}
