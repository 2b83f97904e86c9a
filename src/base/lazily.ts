/**
 * Makes a value when it is first asked for, and keeps it. What a module would otherwise make at its top level, such as a
 * schema, costs every import of the package; so does what few of its users need.
 * @returns  asks for the value; `isMade`: whether anybody has. Not a type with a name, which the declarations of the
 *           package would have to export
 */
export function lazily<T>(make: () => T): (() => T) & { isMade: () => boolean } {
  let made: { value: T } | null = null;
  const get = () => {
    made ??= { value: make() };
    return made.value;
  };
  return Object.assign(get, { isMade: () => made !== null });
}
