import { hasLongRun } from '../../base/text/normal-form.ts';
import type { SearchResult } from '../../call/search.ts';
import { linksIn } from './links.ts';

/** Characters that have a meaning of their own in an address: encoded, each is another character. */
const reserved: ReadonlySet<number> = new Set(Array.from('/?#%&=+', (one) => one.charCodeAt(0)));

/** The citation of a page in a response. */
export interface UrlCitation {
  type: 'url_citation';
  url_citation: { url: string; title: string; content: string; start_index: number; end_index: number };
  [field: string]: unknown;
}

/** The most characters of a text that are searched. Only a response that is made to take time is longer. */
const mostCharacters = 1_000_000;
/** The most addresses that are looked up; a response has fewer. */
const mostLookups = 2_000;
/** The characters that the names of members and the places of a citation take. */
const citationCharacters = 120;

/**
 * Returns a citation for each link to a page that was found; then one without a place for each page that the text does
 * not link to. The text of a page is told once, with its first citation.
 * @param text            the text of the model
 * @param roomCharacters  the characters of all citations together: the texts of pages are left out first, then
 *   citations
 */
export function citations(text: string, found: readonly SearchResult[], roomCharacters: number): UrlCitation[] {
  const pages = new Map<string, SearchResult>();
  for (const page of found) {
    const key = addressKey(page.url);
    if (!pages.has(key)) pages.set(key, page);
  }
  const pageOf = lookup(pages);
  const cited: UrlCitation[] = [];
  const told = new Set<SearchResult>();
  let room = roomCharacters;
  const cite = (page: SearchResult, start: number, end: number) => {
    const own = page.url.length + page.title.length + citationCharacters;
    if (own > room) return;
    const content = told.has(page) ? '' : page.text.slice(0, room - own);
    told.add(page);
    room -= own + content.length;
    const { url, title } = page;
    cited.push({ type: 'url_citation', url_citation: { url, title, content, start_index: start, end_index: end } });
  };
  for (const { start, end, target } of linksIn(text.slice(0, mostCharacters), pageOf)) {
    const page = pageOf(target);
    if (page !== undefined) cite(page, start, end);
  }
  for (const page of pages.values()) if (!told.has(page)) cite(page, 0, 0);
  return cited;
}

/** Makes a function that finds the page of an address. It remembers addresses, which responses repeat. */
function lookup(pages: ReadonlyMap<string, SearchResult>): (address: string) => SearchResult | undefined {
  const known = new Map<string, SearchResult | undefined>();
  return (address) => {
    if (!known.has(address) && known.size < mostLookups) known.set(address, pages.get(addressKey(address)));
    return known.get(address);
  };
}

/**
 * Returns the key of an address. Two forms of one address have the same key: IDN and punycode, raw and percent-encoded,
 * with a fragment or a slash at the end.
 */
function addressKey(url: string): string {
  if (!URL.canParse(url)) return url;
  const { protocol, host, pathname, search } = new URL(url);
  // `new URL` has made the host lower-case punycode, and has dropped the usual port.
  const place = `${protocol}//${host.replace(/\.(?=:|$)/, '')}${pathname.replace(/\/$/, '')}${search}`;
  const read = place.replace(/(?:%[0-9a-f]{2})+/gi, decoded);
  return hasLongRun(read) ? read : read.normalize('NFC');
}

/** Decodes a run of encoded bytes, except bytes that are no characters or would change the address. */
function decoded(run: string): string {
  const bytes = Uint8Array.from(run.match(/[0-9a-f]{2}/gi) ?? [], (two) => Number.parseInt(two, 16));
  let text = '';
  let from = 0;
  for (let at = 0; at <= bytes.length; at++) {
    const byte = bytes[at];
    const stays = byte === undefined || byte <= 0x20 || byte === 0x7f || reserved.has(byte);
    if (!stays) continue;
    text += textOf(bytes.subarray(from, at));
    if (byte !== undefined) text += encoded(byte);
    from = at + 1;
  }
  return text;
}

function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return Array.from(bytes, encoded).join('');
  }
}

function encoded(byte: number): string {
  return `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
}
