/** Names that are safe in a record: others may hold anything a caller wrote. */
const plainName = /^[\w$-]{1,64}$/;
const most = 64;

/** Collects the parts of a request that do not reach the provider: each path once, in the order of the request. */
export interface Dropped {
  note(path: string): void;
  /** Notes the fields that hold something and are not among the known ones. */
  noteOthers(prefix: string, value: object, known: readonly string[]): void;
  list(): readonly string[];
}

export function createDropped(): Dropped {
  const paths = new Set<string>();
  const note = (path: string): void => {
    if (paths.size < most) paths.add(path);
  };
  return {
    note,
    noteOthers(prefix, value, known) {
      for (const key in value) {
        if (known.includes(key) || !plainName.test(key) || isEmpty((value as Record<string, unknown>)[key])) continue;
        note(`${prefix}${key}`);
      }
    },
    list: () => [...paths],
  };
}

/** true: a field holds nothing, so that leaving it out changes nothing. */
function isEmpty(value: unknown): boolean {
  return value === null || value === undefined || value === '' || (Array.isArray(value) && value.length === 0);
}
