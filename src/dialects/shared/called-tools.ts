/** No provider takes a longer name of a tool. */
const longestName = 128;

/** Names of the tools that were called, by the ids of their calls, for providers to which each result names its tool. */
export interface CalledTools {
  /** A long name is cut: it would be sent again with each result of the call. */
  note(id: string, name: string): void;
  /** undefined: no earlier message holds this call. */
  nameOf(id: string): string | undefined;
}

export function calledTools(): CalledTools {
  const names = new Map<string, string>();
  return {
    note: (id, name) => names.set(id, name.slice(0, longestName)),
    nameOf: (id) => names.get(id),
  };
}
