import { fromBase64 } from '../../base/base64.ts';
import { isObject } from '../../base/values.ts';
import type { ChatMessage, FilePart } from '../../schema/chat/chat.ts';

/** A PDF in a message. */
export interface PdfPart {
  /** The place in the request, such as `messages[0].content[1]`. */
  path: string;
  message: number;
  part: number;
  /** The name that the caller gives; without one, `document.pdf`. */
  name: string;
  /** The file itself, in base64 from this place of the text on, or its address. */
  content: { text: string; from: number } | { url: string };
}

const dataUrl = /^data:([^,;]*)(?:;[^,;]*)*?(;base64)?,/i;
/** The most characters before the comma of a data URL; real ones are shorter. */
const longestHead = 1024;
/** The characters of a file's base64 that are looked at: white space may be before and between the letters. */
const startLength = 64;

/** Returns the PDFs among the parts of the messages, in order. Files of other kinds are not among them. */
export function pdfsIn(messages: readonly ChatMessage[]): PdfPart[] {
  return messages.flatMap(({ content }, message) =>
    Array.isArray(content)
      ? content.flatMap((one, part) => {
          const found = pdfOf(one);
          return found === null ? [] : [{ ...found, path: `messages[${message}].content[${part}]`, message, part }];
        })
      : [],
  );
}

function pdfOf(part: object): Pick<PdfPart, 'name' | 'content'> | null {
  const { type, file } = part as FilePart;
  const data = type === 'file' && isObject(file) ? file.file_data : undefined;
  if (typeof data !== 'string') return null;
  const given = typeof file.filename === 'string' && file.filename !== '' ? file.filename : null;
  const name = given ?? 'document.pdf';
  if (/^https?:\/\//i.test(data))
    return isPdfName(given ?? data) ? { name: given ?? lastOf(data), content: { url: data } } : null;
  const [head = '', media = '', base64] = dataUrl.exec(data.slice(0, longestHead)) ?? [];
  if (head !== '' && base64 === undefined) return null;
  const content = { text: data, from: head.length };
  return media.toLowerCase() === 'application/pdf' || startsAsPdf(content) ? { name, content } : null;
}

function isPdfName(name: string): boolean {
  return /\.pdf(?:[?#]|$)/i.test(name);
}

/** Returns the last part of the path. */
function lastOf(url: string): string {
  const path = url.slice(0, url.search(/[?#]|$/));
  return path.slice(path.lastIndexOf('/') + 1) || url;
}

/**
 * true: a file begins as a PDF. Only its first letters are read: a request may hold megabytes that nobody has to read.
 */
function startsAsPdf({ text, from }: { text: string; from: number }): boolean {
  const letters = text.slice(from, from + startLength).replace(/[\t\n\f\r ]+/g, '');
  const bytes = fromBase64(letters.slice(0, 8));
  return bytes !== null && isPdf(bytes);
}

/** Returns the bytes of a file that a request holds; null: it is no base64. */
export function bytesIn({ text, from }: { text: string; from: number }): Uint8Array<ArrayBuffer> | null {
  return fromBase64(text.slice(from));
}

/** true: bytes begin as a PDF does. */
export function isPdf(bytes: Uint8Array): boolean {
  return new TextDecoder().decode(bytes.subarray(0, 5)) === '%PDF-';
}
