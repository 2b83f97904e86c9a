import { htmlReader, pdfReader } from '#documents';
import type { FetchedFile } from '../../call/fetch-url.ts';
import { TextCounter } from '../../pricing/text-counter.ts';

/** What can be read as text. */
export const readableTypes: readonly string[] = [
  'text/*',
  'application/xhtml+xml',
  'application/xml',
  'application/json',
  'application/ld+json',
  'application/pdf',
];

/** The text of a page or a file. */
export interface ReadFile {
  title?: string;
  text: string;
  /** true: the rest was left out. */
  is_cut?: true;
}

const mostPages = 500;
/** Of these, no token has more. */
const charactersPerToken = 8;

/**
 * @param maxTokens  of the text; the rest is left out
 * @returns the text, or what is wrong with the file
 * @throws the reason of the signal
 */
export async function readFile(file: FetchedFile, maxTokens: number, signal: AbortSignal): Promise<ReadFile | string> {
  const chars = maxTokens * charactersPerToken;
  if (file.mediaType === 'application/pdf') {
    const read = await pdfReader.read(file.bytes, { pages: mostPages, chars }, signal);
    if (typeof read === 'string') return 'the PDF cannot be read';
    return within(read.pages.join('\n\n').trim(), read.isCut, maxTokens);
  }
  const text = decoded(file);
  if (file.mediaType !== 'text/html' && file.mediaType !== 'application/xhtml+xml')
    return within(text.slice(0, chars), text.length > chars, maxTokens);
  const read = await htmlReader.read({ html: text, url: file.url, chars }, signal);
  if (typeof read === 'string') return 'the page cannot be read';
  return { title: read.title, ...within(read.text, read.isCut, maxTokens) };
}

function within(text: string, isCut: boolean, maxTokens: number): ReadFile {
  const cut = cutToTokens(text, maxTokens);
  return { text: cut, ...(isCut || cut.length < text.length ? { is_cut: true } : {}) };
}

/** The longest beginning, as far as halving finds it. */
function cutToTokens(text: string, maxTokens: number): string {
  if (tokensOf(text) <= maxTokens) return text;
  let fits = 0;
  let tooLong = text.length;
  while (tooLong - fits > 16) {
    const middle = (fits + tooLong) >> 1;
    if (tokensOf(text.slice(0, middle)) <= maxTokens) fits = middle;
    else tooLong = middle;
  }
  return text.slice(0, fits);
}

function tokensOf(text: string): number {
  return new TextCounter().tokensOf(text);
}

/** As the server says, else as the page says, else UTF-8. */
function decoded({ bytes, charset }: FetchedFile): string {
  const start = new TextDecoder('latin1').decode(bytes.subarray(0, 2048));
  const inPage = /<meta[^>]{1,200}charset\s*=\s*["']?([\w-]{1,40})/i.exec(start)?.[1];
  for (const name of [charset, inPage]) {
    try {
      if (name) return new TextDecoder(name).decode(bytes);
    } catch {
      // A name that nobody knows.
    }
  }
  return new TextDecoder().decode(bytes);
}
