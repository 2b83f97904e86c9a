/** Names that are safe in a record: others may hold anything a caller wrote. */
const plainName = /^[\w$.-]{1,64}$/;
const mostPaths = 64;

/** Collects the parts of a Responses request that only an upstream that speaks Responses gets: each path once. */
export interface Dropped {
  /** @param name  the name that the caller wrote; left out of the path where it is no plain name */
  note(prefix: string, name?: string): void;
  list(): readonly string[];
}

export function createDropped(): Dropped {
  const paths = new Set<string>();
  return {
    note(prefix, name = '') {
      if (paths.size < mostPaths) paths.add(plainName.test(name) ? prefix + name : prefix.replace(/\.$/, ''));
    },
    list: () => [...paths],
  };
}
