/** The most characters of the header that names what had no effect. */
const mostDroppedChars = 1_000;

/**
 * Tells a client without the routing metadata which fields of its request had no effect. Names of fields come from the
 * caller: one that is no word is left out.
 */
export function droppedHeader(dropped: readonly string[]): Record<string, string> | undefined {
  if (dropped.length === 0) return undefined;
  let text = '';
  for (const name of new Set(dropped)) {
    if (!/^[\w.[\]:-]{1,100}$/.test(name) || text.length + name.length > mostDroppedChars) continue;
    text += text === '' ? name : `, ${name}`;
  }
  return text === '' ? undefined : { 'x-service-dropped': text };
}
