/** The provider's own ids of tool calls by the caller's. */
export type ToolIds = (id: string) => string;

/**
 * Ids as the provider takes them: up to 64 letters, digits, `_` and `-`. A call keeps its id where that is one; else it
 * gets one that no other call has, and its result the same.
 * @param isShort  nine letters and digits, which Mistral's models insist on
 */
export function toolIds(isShort: boolean): ToolIds {
  const known = new Map<string, string>();
  const taken = new Set<string>();
  /** The next number to try, by the beginning of what the id would be. */
  const numbers = new Map<string, number>();
  return (id) => {
    const before = known.get(id);
    if (before !== undefined) return before;
    const base = isShort ? shortId(id) : id.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 64) || 'call';
    let own = base;
    while (taken.has(own)) {
      // Ids that differ at their cut-off ends share a number: else each would try all that the others have taken.
      const shared = base.slice(0, isShort ? 3 : 48);
      const number = numbers.get(shared) ?? 2;
      numbers.set(shared, number + 1);
      const suffix = isShort ? String(number) : `_${number}`;
      own = base.slice(0, (isShort ? 9 : 64) - suffix.length) + suffix;
    }
    taken.add(own);
    known.set(id, own);
    return own;
  };
}

/** The last ones differ most: ids often begin alike. */
function shortId(id: string): string {
  return id
    .replace(/[^A-Za-z0-9]/g, '')
    .slice(-9)
    .padEnd(9, '0');
}
