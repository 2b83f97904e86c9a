import { type Cohort, createCohort } from '../base/async/cohort.ts';
import { type ByteSource, joinBytes } from '../base/bytes.ts';
import { UpstreamError } from '../base/http/upstream-error.ts';
import { toUpstreamError } from './network-error.ts';
import type { Transport, TransportRequest, TransportResponse } from './transport.ts';

/** The exchanges of a gateway whose response has not begun. */
export interface OpenExchanges {
  count: number;
  /** Runs the exchanges whose response begins in step. */
  readonly inStep: Cohort;
}

/** Makes an empty set of exchanges. */
export function openExchanges(): OpenExchanges {
  return { count: 0, inStep: createCohort() };
}

/**
 * Runs one exchange over any transport, also a host app's own. Any error of the transport becomes an UpstreamError. An
 * abort rejects with the reason of the signal. The bytes of the body are counted while they are read.
 * @param maxBodyBytes  the most bytes of the body, decompressed
 * @param open  the exchanges that this one is in step with. Default: none
 * @throws UpstreamError, also from `body.read()`: `bad_response` once the body is longer than `maxBodyBytes`; after an
 *         abort, the signal's reason, unchanged
 */
export function send(
  transport: Transport,
  request: TransportRequest,
  maxBodyBytes: number,
  open: OpenExchanges = openExchanges(),
): Promise<TransportResponse> {
  if (request.signal.aborted) return Promise.reject(request.signal.reason);
  return new Promise((resolve, reject) => {
    open.count++;
    const opening = new Opening(request.signal, maxBodyBytes, open, resolve, reject);
    sentBy(transport, request).then(
      (response) => opening.arrived(response),
      (error: unknown) => opening.failed(error),
    );
  });
}

/** An exchange whose response has not begun. A class: docs/performance.md, "Classes instead of closures". */
class Opening {
  /** Not the request: the body of an open stream would keep it. */
  readonly #signal: AbortSignal;
  readonly #maxBodyBytes: number;
  readonly #open: OpenExchanges;
  readonly #resolve: (response: TransportResponse) => void;
  readonly #reject: (error: unknown) => void;

  constructor(
    signal: AbortSignal,
    maxBodyBytes: number,
    open: OpenExchanges,
    resolve: (response: TransportResponse) => void,
    reject: (error: unknown) => void,
  ) {
    this.#signal = signal;
    this.#maxBodyBytes = maxBodyBytes;
    this.#open = open;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  arrived(response: TransportResponse): void {
    const open = this.#open;
    open.count--;
    open.inStep(
      () => this.#started(response),
      (error) => this.#reject(failureUnder(this.#signal, error)),
      open.count === 0,
    );
  }

  failed(error: unknown): void {
    this.#open.count--;
    this.#reject(failureUnder(this.#signal, error));
  }

  #started({ status, headers, body }: TransportResponse): void {
    const signal = this.#signal;
    if (signal.aborted) {
      body.cancel();
      throw signal.reason;
    }
    this.#resolve({ status, headers, body: new Counted(body, this.#maxBodyBytes, signal) });
  }
}

function failureUnder(signal: AbortSignal, error: unknown): unknown {
  return signal.aborted ? signal.reason : toUpstreamError(error);
}

function sentBy(transport: Transport, request: TransportRequest): Promise<TransportResponse> {
  try {
    return transport.send(request);
  } catch (error) {
    // A host app's transport may throw at once.
    return Promise.reject(error);
  }
}

/** A body that fails once it is longer than allowed. Turns the errors of its source into our own. */
class Counted implements ByteSource {
  readonly #source: ByteSource;
  readonly #limitBytes: number;
  readonly #signal: AbortSignal;
  readonly #onBuffer = (buffer: Uint8Array | null) => this.#count(buffer);
  readonly #fail = (error: unknown): never => {
    throw failureUnder(this.#signal, error);
  };
  #bytes = 0;

  constructor(source: ByteSource, limitBytes: number, signal: AbortSignal) {
    this.#source = source;
    this.#limitBytes = limitBytes;
    this.#signal = signal;
  }

  get isOver(): boolean {
    return this.#source.isOver === true;
  }

  read(): Promise<Uint8Array | null> {
    return this.#source.read().then(this.#onBuffer, this.#fail);
  }

  rest(): Uint8Array | null {
    let remainder: Uint8Array | null;
    try {
      remainder = this.#source.rest?.() ?? null;
    } catch (error) {
      return this.#fail(error);
    }
    return this.#count(remainder);
  }

  cancel(): void {
    this.#source.cancel();
  }

  #count(buffer: Uint8Array | null): Uint8Array | null {
    if (buffer === null) return null;
    this.#bytes += buffer.length;
    if (this.#bytes <= this.#limitBytes) return buffer;
    this.#source.cancel();
    throw tooLarge(this.#limitBytes);
  }
}

/**
 * Reads a body to its end as UTF-8, without a byte-order mark; invalid bytes become U+FFFD.
 * @param isOver  called with each buffer; if it returns true, reading ends after this buffer and the source is
 *                cancelled
 * @throws UpstreamError bad_response when the body is longer than `maxBytes`; the source is then cancelled
 */
export function readText(
  source: ByteSource,
  maxBytes: number,
  isOver: (buffer: Uint8Array) => boolean = never,
): Promise<string> {
  return readUpTo(source, maxBytes, isOver, () => {
    throw tooLarge(maxBytes);
  });
}

/**
 * Like `readText`, for a body that has already arrived to its end.
 * @returns null: the body has not arrived to its end
 * @throws UpstreamError bad_response when the body is longer than `maxBytes`
 */
export function textAtHand(source: ByteSource, maxBytes: number): string | null {
  const remainder = source.rest?.() ?? null;
  if (remainder === null) return null;
  if (remainder.length > maxBytes) throw tooLarge(maxBytes);
  return completeDecoder.decode(remainder);
}

/**
 * Like `readText`, for bodies whose beginning is enough, such as error pages. If the body is longer than `maxBytes`,
 * the source is cancelled and the beginning is returned.
 * @throws every error of the source
 */
export function readTextBounded(source: ByteSource, maxBytes: number): Promise<string> {
  // The cut may go through a character. The first half of the character is left out, not replaced.
  return readUpTo(source, maxBytes, never, (buffers) => new TextDecoder().decode(joinBytes(buffers), { stream: true }));
}

/** For complete texts. One decoder for all: making a decoder costs more than decoding a usual response. */
const completeDecoder = new TextDecoder();

async function readUpTo(
  source: ByteSource,
  maxBytes: number,
  isOver: (buffer: Uint8Array) => boolean,
  cut: (buffers: Uint8Array[]) => string,
): Promise<string> {
  const buffers: Uint8Array[] = [];
  let bytes = 0;
  for (;;) {
    const buffer = await source.read();
    if (buffer === null) break;
    const room = maxBytes - bytes;
    if (buffer.length > room) {
      source.cancel();
      buffers.push(buffer.subarray(0, room));
      return cut(buffers);
    }
    buffers.push(buffer);
    bytes += buffer.length;
    if (source.isOver) break;
    if (isOver(buffer)) {
      source.cancel();
      break;
    }
  }
  return completeDecoder.decode(joinBytes(buffers));
}

function never(): boolean {
  return false;
}

function tooLarge(limitBytes: number): UpstreamError {
  return new UpstreamError(`the response is larger than ${limitBytes} bytes`, { reason: 'bad_response', status: 502 });
}
