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
  const { signal } = request;
  if (signal.aborted) return Promise.reject(signal.reason);
  const failureOf = failuresUnder(signal);
  return new Promise((resolve, reject) => {
    const failed = (error: unknown) => reject(failureOf(error));
    const started = ({ status, headers, body }: TransportResponse) => {
      if (signal.aborted) {
        body.cancel();
        throw signal.reason;
      }
      resolve({ status, headers, body: new Counted(body, maxBodyBytes, failureOf) });
    };
    open.count++;
    sentBy(transport, request).then(
      (response) => {
        open.count--;
        open.inStep(() => started(response), failed, open.count === 0);
      },
      (error: unknown) => {
        open.count--;
        failed(error);
      },
    );
  });
}

/** Made here, where the request is not at hand: the body of an open stream would keep it. */
function failuresUnder(signal: AbortSignal): (error: unknown) => unknown {
  return (error) => (signal.aborted ? signal.reason : toUpstreamError(error));
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
  readonly #failureOf: (error: unknown) => unknown;
  readonly #onBuffer = (buffer: Uint8Array | null) => this.#count(buffer);
  readonly #fail = (error: unknown): never => {
    throw this.#failureOf(error);
  };
  #bytes = 0;

  constructor(source: ByteSource, limitBytes: number, failureOf: (error: unknown) => unknown) {
    this.#source = source;
    this.#limitBytes = limitBytes;
    this.#failureOf = failureOf;
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
