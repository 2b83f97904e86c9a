import { joinBytes } from '../base/bytes.ts';
import { type Coding, hasZlibHeader, type Inflated, type Inflater } from './inflate.ts';

/**
 * The inflater of runtimes without `node:zlib`, for the codings that every `DecompressionStream` has. Brotli and zstd,
 * which a few runtimes have, are left out: a stream may inflate all of its input before anybody can stop it, and with
 * these codings a few bytes can become many megabytes.
 */
export const inflater: Inflater = {
  get codings(): readonly Coding[] {
    return typeof DecompressionStream === 'function' ? ['gzip', 'deflate'] : [];
  },
  inflate: (coding, bytes, limitBytes) =>
    inflate(coding === 'gzip' ? 'gzip' : hasZlibHeader(bytes) ? 'deflate' : 'deflate-raw', bytes, limitBytes),
};

/** The bytes that a stream gets at a time. They become at most a thousand times as much: 4 MiB. */
const sliceBytes = 4 * 1024;

async function inflate(format: CompressionFormat, bytes: Uint8Array, limitBytes: number): Promise<Inflated> {
  const { readable, writable } = new DecompressionStream(format);
  const reader = readable.getReader();
  const writing = writeAll(writable.getWriter(), bytes);
  // The reader gets the same error.
  writing.catch(() => undefined);
  const buffers: Uint8Array[] = [];
  let size = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      size += value.length;
      if (size > limitBytes) {
        reader.cancel().catch(() => undefined);
        return 'too_large';
      }
      buffers.push(value);
    }
    // Some runtimes report bytes after the end only to the writer.
    await writing;
  } catch {
    return 'broken';
  }
  return joinBytes(buffers);
}

async function writeAll(writer: WritableStreamDefaultWriter<BufferSource>, bytes: Uint8Array): Promise<void> {
  writer.closed.catch(() => undefined);
  for (let at = 0; at < bytes.length; at += sliceBytes) {
    await writer.ready;
    await writer.write(bytes.subarray(at, at + sliceBytes) as Uint8Array<ArrayBuffer>);
  }
  await writer.close();
}
