import type { FetchedFile } from '../../call/fetch-url.ts';

/** The bytes in which HTML is searched for its encoding; pages rarely declare it later. */
const prescanBytes = 4096;

/**
 * Decodes a page or a file: by its byte-order mark, else by the server's label, else by its own label, else as UTF-8. A
 * text that is not UTF-8 is read as windows-1252, as browsers do.
 * @see WHATWG HTML, "Determining the character encoding"; XML 1.0, appendix F
 */
export function decoded({ bytes, charset }: Pick<FetchedFile, 'bytes' | 'charset'>): string {
  const name = markOf(bytes) ?? known(charset) ?? withoutMarkOf(bytes) ?? declaredIn(bytes);
  if (name !== null) return new TextDecoder(name).decode(bytes);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder('windows-1252').decode(bytes);
  }
}

/** The encoding of a byte-order mark, which goes before any label. */
function markOf([first, second, third]: Uint8Array): string | null {
  if (first === 0xef && second === 0xbb && third === 0xbf) return 'utf-8';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  return first === 0xff && second === 0xfe ? 'utf-16le' : null;
}

/** UTF-16 without a mark: every second byte of its markup is 0. */
function withoutMarkOf([first, second, third, fourth]: Uint8Array): string | null {
  if (first === 0 && second !== 0 && third === 0 && fourth !== 0) return 'utf-16be';
  return first !== 0 && second === 0 && third !== 0 && fourth === 0 ? 'utf-16le' : null;
}

/** The encoding that a page declares, in a `meta` element or in the declaration of XML. */
function declaredIn(bytes: Uint8Array): string | null {
  const start = new TextDecoder('latin1').decode(bytes.subarray(0, prescanBytes)).replace(/<!--.*?(?:-->|$)/gs, '');
  const inXml = /^\s*<\?xml[^>]{0,200}encoding\s*=\s*["']([^"']{1,40})["']/.exec(start)?.[1];
  const inPage = /<meta\s[^>]{0,300}charset\s*=\s*["']?\s*([^\s"'/>;]{1,40})/i.exec(start)?.[1];
  const name = known(inXml ?? null) ?? known(inPage ?? null);
  // The declaration was readable as ASCII, so the page is no UTF-16.
  return name?.startsWith('utf-16') ? 'utf-8' : name;
}

/** The runtime's name of an encoding, by any of its labels; null: the label is unknown. */
function known(label: string | null): string | null {
  if (label === null) return null;
  try {
    return new TextDecoder(label.trim()).encoding;
  } catch {
    return null;
  }
}
