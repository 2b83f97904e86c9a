import { type ByteSource, joinBytes } from '../base/bytes.ts';
import { UpstreamError } from '../base/upstream-error.ts';
import { toUpstreamError } from './network-error.ts';
import type { Transport, TransportRequest, TransportResponse } from './transport.ts';

/**
 * One exchange over any transport, also a host app's own: whatever it fails with becomes an UpstreamError, an abort
 * stays the reason of the signal, and the body is counted while it is read.
 * @param maxBodyBytes  of the body, decompressed
 * @throws UpstreamError, also from `body.read()`, `bad_response` once the body is longer than `maxBodyBytes`; the
 *         signal's reason as it is
 */
export function send(
  transport: Transport,
  request: TransportRequest,
  maxBodyBytes: number,
): Promise<TransportResponse> {
  const { signal } = request;
  const failed = (error: unknown): never => {
    throw signal.aborted ? signal.reason : toUpstreamError(error);
  };
  if (signal.aborted) return Promise.reject(signal.reason);
  let sent: Promise<TransportResponse>;
  try {
    sent = transport.send(request);
  } catch (error) {
    // A host app's transport may throw at once.
    sent = Promise.reject(error);
  }
  return sent.then((response) => {
    if (signal.aborted) {
      response.body.cancel();
      throw signal.reason;
    }
    const { status, headers, body } = response;
    return { status, headers, body: new Counted(body, maxBodyBytes, failed) };
  }, failed);
}

/** A body that fails once it is longer than allowed, and with nothing but errors of ours. */
class Counted implements ByteSource {
  readonly #source: ByteSource;
  readonly #limitBytes: number;
  readonly #failed: (error: unknown) => never;
  readonly #onPiece = (piece: Uint8Array | null) => this.#count(piece);
  #bytes = 0;

  constructor(source: ByteSource, limitBytes: number, failed: (error: unknown) => never) {
    this.#source = source;
    this.#limitBytes = limitBytes;
    this.#failed = failed;
  }

  get isOver(): boolean {
    return this.#source.isOver === true;
  }

  read(): Promise<Uint8Array | null> {
    return this.#source.read().then(this.#onPiece, this.#failed);
  }

  rest(): Uint8Array | null {
    let rest: Uint8Array | null;
    try {
      rest = this.#source.rest?.() ?? null;
    } catch (error) {
      return this.#failed(error);
    }
    return this.#count(rest);
  }

  cancel(): void {
    this.#source.cancel();
  }

  #count(piece: Uint8Array | null): Uint8Array | null {
    if (piece === null) return null;
    this.#bytes += piece.length;
    if (this.#bytes <= this.#limitBytes) return piece;
    this.#source.cancel();
    throw tooLarge(this.#limitBytes);
  }
}

/**
 * Reads a body to its end as UTF-8, without a byte-order mark; invalid bytes become U+FFFD.
 * @param isOver  given each piece; true: it is the last that is wanted, and the source is cancelled
 * @throws UpstreamError bad_response when it is longer than `maxBytes`; the source is then cancelled
 */
export function readText(
  source: ByteSource,
  maxBytes: number,
  isOver: (piece: Uint8Array) => boolean = never,
): Promise<string> {
  return readUpTo(source, maxBytes, isOver, () => {
    throw tooLarge(maxBytes);
  });
}

/**
 * As `readText`, where all of the body has arrived; null: it has not.
 * @throws UpstreamError bad_response when it is longer than `maxBytes`
 */
export function textAtHand(source: ByteSource, maxBytes: number): string | null {
  const rest = source.rest?.() ?? null;
  if (rest === null) return null;
  if (rest.length > maxBytes) throw tooLarge(maxBytes);
  return wholeDecoder.decode(rest);
}

/**
 * As `readText`, for bodies of which the beginning will do, such as error pages: beyond `maxBytes` the source is
 * cancelled and what has come is returned.
 * @throws what the source throws
 */
export function readTextBounded(source: ByteSource, maxBytes: number): Promise<string> {
  // The cut may go through a character; the half that is here is left out rather than replaced.
  return readUpTo(source, maxBytes, never, (pieces) => new TextDecoder().decode(joinBytes(pieces), { stream: true }));
}

/** For texts that are all here; making a decoder costs more than decoding a usual answer. */
const wholeDecoder = new TextDecoder();

async function readUpTo(
  source: ByteSource,
  maxBytes: number,
  isOver: (piece: Uint8Array) => boolean,
  cut: (pieces: Uint8Array[]) => string,
): Promise<string> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for (;;) {
    const piece = await source.read();
    if (piece === null) break;
    const room = maxBytes - bytes;
    if (piece.length > room) {
      source.cancel();
      pieces.push(piece.subarray(0, room));
      return cut(pieces);
    }
    pieces.push(piece);
    bytes += piece.length;
    if (source.isOver) break;
    if (isOver(piece)) {
      source.cancel();
      break;
    }
  }
  return wholeDecoder.decode(joinBytes(pieces));
}

function never(): boolean {
  return false;
}

function tooLarge(limitBytes: number): UpstreamError {
  return new UpstreamError(`the answer is larger than ${limitBytes} bytes`, { reason: 'bad_response', status: 502 });
}
