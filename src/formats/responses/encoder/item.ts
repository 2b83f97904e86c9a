import type { Loose } from '../../../base/values.ts';
import type { EventSink } from './events.ts';

export type ItemStatus = 'in_progress' | 'completed' | 'incomplete';

/** An item of the output, from its announcement on. */
export abstract class OutputItem {
  /** true: nothing more will be added, and it may end as soon as those before it have. */
  isOver = false;
  isClosed = false;
  /** `incomplete`: the provider says that the item, which is over, was cut. */
  outcome: 'completed' | 'incomplete' = 'completed';
  /** Fields that an upstream which speaks Responses gives an item beside those that are known here. */
  extra: Loose = {};
  protected status: ItemStatus = 'in_progress';
  protected readonly sink: EventSink;
  #json = '';

  readonly index: number;
  readonly id: string;

  constructor(sink: EventSink, index: number, id: string) {
    this.sink = sink;
    this.index = index;
    this.id = id;
  }

  /** Returns the item with its content so far. */
  abstract toObject(): Loose;

  /** Ends the parts of the item. */
  protected abstract closeParts(): void;

  /** Returns the item as JSON; only for a stream. */
  toJson(): string {
    return this.#json === '' ? JSON.stringify(this.toObject()) : this.#json;
  }

  announce(): void {
    this.sink.emit('response.output_item.added', { output_index: this.index, item: this.toObject() });
  }

  close(status: ItemStatus): void {
    this.closeParts();
    this.status = status;
    this.isClosed = true;
    this.#json = this.sink.itemDone(this.index, this.toObject());
  }

  /** Ends the item of a response that broke: it stays as the client has it, and no event says that it is complete. */
  abandon(): void {
    this.status = 'incomplete';
  }

  /** The fields that each event of the item has. */
  protected get place(): { item_id: string; output_index: number } {
    return { item_id: this.id, output_index: this.index };
  }
}
