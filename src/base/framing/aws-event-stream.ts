import { crc32 } from './crc32.ts';
import { FrameBuffer } from './frame-buffer.ts';
import { EventTooLarge, endsByEnding, type FrameEvent, type Framer, type Framing, FramingError } from './framing.ts';

/** Length of the frame, length of its headers, checksum of both; each of 4 bytes, the highest first. */
const preludeBytes = 12;
/** A frame without headers and payload: its prelude, and the checksum of the frame. */
const leastBytes = 16;
/**
 * Bytes of the values of a header by type: true, false, 8, 16, 32 and 64 bits; text of its own length; a time, a UUID.
 */
const valueBytes = [0, 0, 1, 2, 4, 8, null, null, 8, 16];
const textType = 7;

const decoder = new TextDecoder();

class AwsFramer extends FrameBuffer implements Framer {
  readonly maxEventBytes: number;
  /** The header bytes of the frame before: most frames have the same headers, so they are decoded once. */
  #headerBytes: Uint8Array | null = null;
  #headers: ReadonlyMap<string, string> = new Map();

  constructor(maxEventBytes: number) {
    super();
    this.maxEventBytes = maxEventBytes;
  }

  next(): boolean {
    this.start = this.end;
    if (this.length - this.start < preludeBytes) return false;
    const size = checkedSize(this.buffer, this.start);
    if (size > this.maxEventBytes) throw new EventTooLarge(this.maxEventBytes);
    if (this.length - this.start < size) return false;
    this.end = this.start + size;
    if (crc32(this.buffer, this.start, this.end - 4) !== uint32(this.buffer, this.end - 4))
      throw new FramingError('the checksum of a frame is wrong');
    return true;
  }

  /** Returns false: a cut frame lacks more than an end mark, since a frame states its length. */
  last(): boolean {
    this.start = this.end;
    return false;
  }

  /** The name is that of the event, or of the exception that came in place of one. */
  read(): FrameEvent | null {
    const payloadAt = this.start + preludeBytes + uint32(this.buffer, this.start + 4);
    const headers = this.#headersTo(payloadAt);
    const payload = decoder.decode(this.buffer.subarray(payloadAt, this.end - 4));
    const type = headers.get(':message-type');
    // Errors outside of the service's own model come as headers alone.
    if (type === 'error')
      return {
        name: headers.get(':error-code') ?? 'error',
        data: payload === '' ? JSON.stringify({ message: headers.get(':error-message') ?? '' }) : payload,
      };
    const name = headers.get(type === 'exception' ? ':exception-type' : ':event-type') ?? '';
    return payload === '' && type !== 'exception' ? null : { name, data: payload === '' ? '{}' : payload };
  }

  #headersTo(payloadAt: number): ReadonlyMap<string, string> {
    const bytes = this.buffer.subarray(this.start + preludeBytes, payloadAt);
    if (this.#headerBytes === null || !isSame(bytes, this.#headerBytes)) {
      this.#headers = readHeaders(bytes, 0, bytes.length);
      // A copy, because later frames overwrite the buffer.
      this.#headerBytes = bytes.slice();
    }
    return this.#headers;
  }
}

function isSame(bytes: Uint8Array, others: Uint8Array): boolean {
  if (bytes.length !== others.length) return false;
  for (let at = 0; at < bytes.length; at++) if (bytes[at] !== others[at]) return false;
  return true;
}

/** @throws FramingError for an invalid prelude */
function checkedSize(buffer: Uint8Array, at: number): number {
  if (crc32(buffer, at, at + 8) !== uint32(buffer, at + 8))
    throw new FramingError('the checksum of the start of a frame is wrong');
  const size = uint32(buffer, at);
  if (size < leastBytes + uint32(buffer, at + 4)) throw new FramingError('a frame is shorter than its headers');
  return size;
}

/** Reads the headers of type text: a dialect uses no others. */
function readHeaders(buffer: Uint8Array, from: number, to: number): Map<string, string> {
  const headers = new Map<string, string>();
  let at = from;
  while (at < to) {
    const nameEnd = at + 1 + (buffer[at] as number);
    const type = buffer[nameEnd] as number;
    const fixed = valueBytes[type];
    const valueAt = nameEnd + (fixed === null ? 3 : 1);
    const valueEnd = valueAt + (fixed ?? ((buffer[nameEnd + 1] as number) << 8) + (buffer[nameEnd + 2] as number));
    if (fixed === undefined || !(valueEnd <= to)) throw new FramingError('the headers of a frame cannot be read');
    if (type === textType)
      headers.set(decoder.decode(buffer.subarray(at + 1, nameEnd)), decoder.decode(buffer.subarray(valueAt, valueEnd)));
    at = valueEnd;
  }
  return headers;
}

function uint32(buffer: Uint8Array, at: number): number {
  const [a = 0, b = 0, c = 0, d = 0] = buffer.subarray(at, at + 4);
  return ((a << 24) | (b << 16) | (c << 8) | d) >>> 0;
}

/** The binary frames of AWS (`application/vnd.amazon.eventstream`), each with two checksums. */
export const awsEventStream: Framing = {
  name: 'aws-event-stream',
  framer: (maxEventBytes) => new AwsFramer(maxEventBytes),
  recognises(start, isAll) {
    if (start.length < preludeBytes) return isAll ? false : null;
    const prelude = Uint8Array.from({ length: preludeBytes }, (_, at) => start.charCodeAt(at));
    return crc32(prelude, 0, 8) === uint32(prelude, 8);
  },
  endWatch: endsByEnding,
};
