import { isObject, type Loose } from '../../../base/values.ts';

/** The most citations of one response. */
const mostCitations = 1_000;

/**
 * Writes the citations of a text, whose places count in bytes of UTF-8 here; null: there are none.
 * @param notes  annotations of the chat wire, whose places count in units of a JavaScript string
 */
export function groundingMetadata(notes: readonly Loose[], text: string): Loose | null {
  const chunks: Loose[] = [];
  const supports: Loose[] = [];
  const known = new Map<string, number>();
  const byteAt = byteOffsets(text);
  for (const { url_citation: cited } of notes.slice(0, mostCitations)) {
    if (!isObject(cited) || typeof cited.url !== 'string') continue;
    const { url, title, start_index: start, end_index: end } = cited;
    let at = known.get(url);
    if (at === undefined) {
      at = chunks.length;
      known.set(url, at);
      const web: Loose = { uri: url, title: typeof title === 'string' ? title : url };
      chunks.push({ web });
    }
    if (typeof start !== 'number' || typeof end !== 'number' || end <= start || end > text.length) continue;
    const segment = { startIndex: byteAt(start), endIndex: byteAt(end), text: text.slice(start, end) };
    supports.push({ segment, groundingChunkIndices: [at] });
  }
  return chunks.length === 0 ? null : { groundingChunks: chunks, groundingSupports: supports };
}

/** Returns the offset in UTF-8 of each place in a text; the table is made once, when it is first asked for. */
function byteOffsets(text: string): (at: number) => number {
  let table: Uint32Array | null = null;
  return (at) => {
    table ??= offsetTable(text);
    return table[at] ?? 0;
  };
}

function offsetTable(text: string): Uint32Array {
  const table = new Uint32Array(text.length + 1);
  let bytes = 0;
  for (let at = 0; at < text.length; at++) {
    table[at] = bytes;
    const code = text.codePointAt(at) as number;
    if (code > 0xffff) table[++at] = bytes;
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  }
  table[text.length] = bytes;
  return table;
}
