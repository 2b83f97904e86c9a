/** Cuts server-sent events out of a byte stream. Own code, because the passthrough needs the bytes of each event. */
import { EventTooLarge, type FrameEvent, type Framer } from '../framing/framing.ts';

const empty = new Uint8Array(0);
const LF = 10;
const CR = 13;
/** TextDecoder drops a byte-order mark by itself. */
const decoder = new TextDecoder();

/** Cuts a byte stream into events at blank lines (LF, CRLF or CR). */
export class EventFramer implements Framer {
  buffer: Uint8Array = empty;
  start = 0;
  end = 0;
  /** The position at which the valid bytes of `buffer` end. */
  private filled = 0;
  /** The bytes before this position contain no end of an event. */
  private scanned = 0;
  private owned = false;
  private newline = LF;
  private fresh = true;
  private endedInCr = false;
  readonly maxEventBytes: number;

  constructor(maxEventBytes: number) {
    this.maxEventBytes = maxEventBytes;
  }

  /** The number of bytes of an incomplete event. */
  get heldBytes(): number {
    return this.filled - this.end;
  }

  push(bytes: Uint8Array): void {
    if (this.fresh) this.learnNewline(bytes);
    const held = this.filled - this.end;
    if (held === 0) {
      this.buffer = bytes;
      this.owned = false;
      this.scanned = 0;
      this.filled = bytes.length;
    } else {
      this.grow(held, bytes);
    }
    this.start = this.end = held === 0 ? 0 : this.end;
  }

  next(): boolean {
    this.start = this.end;
    const boundary = this.findEnd();
    const size = (boundary < 0 ? this.filled : boundary) - this.start;
    if (size > this.maxEventBytes) throw new EventTooLarge(this.maxEventBytes);
    if (boundary < 0) return false;
    this.end = this.scanned = boundary;
    return true;
  }

  /** Moves to the last event if its blank line is missing. */
  last(): boolean {
    this.start = this.end;
    this.end = this.filled;
    return this.end > this.start;
  }

  read(): FrameEvent | null {
    return readEvent(this.buffer.subarray(this.start, this.end));
  }

  skipTo(position: number): void {
    this.start = this.end = position;
    if (this.scanned < position) this.scanned = position;
  }

  release(): void {
    if (this.end < this.filled || this.filled === 0) return;
    this.buffer = empty;
    this.start = this.end = this.filled = this.scanned = 0;
    this.owned = false;
  }

  get length(): number {
    return this.filled;
  }

  /** A lone CR ends lines only in streams that use nothing else. */
  private learnNewline(bytes: Uint8Array): void {
    const lf = bytes.indexOf(LF);
    const cr = bytes.indexOf(CR);
    const isLone = this.endedInCr ? lf !== 0 : cr >= 0 && cr < bytes.length - 1 && cr !== lf - 1 && (lf < 0 || cr < lf);
    this.endedInCr = bytes[bytes.length - 1] === CR;
    if (!isLone && lf < 0) return;
    this.fresh = false;
    if (!isLone) return;
    this.newline = CR;
    // The bytes so far were searched for LF.
    this.scanned = this.end;
  }

  private grow(held: number, bytes: Uint8Array): void {
    const needed = held + bytes.length;
    if (!this.owned || this.filled + bytes.length > this.buffer.length) {
      const larger = new Uint8Array(Math.max(needed, held * 2, 1024));
      larger.set(this.buffer.subarray(this.end, this.filled));
      this.scanned -= this.end;
      this.buffer = larger;
      this.owned = true;
      this.filled = held;
      this.end = 0;
    }
    this.buffer.set(bytes, this.filled);
    this.filled += bytes.length;
  }

  /** The index after the blank line that ends the event at `start`, or -1. */
  private findEnd(): number {
    const { buffer, filled, newline } = this;
    let at = Math.max(this.scanned, this.start);
    for (;;) {
      const line = buffer.indexOf(newline, at);
      if (line < 0 || line >= filled) {
        this.scanned = filled;
        return -1;
      }
      // The line ending that would make the next line blank may not have arrived yet.
      if (line + 1 >= filled) break;
      const next = buffer[line + 1];
      if (next === newline) return line + 2;
      if (next === CR) {
        if (line + 2 >= filled) break;
        if (buffer[line + 2] === LF) return line + 3;
      }
      at = line + 1;
      this.scanned = at;
    }
    this.scanned = Math.max(this.scanned, this.start);
    return -1;
  }
}

/**
 * Reads one framed event: its data lines, joined by newlines. null: the event has no data, such as a comment, a blank
 * line, or a name alone.
 */
export function readEvent(bytes: Uint8Array): FrameEvent | null {
  const text = withoutLoneCr(decoder.decode(bytes));
  let data: string | null = null;
  let name = '';
  for (let at = 0; at < text.length; ) {
    const newline = text.indexOf('\n', at);
    const next = newline < 0 ? text.length : newline;
    const end = text.charCodeAt(next - 1) === CR ? next - 1 : next;
    if (text.startsWith('data:', at)) {
      const value = text.slice(at + (text.charCodeAt(at + 5) === 32 ? 6 : 5), end);
      data = data === null ? value : `${data}\n${value}`;
    } else if (text.startsWith('event:', at)) {
      name = text.slice(at + 6, end).trim();
    } else if (text.charCodeAt(at) === 123) {
      // Some servers write a bare JSON error into an open stream, without `data:`.
      const line = text.slice(at, end);
      data = data === null ? line : `${data}\n${line}`;
    }
    at = next + 1;
  }
  return data === null || data.trim() === '' ? null : { data, name };
}

/** Replaces each line ending by LF where some line endings are a CR alone, which is rare. */
function withoutLoneCr(text: string): string {
  for (let at = text.indexOf('\r'); at >= 0; at = text.indexOf('\r', at + 1))
    if (text.charCodeAt(at + 1) !== LF) return text.replace(/\r\n?/g, '\n');
  return text;
}

/** Writes a frame whose payload is one line of JSON. */
export function encodeEvent(json: string): string {
  return `data: ${json}\n\n`;
}

export const doneFrame = 'data: [DONE]\n\n';
