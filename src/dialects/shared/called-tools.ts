/** The most characters of a tool's name; no provider takes a longer one. */
const longestName = 128;

/**
 * The names of the tools that were called, by the ids of their calls, for providers to which each result names its
 * tool.
 */
export interface CalledTools {
  /** Notes a call. A long name is cut: it would be sent again with each result of the call. */
  note(id: string, name: string): void;
  /** Returns the name of a call's tool; undefined: no earlier message holds this call. */
  nameOf(id: string): string | undefined;
}

export function calledTools(): CalledTools {
  const names = new Map<string, string>();
  return {
    note: (id, name) => names.set(id, name.slice(0, longestName)),
    nameOf: (id) => names.get(id),
  };
}
