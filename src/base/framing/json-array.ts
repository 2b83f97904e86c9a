import { FrameBuffer } from './frame-buffer.ts';
import { EventTooLarge, endsByEnding, type FrameEvent, type Framer, type Framing, FramingError } from './framing.ts';

const QUOTE = 34;
const BACKSLASH = 92;
const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;
const OPEN_BRACKET = 91;
const CLOSE_BRACKET = 93;
const COMMA = 44;

const decoder = new TextDecoder();

type Place = 'before the list' | 'between elements' | 'in an element' | 'behind the list';

/** Cuts a list into frames: each element, which is an object, is a frame. */
class JsonArrayFramer extends FrameBuffer implements Framer {
  readonly maxEventBytes: number;
  #place: Place = 'before the list';
  /** The number of bytes after `end` that were scanned. */
  #scanned = 0;
  /** The position of the element, after `end`. */
  #elementAt = 0;
  #depth = 0;
  #isInText = false;
  #isEscaped = false;

  constructor(maxEventBytes: number) {
    super();
    this.maxEventBytes = maxEventBytes;
  }

  next(): boolean {
    const { buffer, length } = this;
    const from = this.end;
    let at = from + this.#scanned;
    for (; at < length; at++) {
      const byte = buffer[at] as number;
      if (this.#place === 'in an element') {
        if (!this.#endsElement(byte)) continue;
        this.#checkSize(at + 1 - from - this.#elementAt);
        this.#place = 'between elements';
        this.#scanned = 0;
        this.start = from + this.#elementAt;
        this.end = at + 1;
        return true;
      }
      this.#between(byte, at - from);
    }
    this.#scanned = at - from;
    if (this.#place === 'in an element') this.#checkSize(this.#scanned - this.#elementAt);
    // Bytes between elements are not needed.
    else this.#skip(at);
    return false;
  }

  /** Returns false: a cut element is no frame. */
  last(): boolean {
    this.start = this.end;
    return false;
  }

  read(): FrameEvent {
    return { name: '', data: decoder.decode(this.buffer.subarray(this.start, this.end)) };
  }

  #skip(position: number): void {
    this.#scanned = 0;
    this.skipTo(position);
  }

  #between(byte: number, at: number): void {
    if (byte === 32 || (byte >= 9 && byte <= 13)) return;
    if (this.#place === 'before the list' && byte === OPEN_BRACKET) this.#place = 'between elements';
    else if (this.#place === 'between elements' && byte === CLOSE_BRACKET) this.#place = 'behind the list';
    else if (this.#place === 'between elements' && byte === OPEN_BRACE) {
      this.#place = 'in an element';
      this.#elementAt = at;
      this.#depth = 1;
    } else if (this.#place !== 'between elements' || byte !== COMMA)
      throw new FramingError('a list of objects was expected');
  }

  #endsElement(byte: number): boolean {
    if (this.#isInText) {
      if (this.#isEscaped) this.#isEscaped = false;
      else if (byte === BACKSLASH) this.#isEscaped = true;
      else if (byte === QUOTE) this.#isInText = false;
      return false;
    }
    if (byte === QUOTE) this.#isInText = true;
    else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) this.#depth++;
    else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) this.#depth--;
    return this.#depth === 0;
  }

  #checkSize(size: number): void {
    if (size > this.maxEventBytes) throw new EventTooLarge(this.maxEventBytes);
  }
}

/** A JSON list that grows: each element is an event. */
export const jsonArray: Framing = {
  name: 'json-array',
  framer: (maxEventBytes) => new JsonArrayFramer(maxEventBytes),
  recognises: (start, isAll) => (start === '' && !isAll ? null : /^\s*\[/.test(start)),
  endWatch: endsByEnding,
};
