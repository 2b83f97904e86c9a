/** The most characters of a provider's id. Longer ids are replaced: each event of an item repeats its id. */
const maxLength = 1024;

/** The ids in one response, each used once: clients tell items, and calls, apart by them. */
export interface ItemIds {
  /**
   * Returns the id of an item.
   * @param prefix  the prefix of an id of ours, such as `msg`
   * @param index   the item's `output_index`
   * @param given   the provider's own id, which stays where it is usable
   */
  item(prefix: string, index: number, given?: unknown): string;
  /** Returns the `call_id` of a call: the given one where it is usable, else `call_<position>`. */
  call(given: unknown, position: number): string;
}

/** @param responseId  `gen-…`, which the ids are derived from, so that no two responses share one */
export function itemIds(responseId: string): ItemIds {
  const stem = responseId
    .replace(/^gen-/, '')
    .replace(/[^A-Za-z0-9]/g, '')
    .slice(-48);
  const items = new Set<string>();
  const calls = new Set<string>();
  return {
    item: (prefix, index, given) => taken(items, given, `${prefix}_${stem}_${index}`),
    call: (given, position) => taken(calls, given, `call_${position}`),
  };
}

function taken(ids: Set<string>, given: unknown, ours: string): string {
  let id = isUsable(given) && !ids.has(given) ? given : ours;
  // A provider may have used one of ours.
  for (let extra = ids.size; ids.has(id); extra++) id = `${ours}_${extra}`;
  ids.add(id);
  return id;
}

function isUsable(id: unknown): id is string {
  return typeof id === 'string' && id !== '' && id.length <= maxLength;
}
