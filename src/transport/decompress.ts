import type { ByteSource } from '../base/bytes.ts';
import { UpstreamError } from '../base/http/upstream-error.ts';

/** The part of a `node:zlib` stream that we use. */
export interface Inflater {
  write(chunk: Uint8Array, callback: () => void): unknown;
  end(): unknown;
  read(): Uint8Array | null;
  destroy(): unknown;
  on(event: 'readable' | 'end' | 'error', listener: () => void): unknown;
}

export interface Inflaters {
  gzip(): Inflater;
  /** The first byte shows whether the data has a zlib header. Some servers send the data without one. */
  deflate(firstByte: number): Inflater;
  br(): Inflater;
}

/** The largest number of codings, one on top of another. Only an attacker would use more. */
const maxCodings = 3;

/**
 * Decompresses while the reader reads. One buffer goes in, and the next one only after the reader has taken all output
 * of the first. So neither a zip bomb nor a slow reader makes more than one buffer wait here.
 * @param encoding  the `content-encoding` header
 * @throws UpstreamError bad_response for a coding that we did not ask for. `read` throws it for broken or cut data
 */
export function decompress(source: ByteSource, encoding: string, inflaters: Inflaters): ByteSource {
  const codings = encoding
    .toLowerCase()
    .split(',')
    .map((coding) => coding.trim())
    .filter((coding) => coding !== '' && coding !== 'identity');
  if (codings.length > maxCodings) throw badResponse('the response is compressed too many times over');
  let outer = source;
  // The header lists the codings in the order in which the server applied them.
  for (const coding of codings.reverse()) outer = inflate(outer, createInflater(coding, inflaters));
  return outer;
}

function createInflater(coding: string, inflaters: Inflaters): (firstByte: number) => Inflater {
  if (coding === 'gzip' || coding === 'x-gzip') return inflaters.gzip;
  if (coding === 'deflate') return inflaters.deflate;
  if (coding === 'br') return inflaters.br;
  throw badResponse('the response is compressed in an unknown way');
}

function inflate(source: ByteSource, create: (firstByte: number) => Inflater): ByteSource {
  let inflater: Inflater | null = null;
  let ended = false;
  let broken = false;
  let cancelled = false;
  let writing = false;
  let exhausted = false;
  let wake = () => {};

  const start = (firstByte: number): Inflater => {
    const created = create(firstByte);
    created.on('readable', () => wake());
    created.on('end', () => {
      ended = true;
      wake();
    });
    created.on('error', () => {
      broken = true;
      wake();
    });
    return created;
  };

  const feed = async () => {
    const buffer = await source.read();
    if (cancelled) return;
    if (buffer === null) {
      exhausted = true;
      // A body without a single byte is empty, even if the header says that it is compressed.
      if (inflater === null) ended = true;
      else inflater.end();
      return;
    }
    inflater ??= start(buffer[0] as number);
    writing = true;
    inflater.write(buffer, () => {
      writing = false;
      wake();
    });
  };

  const read = async (): Promise<Uint8Array | null> => {
    for (;;) {
      if (cancelled) return null;
      const buffer = inflater?.read() ?? null;
      if (buffer !== null) return buffer;
      if (broken) {
        source.cancel();
        throw badResponse('the compressed response is broken or cut');
      }
      if (ended) return null;
      const changed = new Promise<void>((resolve) => {
        wake = resolve;
      });
      if (writing || exhausted) await changed;
      else await feed();
    }
  };

  return {
    read,
    cancel() {
      cancelled = true;
      source.cancel();
      inflater?.destroy();
      wake();
    },
  };
}

function badResponse(message: string): UpstreamError {
  return new UpstreamError(message, { reason: 'bad_response', status: 502 });
}
