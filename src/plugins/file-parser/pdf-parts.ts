import { fromBase64 } from '../../base/base64.ts';
import { isObject } from '../../base/values.ts';
import type { ChatMessage, FilePart } from '../../schema/chat.ts';

/** A PDF in a message. */
export interface PdfPart {
  /** Place in the request, such as `messages[0].content[1]`. */
  path: string;
  message: number;
  part: number;
  /** As the caller named it; without a name, `document.pdf`. */
  name: string;
  /** The file itself, or where it is. */
  content: { bytes: Uint8Array } | { url: string };
}

const dataUrl = /^data:([^,;]*)(?:;[^,;]*)*?(;base64)?,/i;

/** The PDFs among the parts of the messages, in order. Files of other kinds are not among them. */
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
  const [head = '', media = '', base64] = dataUrl.exec(data) ?? [];
  if (head !== '' && base64 === undefined) return null;
  const bytes = fromBase64(head === '' ? data : data.slice(head.length));
  if (bytes === null) return null;
  return media.toLowerCase() === 'application/pdf' || isPdf(bytes) ? { name, content: { bytes } } : null;
}

function isPdfName(name: string): boolean {
  return /\.pdf(?:[?#]|$)/i.test(name);
}

function lastOf(url: string): string {
  return /([^/?#]+)(?:[?#].*)?$/s.exec(url)?.[1] ?? url;
}

/** Whether bytes begin as a PDF does. */
export function isPdf(bytes: Uint8Array): boolean {
  return new TextDecoder().decode(bytes.subarray(0, 5)) === '%PDF-';
}
