import { startOf } from './annotations.ts';
import type { TextPart } from './message.ts';

/**
 * The texts of a response, for annotations. A chat annotation has a place in the content of the message, which may be
 * in one of several texts here.
 */
export class AnnotatedTexts {
  /** The texts, in the order of their `start`. */
  readonly #parts: TextPart[] = [];
  /** Annotations that came before their text, or after it had ended. */
  #pending: unknown[] = [];

  get hasPending(): boolean {
    return this.#pending.length > 0;
  }

  add(part: TextPart): void {
    this.#parts.push(part);
    this.release(part);
  }

  annotate(annotation: unknown): void {
    const part = this.#partAt(startOf(annotation));
    if (part === undefined || part.item.isOver || part.item.isClosed) this.#pending.push(annotation);
    else part.item.annotate(part, annotation);
  }

  /** Adds to a text the annotations that found none. */
  release(part: TextPart): void {
    const pending = this.#pending;
    this.#pending = [];
    for (const one of pending) part.item.annotate(part, one);
  }

  /** Returns the text that holds a place of the content; the last one where there is no place. */
  #partAt(place: number | null): TextPart | undefined {
    const parts = this.#parts;
    if (place === null) return parts.at(-1);
    let low = 0;
    let high = parts.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((parts[middle] as TextPart).start <= place) low = middle + 1;
      else high = middle;
    }
    return parts[low - 1];
  }
}
