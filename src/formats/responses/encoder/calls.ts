import type { Loose } from '../../../base/values.ts';
import type { CallForm } from '../../../call/native.ts';
import type { ChunkToolCall } from '../../../schema/chat/chunk.ts';
import { CustomCallItem, FunctionCallItem } from './call.ts';
import type { EventSink } from './events.ts';
import type { ItemIds } from './ids.ts';
import type { OutputItem } from './item.ts';
import { argumentsObject, shellAction, WholeItem } from './whole-item.ts';

/** Puts an item at the end of the output, and announces it. */
export type PlaceItem = <Item extends OutputItem>(make: (index: number) => Item) => Item;

/** A call while its fragments come. */
interface OpenCall {
  readonly position: number;
  id: string | null;
  name: string;
  /** true: arguments have begun, if only with an empty text, so the name is complete. */
  hasArguments: boolean;
  /** Arguments that came before the call could be announced. */
  held: string;
  item: FunctionCallItem | CustomCallItem | null;
  isPlaced: boolean;
}

/**
 * The calls of a chat response. Fragments are told apart by `index`, and may come in turns. A call is announced when
 * its id and its name are known: the name, as soon as arguments follow it.
 */
export class OpenCalls {
  readonly #calls = new Map<number, OpenCall>();
  /** The calls that have begun, are not announced, and that nothing has followed yet. */
  #waiting: OpenCall[] = [];
  #latest: OpenCall | null = null;
  readonly #forms: ReadonlyMap<string, CallForm>;
  readonly #ids: ItemIds;
  readonly #sink: EventSink;
  readonly #place: PlaceItem;

  constructor(forms: ReadonlyMap<string, CallForm>, ids: ItemIds, sink: EventSink, place: PlaceItem) {
    this.#forms = forms;
    this.#ids = ids;
    this.#sink = sink;
    this.#place = place;
  }

  /** @returns the item that the fragment is a part of; null: it is not announced yet */
  add({ index, id, function: called }: ChunkToolCall): OutputItem | null {
    const call = this.#callAt(index);
    this.#latest = call;
    if (call.isPlaced) {
      call.item?.add(called?.arguments ?? '');
      return call.item;
    }
    if (id) call.id = id;
    // Some servers repeat the complete name in each fragment.
    if (called?.name && called.name !== call.name) call.name += called.name;
    if (typeof called?.arguments === 'string') {
      call.hasArguments = true;
      call.held += called.arguments;
    }
    if (call.held !== '' && isNamed(call) && !this.#isWhole(call)) this.#announce(call);
    return call.item;
  }

  #callAt(index: number): OpenCall {
    let call = this.#calls.get(index);
    if (call === undefined) {
      this.settle();
      call = { position: index, id: null, name: '', hasArguments: false, held: '', item: null, isPlaced: false };
      this.#calls.set(index, call);
      this.#waiting.push(call);
    }
    return call;
  }

  /** Announces the calls so far, as far as they are known, because something else begins: so the order is kept. */
  settle(): void {
    if (this.#waiting.length === 0) return;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const call of waiting) {
      if (call.isPlaced || !call.hasArguments || !isNamed(call)) continue;
      if (this.#isWhole(call)) this.#placeWhole(call);
      else this.#announce(call);
    }
  }

  /**
   * Announces the rest: the response is complete.
   * @returns the item of the latest fragment; null: there is none, or it is complete
   */
  finish(): OutputItem | null {
    this.#waiting = [];
    const rest = [...this.#calls.values()].filter(({ isPlaced }) => !isPlaced);
    for (const call of rest.sort((a, b) => a.position - b.position)) if (!this.#placeWhole(call)) this.#announce(call);
    return this.#latest?.item ?? null;
  }

  /** true: only the complete arguments make an item. */
  #isWhole({ name }: OpenCall): boolean {
    const kind = this.#forms.get(name)?.kind;
    return kind === 'local_shell' || kind === 'tool_search';
  }

  #placeWhole(call: OpenCall): boolean {
    const fields = wholeFields(this.#forms.get(call.name), call.held);
    if (fields === null) return false;
    call.isPlaced = true;
    const { id, position } = call;
    this.#place((index) => {
      const whole = { ...fields, call_id: this.#ids.call(id, position) };
      return new WholeItem(this.#sink, index, this.#ids.item(whole.prefix, index), withoutPrefix(whole));
    });
    return true;
  }

  #announce(call: OpenCall): void {
    // This comes first: placing an item announces the calls that wait.
    call.isPlaced = true;
    const form = this.#forms.get(call.name);
    const isFunction = form === undefined || form.kind === 'function';
    const isCustom = form?.kind === 'custom';
    // A call that did not become an item of its form has the name that the model called.
    const name = form !== undefined && (isFunction || isCustom) ? form.name : call.name;
    const called = {
      callId: this.#ids.call(call.id, call.position),
      name,
      namespace: isFunction || isCustom ? form?.namespace : undefined,
    };
    const sink = this.#sink;
    const item: FunctionCallItem | CustomCallItem = isCustom
      ? this.#place((index) => new CustomCallItem(sink, index, this.#ids.item('ctc', index), called, true))
      : this.#place((index) => new FunctionCallItem(sink, index, this.#ids.item('fc', index), called));
    call.item = item;
    const { held } = call;
    call.held = '';
    item.add(held);
  }
}

function isNamed({ id, name }: OpenCall): boolean {
  return id !== null && name !== '';
}

/** @returns null: the call has another form, or its arguments do not fit it */
function wholeFields(form: CallForm | undefined, text: string): (Loose & { prefix: string }) | null {
  if (form?.kind !== 'local_shell' && form?.kind !== 'tool_search') return null;
  const called = argumentsObject(text);
  if (called === null) return null;
  if (form.kind === 'tool_search')
    return { prefix: 'tsc', type: 'tool_search_call', execution: 'client', arguments: called };
  const action = shellAction(called);
  return action === null ? null : { prefix: 'lsh', type: 'local_shell_call', action };
}

function withoutPrefix({ prefix: _prefix, ...fields }: Loose): Loose {
  return fields;
}
