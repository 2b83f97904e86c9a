import type { ZlibOptions, ZstdOptions } from 'node:zlib';
import { joinBytes } from '../base/bytes.ts';
import { type Coding, hasZlibHeader, type Inflated, type Inflater } from './inflate.ts';
import { zstdFrames } from './zstd-frames.ts';

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

/** With the option `info`, of which the types do not know, the result comes with its engine. */
type Settle = (
  error: (Error & { code?: string }) | null,
  result: { buffer: Uint8Array; engine: { bytesWritten: number } },
) => void;
type Decode = (bytes: Uint8Array, options: object, settle: Settle) => void;

/** The frames of one body. Clients write one, and those that compress in parallel one for some megabytes. */
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

/** Buffers for the result: each is a trip to another thread and back, and only what is written to takes memory. */
const [minBufferBytes, maxBufferBytes] = [64 * 1024, 1024 * 1024];

/** No runtime has longer texts, and zlib demands a number that is no larger than its buffers may be. */
const maxTextBytes = 2 ** 30;

/** How many times larger JSON is than its compressed form, about: the result of most bodies fits into one buffer. */
const usualRatio = 8;

/** @returns 'broken' too where bytes are left over, which `node:zlib` ignores */
async function inflateOne(decoder: Decoder, bytes: Uint8Array, limitBytes: number): Promise<Inflated> {
  const zlib: Zlib = await import('node:zlib');
  const options: ZlibOptions & ZstdOptions = {
    // zlib demands at least a byte, though an empty frame may follow what has filled the limit.
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
