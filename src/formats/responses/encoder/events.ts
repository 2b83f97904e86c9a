import type { Loose } from '../../../base/values.ts';

/** The receiver of the events of a response. */
export interface EventSink {
  emit(type: string, fields: Loose): void;
  /** Returns the constant beginning of the events with more of one text. */
  deltaHead(type: string, fields: Loose): string;
  /** @param head  the result of `deltaHead` */
  delta(head: string, text: string): void;
  /**
   * Writes the end of an item. @returns its JSON, to be written once more at the end; '' where events are written
   * nowhere
   */
  itemDone(index: number, item: Loose): string;
}

/** The receiver of a response that is written as JSON: it takes no events. */
export const nowhere: EventSink = {
  emit: () => undefined,
  deltaHead: () => '',
  delta: () => undefined,
  itemDone: () => '',
};

/** Writes events as frames, numbered from 0. The `event:` line repeats the type, for clients that read it there. */
export class EventWriter implements EventSink {
  #sequence = 0;
  #frames = '';

  emit(type: string, fields: Loose): void {
    this.#write(type, JSON.stringify({ ...fields, type, sequence_number: this.#sequence }));
  }

  deltaHead(type: string, fields: Loose): string {
    return `event: ${type}\ndata: ${JSON.stringify({ type, ...fields }).slice(0, -1)},"delta":`;
  }

  /**
   * Writes more of a text. Nearly all events are of this kind, so everything but the text and the number is serialised
   * once.
   */
  delta(head: string, text: string): void {
    this.#frames += `${head}${JSON.stringify(text)},"sequence_number":${this.#sequence++}}\n\n`;
  }

  itemDone(index: number, item: Loose): string {
    const json = JSON.stringify(item);
    this.#wrap('response.output_item.done', `"output_index":${index},"item":${json}`);
    return json;
  }

  /** Writes an event of the response itself. @param json  the response */
  response(type: string, json: string): void {
    this.#wrap(type, `"response":${json}`);
  }

  /** Returns the frames since the last call. */
  take(): string {
    const frames = this.#frames;
    this.#frames = '';
    return frames;
  }

  #wrap(type: string, fields: string): void {
    this.#write(type, `{"type":"${type}","sequence_number":${this.#sequence},${fields}}`);
  }

  #write(type: string, json: string): void {
    this.#sequence++;
    this.#frames += `event: ${type}\ndata: ${json}\n\n`;
  }
}
