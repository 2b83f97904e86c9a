/**
 * The things in flight: thousands come and go in a second. An entry that has left points to nothing:
 * docs/performance.md, "No Set for requests in flight".
 */
export class InFlight<T> {
  readonly #first: Place<T> = { value: null, previous: null, next: null };
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** @returns the place to pass to `delete` */
  add(value: T): Place<T> {
    const { next } = this.#first;
    const place: Place<T> = { value, previous: this.#first, next };
    this.#first.next = place;
    if (next !== null) next.previous = place;
    this.#size++;
    return place;
  }

  /** Does nothing for a place that was deleted before. */
  delete(place: Place<T>): void {
    const { previous, next } = place;
    if (previous === null) return;
    this.#size--;
    previous.next = next;
    if (next !== null) next.previous = previous;
    place.value = place.previous = place.next = null;
  }

  /** All entries, the latest first. */
  all(): T[] {
    const all: T[] = [];
    for (let place = this.#first.next; place !== null; place = place.next) all.push(place.value as T);
    return all;
  }
}

export interface Place<T> {
  value: T | null;
  /** null: the entry has left. */
  previous: Place<T> | null;
  next: Place<T> | null;
}
