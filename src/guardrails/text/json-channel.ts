import type { Channel, TextChannel } from './channel.ts';
import type { Work } from './pace.ts';
import type { Texts } from './texts.ts';

/** A character of JSON: plain, or its escape. */
const characters = /\\u[\da-fA-F]{4}|\\[^u]|[^\\]|\\/gs;
/** An escape that is not complete. */
const incomplete = /\\(?:u[\da-fA-F]{0,3})?$/;
const escapes: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

/**
 * JSON in which nothing is redacted, since its patterns only block. A part is released when it may pass both as it is
 * written and as it is read, without escapes. JSON inside its texts is checked when it is complete.
 */
export class JsonChannel implements TextChannel {
  readonly #texts: Texts;
  readonly #makeChannel: () => Channel;
  readonly #written: Channel;
  /** The channel of the text without escapes; null: there was no escape yet. */
  #read: Channel | null = null;
  #all = '';
  #held = '';
  #released = 0;
  /** The places up to which the text may pass as it is written, and as it is read. */
  #writtenTo = 0;
  #readTo = 0;
  /** The ends in the text of read characters that may not pass yet. */
  #ends: number[] = [];
  /** The beginning of an escape, and its place. */
  #open = '';
  #at = 0;

  /** @param makeChannel  makes a channel for patterns that only block */
  constructor(texts: Texts, makeChannel: () => Channel) {
    this.#texts = texts;
    this.#makeChannel = makeChannel;
    this.#written = makeChannel();
  }

  *push(piece: string): Work<string> {
    this.#all += piece;
    this.#held += piece;
    this.#writtenTo += (yield* this.#written.push(piece)).length;
    if (this.#read !== null) yield* this.#look(this.#read, piece);
    else if (piece.includes('\\')) {
      this.#read = this.#makeChannel();
      yield* this.#look(this.#read, this.#all);
    }
    const until = this.#read === null ? this.#writtenTo : Math.min(this.#writtenTo, this.#readTo);
    const left = this.#held.slice(0, until - this.#released);
    this.#held = this.#held.slice(left.length);
    this.#released += left.length;
    return left;
  }

  *end(): Work<string> {
    yield* this.#written.end();
    if (this.#read !== null) yield* this.#read.end();
    yield* this.#texts.text(this.#all);
    return this.#held;
  }

  *#look(read: Channel, piece: string): Work<void> {
    const text = this.#open + piece;
    this.#open = incomplete.exec(endOf(text))?.[0] ?? '';
    let plain = '';
    for (const [char] of text.slice(0, text.length - this.#open.length).matchAll(characters)) {
      this.#at += char.length;
      this.#ends.push(this.#at);
      plain += char.length === 1 ? char : readAs(char);
    }
    const count = (yield* read.push(plain)).length;
    this.#readTo = this.#ends[count - 1] ?? this.#readTo;
    this.#ends.splice(0, count);
  }
}

/** The last characters, from a possibly incomplete escape on: a backslash after a backslash begins no escape. */
function endOf(text: string): string {
  let at = text.length - 1;
  while (at >= 0 && at > text.length - 6 && text[at] !== '\\') at--;
  let first = at;
  while (first > 0 && text[first - 1] === '\\') first--;
  return text[at] === '\\' && (at - first) % 2 === 0 ? text.slice(at) : '';
}

function readAs(written: string): string {
  if (written[1] === 'u') return String.fromCharCode(Number.parseInt(written.slice(2), 16));
  return escapes[written[1] as string] ?? (written[1] as string);
}
