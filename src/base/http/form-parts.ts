import { joinBytes } from '../bytes.ts';
import { addAll } from '../values.ts';
import type { UploadedFile } from './uploaded-file.ts';

/** A part of a form: a field and its text, or its file. */
export type FormPart = readonly [name: string, value: string | UploadedFile];

/** A form as bytes. */
export interface WrittenForm {
  /** The value of the header `content-type`. */
  contentType: string;
  bytes: Uint8Array<ArrayBuffer>;
}

const encoder = new TextEncoder();

/**
 * Writes a form in one step: each byte of a file is copied once. `FormData` copies a file into a blob, the blob into
 * buffers, and the buffers into the body.
 * @see https://www.rfc-editor.org/rfc/rfc7578
 */
export function writeForm(parts: readonly FormPart[]): WrittenForm {
  // Nobody who makes a file can know it, and so end the part of the file within the file.
  const boundary = `----gateway-${crypto.randomUUID()}`;
  const pieces: Uint8Array[] = [];
  for (const [name, value] of parts) {
    const head = `--${boundary}\r\nContent-Disposition: form-data; name="${quoted(name)}"`;
    if (typeof value === 'string') pieces.push(encoder.encode(`${head}\r\n\r\n${value}\r\n`));
    else {
      const type = /^[\w.+-]+\/[\w.+-]+$/.exec(value.type ?? '')?.[0] ?? 'application/octet-stream';
      const file = `; filename="${quoted(value.name ?? 'file')}"\r\nContent-Type: ${type}\r\n\r\n`;
      pieces.push(encoder.encode(head + file));
      addAll(pieces, value.chunks);
      pieces.push(encoder.encode('\r\n'));
    }
  }
  pieces.push(encoder.encode(`--${boundary}--\r\n`));
  return { contentType: `multipart/form-data; boundary=${boundary}`, bytes: joinBytes(pieces) };
}

/** Writes a name as browsers do. */
function quoted(name: string): string {
  return name.replaceAll('\r', '%0D').replaceAll('\n', '%0A').replaceAll('"', '%22');
}
