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
  /** A sink for an item whose turn has not come; null: no event goes anywhere, so none has to wait. */
  later(): LaterSink | null;
}

/** Keeps the events of an item until its turn comes. */
export interface LaterSink extends EventSink {
  /** The turn of the item has come: what was kept is sent, and what follows is sent at once. */
  release(): void;
}

/** The receiver of a response that is written as JSON: it takes no events. */
export const nowhere: EventSink = {
  emit: () => undefined,
  deltaHead: () => '',
  delta: () => undefined,
  itemDone: () => '',
  later: () => null,
};

/** Writes events as frames, numbered from 0. The `event:` line repeats the type, for clients that read it there. */
export class EventWriter implements EventSink {
  #sequence = 0;
  #frames = '';

  emit(type: string, fields: Loose): void {
    this.numbered(opening(type, fields));
  }

  deltaHead(type: string, fields: Loose): string {
    return `${opening(type, fields)},"delta":`;
  }

  /**
   * Writes more of a text. Nearly all events are of this kind, so everything but the text and the number is serialised
   * once.
   */
  delta(head: string, text: string): void {
    this.#frames += `${head}${JSON.stringify(text)},"sequence_number":${this.#sequence++}}\n\n`;
  }

  /** An event that has waited for its number. @param open  of `opening` */
  numbered(open: string): void {
    this.#frames += `${open},"sequence_number":${this.#sequence++}}\n\n`;
  }

  itemDone(index: number, item: Loose): string {
    const json = JSON.stringify(item);
    this.#wrap('response.output_item.done', `"output_index":${index},"item":${json}`);
    return json;
  }

  later(): LaterSink {
    return new KeptEvents(this);
  }

  /** An event of the response itself. @param json  the response */
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
    this.#frames += `event: ${type}\ndata: {"type":"${type}","sequence_number":${this.#sequence++},${fields}}\n\n`;
  }
}

/** The frame of an event, but for its number and its end. */
function opening(type: string, fields: Loose): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...fields }).slice(0, -1)}`;
}

/** One event, or several deltas of one text in a row: they are sent as one. */
interface Kept {
  readonly head: string;
  /** null: the head is the event. */
  text: string | null;
}

class KeptEvents implements LaterSink {
  readonly #writer: EventWriter;
  /** null: the turn of the item has come. */
  #kept: Kept[] | null = [];

  constructor(writer: EventWriter) {
    this.#writer = writer;
  }

  emit(type: string, fields: Loose): void {
    if (this.#kept === null) this.#writer.emit(type, fields);
    else this.#kept.push({ head: opening(type, fields), text: null });
  }

  deltaHead(type: string, fields: Loose): string {
    return this.#writer.deltaHead(type, fields);
  }

  delta(head: string, text: string): void {
    if (this.#kept === null) {
      this.#writer.delta(head, text);
      return;
    }
    const last = this.#kept.at(-1);
    if (last !== undefined && last.text !== null && last.head === head) last.text += text;
    else this.#kept.push({ head, text });
  }

  itemDone(index: number, item: Loose): string {
    return this.#writer.itemDone(index, item);
  }

  later(): LaterSink {
    return this.#writer.later();
  }

  release(): void {
    const kept = this.#kept ?? [];
    this.#kept = null;
    for (const { head, text } of kept) {
      if (text === null) this.#writer.numbered(head);
      else this.#writer.delta(head, text);
    }
  }
}
