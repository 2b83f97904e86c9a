import { folded, foldedText } from '../matching/fold.ts';

/**
 * The end of a text that comes in pieces, in the form for some matchers, with the place of each character in the whole
 * text. A lane that folds shows other digits, spaces, dashes and widths as ASCII, and leaves out invisible characters.
 */
export class Lane {
  readonly #folds: boolean;
  text = '';
  /** The number of characters of the lane before `text`. */
  base = 0;
  /** The place in the whole text up to which the lane has come. */
  #place = 0;
  /**
   * By character of `text`: its beginning and its end in the whole text. null: `text` is the last part of the whole
   * text.
   */
  #starts: number[] | null = null;
  #ends: number[] = [];
  /** The first half of a character whose second half has not come. */
  #half = '';

  constructor(folds: boolean) {
    this.#folds = folds;
  }

  append(piece: string, isEnd: boolean): void {
    let text = this.#half + piece;
    this.#half = '';
    if (!this.#folds) this.#take(text);
    else {
      if (!isEnd && (text.charCodeAt(text.length - 1) & 0xfc00) === 0xd800) {
        this.#half = text.slice(-1);
        text = text.slice(0, -1);
      }
      // No character becomes shorter, so each keeps its place.
      const plain = this.#starts === null ? foldedText(text) : '';
      if (plain.length === text.length) this.#take(plain);
      else this.#fold(text);
    }
  }

  #take(text: string): void {
    this.text += text;
    this.#place += text.length;
  }

  #fold(text: string): void {
    if (this.#starts === null) {
      const first = this.#place - this.text.length;
      this.#starts = Array.from({ length: this.text.length }, (_, at) => first + at);
      this.#ends = this.#starts.map((start) => start + 1);
    }
    let made = '';
    for (const char of text) {
      const plain = folded(char);
      // A character that is not folded may have two halves.
      for (let at = 0; at < plain.length; at++) {
        this.#starts.push(this.#place + at);
        this.#ends.push(at === plain.length - 1 ? this.#place + char.length : this.#place + at + 1);
      }
      made += plain;
      this.#place += char.length;
    }
    this.text += made;
  }

  /**
   * The place in the whole text at which a character begins. At the end of the lane: the place that the lane has
   * reached.
   */
  startOf(at: number): number {
    if (at >= this.text.length) return this.#place;
    return this.#starts === null ? this.#place - this.text.length + at : (this.#starts[at] as number);
  }

  /** The place in the whole text at which the character before a place ends. */
  endOf(at: number): number {
    return this.#starts === null ? this.#place - this.text.length + at : (this.#ends[at - 1] as number);
  }

  /** Drops characters before a place, which are not read again. */
  forget(before: number): void {
    if (before <= 0) return;
    this.text = this.text.slice(before);
    this.base += before;
    if (this.#starts === null) return;
    this.#starts = this.#starts.slice(before);
    this.#ends = this.#ends.slice(before);
    // Without folded characters, places need no table.
    if (this.text === '' || this.#starts[0] === this.#place - this.text.length) this.#starts = null;
  }
}
