import type { EventSink, LaterSink } from './events.ts';
import type { OutputItem } from './item.ts';

/** A place in the output: an item, or a call of which not enough is known to announce it. */
export class Place {
  readonly index: number;
  /** The events of its item go there. */
  readonly sink: EventSink;
  #item: OutputItem | null = null;
  /** null: the client gets the events at once. */
  #later: LaterSink | null;

  /** @param later  keeps the events until the places before it are done; null: nothing is before it */
  constructor(index: number, sink: EventSink, later: LaterSink | null) {
    this.index = index;
    this.sink = later ?? sink;
    this.#later = later;
  }

  get item(): OutputItem | null {
    return this.#item;
  }

  /** true: the client knows nothing of it. */
  get isUnseen(): boolean {
    return this.#later !== null || this.#item === null;
  }

  put<Item extends OutputItem>(item: Item): Item {
    this.#item = item;
    item.announce();
    return item;
  }

  /** All places before it are done. */
  release(): void {
    this.#later?.release();
    this.#later = null;
  }
}
