import type { ZlibOptions, ZstdOptions } from 'node:zlib';
import { joinBytes } from '../base/bytes.ts';
import { type Coding, hasZlibHeader, type Inflated, type Inflater } from './inflate.ts';

const frameMagic = 0xfd2fb528;
/** The magic number of frames without data; the last four bits vary. */
const skippableMagic = 0x184d2a50;

/** The inflater where there is `node:zlib`: on Node, Bun and Deno. */
export const inflater: Inflater = {
  codings: ['zstd', 'br', 'gzip', 'deflate'],
  inflate: (coding, bytes, limitBytes) =>
    coding === 'zstd' ? inflateZstd(bytes, limitBytes) : inflateOne(decoders[coding](bytes), bytes, limitBytes),
};

type Zlib = typeof import('node:zlib');
type Decoder = 'zstdDecompress' | 'brotliDecompress' | 'gunzip' | 'inflate' | 'inflateRaw';

const decoders: Record<Exclude<Coding, 'zstd'>, (bytes: Uint8Array) => Decoder> = {
  br: () => 'brotliDecompress',
  gzip: () => 'gunzip',
  deflate: (bytes) => (hasZlibHeader(bytes) ? 'inflate' : 'inflateRaw'),
};

/** The callback of a decoder. With the option `info`, which the types do not have, the result comes with its engine. */
type Settle = (
  error: (Error & { code?: string }) | null,
  result: { buffer: Uint8Array; engine: { bytesWritten: number } },
) => void;
type Decode = (bytes: Uint8Array, options: object, settle: Settle) => void;

/** The most frames of one body. Clients write one; those that compress in parallel write one for some megabytes. */
const maxFrames = 64;

/**
 * The largest window of zstd data, as a power of two: 8 MiB, the most that a sender of HTTP may use. Node allows 128 MiB,
 * which a body of 13 bytes could ask for.
 * @see RFC 9659
 */
const maxWindowLog = 23;

async function inflateZstd(bytes: Uint8Array, limitBytes: number): Promise<Inflated> {
  const frames = zstdFrames(bytes, maxFrames);
  if (frames === null) return 'broken';
  const [first] = frames;
  if (first !== undefined && frames.length === 1) return inflateOne('zstdDecompress', first, limitBytes);
  const parts: Uint8Array[] = [];
  let left = limitBytes;
  for (const frame of frames) {
    const part = await inflateOne('zstdDecompress', frame, left);
    if (typeof part === 'string') return part;
    parts.push(part);
    left -= part.length;
  }
  return joinBytes(parts);
}

/**
 * The sizes of buffers for the result. Each buffer is a trip to another thread and back, and only the written part
 * takes memory.
 */
const [minBufferBytes, maxBufferBytes] = [64 * 1024, 1024 * 1024];

/**
 * The longest result: no runtime has longer texts, and zlib needs a number that is no larger than its buffers may be.
 */
const maxTextBytes = 2 ** 30;

/** The usual ratio of JSON to its compressed form: with it, the result of most bodies fits into one buffer. */
const usualRatio = 8;

/** @returns 'broken' also for bytes after the end, which `node:zlib` ignores */
async function inflateOne(decoder: Decoder, bytes: Uint8Array, limitBytes: number): Promise<Inflated> {
  const zlib: Zlib = await import('node:zlib');
  const options: ZlibOptions & ZstdOptions = {
    // zlib needs at least one byte, though an empty frame may come after the limit is reached.
    maxOutputLength: Math.min(Math.max(limitBytes, 1), maxTextBytes),
    chunkSize: Math.min(
      Math.max(bytes.length * usualRatio, minBufferBytes),
      maxBufferBytes,
      limitBytes + minBufferBytes,
    ),
    info: true,
  };
  if (decoder === 'zstdDecompress') options.params = { [zlib.constants.ZSTD_d_windowLogMax]: maxWindowLog };
  return new Promise((resolve) => {
    const settle: Settle = (error, result) => {
      if (error) return resolve(error.code === 'ERR_BUFFER_TOO_LARGE' ? 'too_large' : 'broken');
      const { buffer, engine } = result;
      if (buffer.length > limitBytes) resolve('too_large');
      else resolve(engine.bytesWritten === bytes.length ? buffer : 'broken');
    };
    (zlib[decoder] as Decode)(bytes, options, settle);
  });
}

/**
 * Finds the frames of zstd data. Some runtimes accept a frame that is cut, and some read only the first frame.
 * @param maxFrames  the most frames: each costs a decoder
 * @returns the frames that have data, in order; null: the last one is cut, or other bytes follow the frames
 * @see RFC 8878, 3.1
 */
function zstdFrames(bytes: Uint8Array, maxFrames: number): Uint8Array[] | null {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const frames: Uint8Array[] = [];
  let at = 0;
  try {
    while (at < bytes.length) {
      const magic = view.getUint32(at, true);
      const end = magic === frameMagic ? endOfFrame(view, at + 4) : endOfSkippable(view, at, magic);
      if (end === null || end > bytes.length || frames.length === maxFrames) return null;
      if (magic === frameMagic) frames.push(bytes.subarray(at, end));
      at = end;
    }
    return frames;
  } catch (error) {
    // The read went past the end.
    if (error instanceof RangeError) return null;
    throw error;
  }
}

function endOfSkippable(view: DataView, at: number, magic: number): number | null {
  return (magic & ~0xf) >>> 0 === skippableMagic ? at + 8 + view.getUint32(at + 4, true) : null;
}

/** @param start  after the magic number */
function endOfFrame(view: DataView, start: number): number | null {
  const descriptor = view.getUint8(start);
  const isSingleSegment = (descriptor & 0x20) !== 0;
  const sizeBytes = [isSingleSegment ? 1 : 0, 2, 4, 8][descriptor >> 6] as number;
  const dictionaryBytes = [0, 1, 2, 4][descriptor & 3] as number;
  let at = start + 1 + (isSingleSegment ? 0 : 1) + dictionaryBytes + sizeBytes;
  for (;;) {
    const header = view.getUint16(at, true) | (view.getUint8(at + 2) << 16);
    const type = (header >> 1) & 3;
    if (type === 3) return null;
    // A block of one repeated byte gives the number, and has the byte once.
    at += 3 + (type === 1 ? 1 : header >> 3);
    if ((header & 1) === 1) break;
  }
  const hasChecksum = (descriptor & 0x04) !== 0;
  return at + (hasChecksum ? 4 : 0);
}
