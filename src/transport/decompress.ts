import type { ByteSource } from '../base/bytes.ts';
import { UpstreamError } from '../base/upstream-error.ts';

/** What is used of a `node:zlib` stream. */
export interface Inflater {
  write(chunk: Uint8Array, callback: () => void): unknown;
  end(): unknown;
  read(): Uint8Array | null;
  destroy(): unknown;
  on(event: 'readable' | 'end' | 'error', listener: () => void): unknown;
}

export interface Inflaters {
  gzip(): Inflater;
  /** Its first byte tells whether the data has a zlib header: some servers send it without. */
  deflate(firstByte: number): Inflater;
  br(): Inflater;
}

/** Codings one on top of another: more than this serves nobody but an attacker. */
const maxCodings = 3;

/**
 * Decompresses as the reader reads: one piece goes in, and the next only once all it became has been taken. So neither
 * a bomb nor a slow reader makes more than one piece wait here.
 * @param encoding  the `content-encoding` header
 * @throws UpstreamError bad_response for a coding nobody asked for; so does `read` for data that is broken or cut
 */
export function decompress(source: ByteSource, encoding: string, inflaters: Inflaters): ByteSource {
  const codings = encoding
    .toLowerCase()
    .split(',')
    .map((coding) => coding.trim())
    .filter((coding) => coding !== '' && coding !== 'identity');
  if (codings.length > maxCodings) throw badAnswer('the answer is compressed too many times over');
  let outer = source;
  // The header lists them in the order they were applied.
  for (const coding of codings.reverse()) outer = inflate(outer, createInflater(coding, inflaters));
  return outer;
}

function createInflater(coding: string, inflaters: Inflaters): (firstByte: number) => Inflater {
  if (coding === 'gzip' || coding === 'x-gzip') return inflaters.gzip;
  if (coding === 'deflate') return inflaters.deflate;
  if (coding === 'br') return inflaters.br;
  throw badAnswer('the answer is compressed in an unknown way');
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
    const piece = await source.read();
    if (cancelled) return;
    if (piece === null) {
      exhausted = true;
      // A body without a single byte is empty, also when it claims to be compressed.
      if (inflater === null) ended = true;
      else inflater.end();
      return;
    }
    inflater ??= start(piece[0] as number);
    writing = true;
    inflater.write(piece, () => {
      writing = false;
      wake();
    });
  };

  const read = async (): Promise<Uint8Array | null> => {
    for (;;) {
      if (cancelled) return null;
      const piece = inflater?.read() ?? null;
      if (piece !== null) return piece;
      if (broken) {
        source.cancel();
        throw badAnswer('the compressed answer is broken or cut');
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

function badAnswer(message: string): UpstreamError {
  return new UpstreamError(message, { reason: 'bad_response', status: 502 });
}
