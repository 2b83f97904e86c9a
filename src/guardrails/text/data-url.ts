import { fromBase64, toBase64 } from '../../base/base64.ts';

/** A data URL, parsed as its readers parse it. */
export interface ReadUrl {
  /** The part before the content, without `data:` and the comma. */
  readonly head: string;
  /** The content as it is written. */
  readonly written: string;
  /** The text of the content; null: the content is no text, such as an image. */
  readonly text: string | null;
  /** true: `text` can be written back without a loss. */
  readonly isExact: boolean;
  /** true: the content is plain base64. */
  readonly isBase64: boolean;
}

/** The longest head that is read: readers do not read a longer one. */
const longestHead = 1_024;
const media = /^(?:image|audio|video)\/(?!svg|[^;]*xml)/i;
const textual =
  /^\s*(?:$|;|text\/|application\/(?:[^;]*(?:json|xml|yaml|javascript|csv|sql|graphql|x-www-form-urlencoded)))/i;
const plainBase64 = /^[\w+/-]*={0,2}$/;

/** @returns null: the text is no data URL, or its content contradicts its head */
export function readUrl(text: string): ReadUrl | null {
  if (!/^\s{0,64}data:/i.test(text)) return null;
  const start = text.indexOf(':') + 1;
  const comma = text.slice(start, start + longestHead).indexOf(',');
  if (comma < 0) return null;
  const head = text.slice(start, start + comma);
  const written = text.slice(start + comma + 1);
  if (!/;\s*base64\s*$/i.test(head))
    return { head, written, ...textOf(head, percentDecoded(written)), isBase64: false };
  const isBase64 = plainBase64.test(written);
  if (isBase64 && media.test(head)) return { head, written, text: null, isExact: false, isBase64 };
  const bytes = bytesOf(written);
  return bytes === null ? null : { head, written, ...textOf(head, bytes), isBase64 };
}

/** The same data URL with another text. */
export function writeUrl({ head }: ReadUrl, text: string): string {
  const isBase64 = /;\s*base64\s*$/i.test(head);
  return `data:${head},${isBase64 ? toBase64(new TextEncoder().encode(text)) : encodeURIComponent(text)}`;
}

/** @returns the text in base64; null: the content is no text */
export function textInBase64(written: string): string | null {
  const bytes = bytesOf(written);
  return bytes === null ? null : utf8(bytes);
}

/** Reads base64, standard or for URLs, with white space and escapes, as lenient readers do. */
function bytesOf(written: string): Uint8Array | null {
  const plain = written.includes('%') ? new TextDecoder().decode(percentDecoded(written)) : written;
  return fromBase64(plain.replace(/\s+/g, '').replaceAll('-', '+').replaceAll('_', '/'));
}

function textOf(head: string, bytes: Uint8Array): Pick<ReadUrl, 'text' | 'isExact'> {
  const exact = utf8(bytes);
  if (exact !== null) return { text: exact, isExact: true };
  if (!textual.test(head)) return { text: null, isExact: false };
  return { text: otherText(head, bytes), isExact: false };
}

/** Reads text in an older encoding; without a known encoding, in each of the usual ones. */
function otherText(head: string, bytes: Uint8Array): string {
  const charset = /;\s*charset\s*=\s*"?([\w:.-]+)/i.exec(head)?.[1] ?? 'utf-16le';
  const named = [charset, 'utf-16le', 'utf-16be', 'windows-1252'];
  return [...new Set(named)].flatMap((one) => decoded(one, bytes) ?? []).join('\n');
}

function decoded(charset: string, bytes: Uint8Array): string | null {
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch {
    // The charset is unknown.
    return null;
  }
}

/** null: not UTF-8, or signs that no text has. */
function utf8(bytes: Uint8Array): string | null {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return text.includes('\0') ? null : text;
  } catch {
    return null;
  }
}

function percentDecoded(text: string): Uint8Array {
  const given = new TextEncoder().encode(text);
  const bytes = new Uint8Array(given.length);
  let filled = 0;
  for (let at = 0; at < given.length; at++) {
    const high = given[at] === 0x25 ? hex(given[at + 1]) : -1;
    const low = high < 0 ? -1 : hex(given[at + 2]);
    if (low < 0) bytes[filled++] = given[at] as number;
    else {
      bytes[filled++] = high * 16 + low;
      at += 2;
    }
  }
  return bytes.subarray(0, filled);
}

function hex(code: number | undefined): number {
  if (code === undefined) return -1;
  const value = Number.parseInt(String.fromCharCode(code), 16);
  return Number.isNaN(value) ? -1 : value;
}
