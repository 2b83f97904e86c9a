/**
 * Makes a value at its first use and keeps it. A value that a module makes at its top level, such as a schema, costs
 * time in every import of the package. So does a value that only few users need.
 * @returns  a function that returns the value. Its `isMade` says whether the value exists. The type has no name: the
 *           declarations of the package would have to export a named one
 */
export function lazily<T>(make: () => T): (() => T) & { isMade: () => boolean } {
  let made: { value: T } | null = null;
  const get = () => {
    made ??= { value: make() };
    return made.value;
  };
  return Object.assign(get, { isMade: () => made !== null });
}
