import type { NeededPart } from '../call/native.ts';

/** Names that are safe in a record: others may hold anything a caller wrote. */
const plainName = /^[\w$.-]{1,64}$/;
const mostPaths = 64;

/** Collects the parts of a request that only an upstream of the same wire format gets: each path once. */
export interface Leftover {
  /** @param name  the name that the caller wrote; left out of the path where it is no plain name */
  note(prefix: string, name?: string): void;
  /** Notes a part that must not be left out: an upstream of another format is not called. */
  need(path: string, expected: string, of?: Pick<NeededPart, 'isStored' | 'leftOutAs'>): void;
  /** The paths that were noted. */
  list(): readonly string[];
  /** The parts that were needed. */
  readonly needed: readonly NeededPart[];
}

export function createLeftover(): Leftover {
  const paths = new Set<string>();
  const needed: NeededPart[] = [];
  return {
    needed,
    note(prefix, name = '') {
      if (paths.size < mostPaths) paths.add(plainName.test(name) ? prefix + name : prefix.replace(/\.$/, ''));
    },
    need(path, expected, of) {
      if (needed.length < mostPaths) needed.push({ path, expected, ...of });
    },
    list: () => [...paths],
  };
}
