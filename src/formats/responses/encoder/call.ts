import type { Loose } from '../../../base/values.ts';
import { type InputDecoder, inputDecoder } from './custom-input.ts';
import type { EventSink } from './events.ts';
import { OutputItem } from './item.ts';

/** The function that is called, as the client knows it. */
export interface Called {
  callId: string;
  name: string;
  namespace?: string | undefined;
}

/** A call of a function. Its arguments are the model's text. */
export class FunctionCallItem extends OutputItem {
  readonly #called: Called;
  readonly #head: string;
  #arguments = '';

  constructor(sink: EventSink, index: number, id: string, called: Called) {
    super(sink, index, id);
    this.#called = called;
    this.#head = sink.deltaHead('response.function_call_arguments.delta', this.place);
  }

  add(text: string): void {
    if (text === '') return;
    this.#arguments += text;
    this.sink.delta(this.#head, text);
  }

  protected closeParts(): void {
    this.sink.emit('response.function_call_arguments.done', {
      ...this.place,
      name: this.#called.name,
      arguments: this.#arguments,
    });
  }

  toObject(): Loose {
    const { callId, name, namespace } = this.#called;
    return {
      ...this.extra,
      id: this.id,
      type: 'function_call',
      status: this.status,
      call_id: callId,
      name,
      ...(namespace === undefined ? {} : { namespace }),
      arguments: this.#arguments,
    };
  }
}

/** A call of a custom tool, whose input is free text. */
export class CustomCallItem extends OutputItem {
  readonly #called: Called;
  readonly #head: string;
  readonly #decoder: InputDecoder | null;
  #input = '';

  /** @param isJson  true: the added text is JSON, with the input in it; false: it is the input itself */
  constructor(sink: EventSink, index: number, id: string, called: Called, isJson: boolean) {
    super(sink, index, id);
    this.#called = called;
    this.#head = sink.deltaHead('response.custom_tool_call_input.delta', this.place);
    this.#decoder = isJson ? inputDecoder() : null;
  }

  add(text: string): void {
    this.#more(this.#decoder === null ? text : this.#decoder.push(text));
  }

  #more(input: string): void {
    if (input === '') return;
    this.#input += input;
    this.sink.delta(this.#head, input);
  }

  protected closeParts(): void {
    if (this.#decoder !== null) this.#more(this.#decoder.end());
    this.sink.emit('response.custom_tool_call_input.done', { ...this.place, input: this.#input });
  }

  toObject(): Loose {
    const { callId, name, namespace } = this.#called;
    return {
      ...this.extra,
      id: this.id,
      type: 'custom_tool_call',
      status: this.status,
      call_id: callId,
      name,
      ...(namespace === undefined ? {} : { namespace }),
      input: this.#input,
    };
  }
}
