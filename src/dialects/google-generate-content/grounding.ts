import { isObject, type Loose } from '../../base/values.ts';

/** The most citations; no response has more. */
const mostCitations = 1_000;

/** The most characters of all citations together: a source is told with each piece of text that refers to it. */
const mostCharacters = 1_000_000;

/** The most characters of the text that are searched for pieces that do not stand at their place. */
const mostSearched = 4_000_000;

/** An annotation. */
type Note = Loose & { type: string };

/** The sources of a response. In a stream, pieces of them come with several events. */
export interface Grounding {
  supports: unknown[];
  chunks: unknown[];
  citations: unknown[];
}

/** Takes in the sources of an event; the latest counts. */
export function noteGrounding(grounding: Grounding, candidate: Loose): void {
  const { groundingMetadata: metadata, citationMetadata: cited } = candidate;
  if (isObject(metadata)) {
    if (isFilled(metadata.groundingSupports)) grounding.supports = metadata.groundingSupports;
    if (isFilled(metadata.groundingChunks)) grounding.chunks = metadata.groundingChunks;
  }
  if (!isObject(cited)) return;
  // The Gemini API and Vertex AI have a name each.
  const citations = cited.citationSources ?? cited.citations;
  if (isFilled(citations)) grounding.citations = citations;
}

function isFilled(value: unknown): value is unknown[] {
  return Array.isArray(value) && value.length > 0;
}

/**
 * Makes one note for each piece of text and each of its sources. Google counts bytes of UTF-8, our wire the units of a
 * JavaScript string. Sources that no piece of text refers to have the range 0 to 0.
 * @param text  the text of the response so far
 * @see https://ai.google.dev/gemini-api/docs/google-search
 */
export function annotationsOf({ supports, chunks, citations }: Grounding, text: string): Note[] {
  if (supports.length + chunks.length + citations.length === 0) return [];
  const notes = new Map<string, Note>();
  const used = new Set<unknown>();
  const rangeOf = rangeFinder(text);
  let charactersLeft = mostCharacters;
  const add = (source: Loose | null, range: Range) => {
    if (source === null || notes.size >= mostCitations) return;
    for (const said of Object.values(source)) charactersLeft -= (said as string).length;
    if (charactersLeft < 0) return;
    const note: Loose = { ...source, start_index: range.start, end_index: range.end };
    notes.set(`${range.start} ${range.end} ${note.url}`, { type: 'url_citation', url_citation: note });
  };
  for (const support of supports) {
    if (!isObject(support) || !Array.isArray(support.groundingChunkIndices)) continue;
    const range = rangeOf(isObject(support.segment) ? support.segment : {});
    for (const at of support.groundingChunkIndices) {
      used.add(at);
      add(sourceOf(typeof at === 'number' ? chunks[at] : undefined), range);
    }
  }
  for (const cited of citations) {
    if (!isObject(cited) || typeof cited.uri !== 'string') continue;
    add(citation(cited.uri, cited.title), rangeOf(cited));
  }
  chunks.forEach((chunk, at) => {
    if (!used.has(at)) add(sourceOf(chunk), { start: 0, end: 0 });
  });
  return [...notes.values()];
}

interface Range {
  start: number;
  end: number;
}

/**
 * Makes a function that finds the range of a piece. Offsets count from the beginning of the text, or of one part of it:
 * the piece itself tells which.
 */
function rangeFinder(text: string): (cited: Loose) => Range {
  const indexOf = utf16Indices(text);
  let charactersLeft = mostSearched;
  return ({ startIndex, endIndex, text: piece }) => {
    const start = indexOf(typeof startIndex === 'number' ? startIndex : 0);
    const end = Math.max(start, indexOf(typeof endIndex === 'number' ? endIndex : 0));
    if (typeof piece !== 'string' || piece === '') return { start, end };
    if (piece.length === end - start && text.startsWith(piece, start)) return { start, end };
    const found = charactersLeft > 0 ? text.indexOf(piece) : -1;
    charactersLeft -= found < 0 ? text.length : found + piece.length;
    return found < 0 ? { start: 0, end: 0 } : { start: found, end: found + piece.length };
  };
}

/** Returns a source: a page, a document of the caller's own, or a place. */
function sourceOf(chunk: unknown): Loose | null {
  if (!isObject(chunk)) return null;
  const source = chunk.web ?? chunk.retrievedContext ?? chunk.maps ?? chunk.image;
  if (!isObject(source)) return null;
  const url = source.uri ?? source.sourceUri;
  return typeof url === 'string' && url !== '' ? citation(url, source.title, source.text) : null;
}

function citation(url: string, title: unknown, content?: unknown): Loose {
  return {
    url,
    title: typeof title === 'string' && title !== '' ? title : url,
    ...(typeof content === 'string' ? { content } : {}),
  };
}

/** @returns the index in the string for an offset in its UTF-8; offsets inside a character or behind the end fit too */
function utf16Indices(text: string): (byte: number) => number {
  let map: Uint32Array | null = null;
  return (byte) => {
    map ??= indexTable(text);
    const at = Number.isSafeInteger(byte) && byte > 0 ? Math.min(byte, map.length - 1) : 0;
    return map[at] as number;
  };
}

function indexTable(text: string): Uint32Array {
  // A UTF-16 unit has at most three bytes.
  const table = new Uint32Array(3 * text.length + 1);
  let filled = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.codePointAt(at) as number;
    const bytes = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (let n = 0; n < bytes; n++) table[filled++] = at;
    if (bytes === 4) at++;
  }
  table[filled++] = text.length;
  return table.subarray(0, filled);
}
