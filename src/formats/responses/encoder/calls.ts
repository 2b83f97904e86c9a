import type { Loose } from '../../../base/values.ts';
import type { CallForm } from '../../../call/native.ts';
import type { ChunkToolCall } from '../../../schema/chat/chunk.ts';
import { CustomCallItem, FunctionCallItem } from './call.ts';
import type { ItemIds } from './ids.ts';
import type { OutputItem } from './item.ts';
import type { Place } from './place.ts';
import { type ArgumentsReader, argumentsReader } from './whole-arguments.ts';
import { argumentsObject, shellAction, WholeItem } from './whole-item.ts';

/** A call while its fragments come. */
interface OpenCall {
  readonly position: number;
  id: string | null;
  name: string;
  /** true: arguments have begun, if only with an empty text, so the name is complete. */
  hasArguments: boolean;
  /** All arguments that came. */
  arguments: string;
  readonly reader: ArgumentsReader;
  /** null: nothing has followed the call, and it is not announced. */
  place: Place | null;
  /** The item that fragments are added to; null: it is not announced, or it is whole. */
  item: FunctionCallItem | CustomCallItem | null;
}

/**
 * The calls of a chat response. Fragments are told apart by `index`, and may come in turns. A call is announced when
 * its id and its name are known: the name, as soon as arguments follow it. Where something else follows it before, its
 * place is kept.
 */
export class OpenCalls {
  readonly #calls = new Map<number, OpenCall>();
  readonly #byPlace = new Map<Place, OpenCall>();
  /** Begun, without a place: nothing has followed it yet. */
  #newest: OpenCall | null = null;
  #latest: OpenCall | null = null;
  readonly #forms: ReadonlyMap<string, CallForm>;
  readonly #ids: ItemIds;
  readonly #nextPlace: () => Place;

  /** @param nextPlace  the place at the end of the output */
  constructor(forms: ReadonlyMap<string, CallForm>, ids: ItemIds, nextPlace: () => Place) {
    this.#forms = forms;
    this.#ids = ids;
    this.#nextPlace = nextPlace;
  }

  /** @returns the item that the fragment is a part of; null: it is not announced yet */
  add({ index, id, function: called }: ChunkToolCall): OutputItem | null {
    const call = this.#callAt(index);
    const text = called?.arguments;
    this.#latest = call;
    // The arguments were complete, and something else has followed them: no more of them can be meant.
    if (call.place?.item?.isOver === true) return call.place.item;
    if (typeof text === 'string') {
      call.hasArguments = true;
      call.arguments += text;
      call.reader.push(text);
    }
    if (call.item !== null) {
      call.item.add(text ?? '');
      return call.item;
    }
    if (id) call.id = id;
    // Some servers repeat the complete name in each fragment.
    if (called?.name && called.name !== call.name) call.name += called.name;
    if (call.arguments !== '' && isNamed(call) && !this.#isWhole(call)) this.#announce(call);
    return call.item;
  }

  #callAt(index: number): OpenCall {
    const known = this.#calls.get(index);
    if (known !== undefined) return known;
    this.settle();
    const call: OpenCall = {
      position: index,
      id: null,
      name: '',
      hasArguments: false,
      arguments: '',
      reader: argumentsReader(),
      place: null,
      item: null,
    };
    this.#calls.set(index, call);
    this.#newest = call;
    return call;
  }

  /** Something else begins: the call before it takes its place, so that the order is kept. */
  settle(): void {
    const call = this.#newest;
    if (call === null) return;
    this.#placeOf(call);
    if (call.hasArguments && isNamed(call) && !this.#isWhole(call)) this.#announce(call);
  }

  /**
   * Ends the call at a place if its arguments are complete, so that what waits behind it may follow.
   * @returns false: more of it may come, or there is no call
   */
  end(place: Place): boolean {
    const call = this.#byPlace.get(place);
    if (call === undefined || !call.reader.isWhole(call.arguments) || !isNamed(call)) return false;
    this.#complete(call).isOver = true;
    return true;
  }

  /** Tells whether the arguments of the call at a place are cut off. */
  isCut(place: Place): boolean {
    const call = this.#byPlace.get(place);
    return call !== undefined && call.arguments !== '' && call.reader.isOpen();
  }

  /**
   * Announces the rest: the response is complete.
   * @returns the item of the latest fragment; null: there is none, or it is complete
   */
  finish(): OutputItem | null {
    this.settle();
    for (const call of this.#byPlace.values()) this.#complete(call);
    return this.#latest?.item ?? null;
  }

  #placeOf(call: OpenCall): Place {
    if (call.place !== null) return call.place;
    this.#newest = null;
    call.place = this.#nextPlace();
    this.#byPlace.set(call.place, call);
    return call.place;
  }

  /** Tells whether only the complete arguments make an item. */
  #isWhole({ name }: OpenCall): boolean {
    const kind = this.#forms.get(name)?.kind;
    return kind === 'local_shell' || kind === 'tool_search';
  }

  /** Announces a call of which no more comes. */
  #complete(call: OpenCall): OutputItem {
    return this.#placeOf(call).item ?? this.#putWhole(call) ?? this.#announce(call);
  }

  #putWhole(call: OpenCall): OutputItem | null {
    const fields = wholeFields(this.#forms.get(call.name), call.arguments);
    if (fields === null) return null;
    const place = this.#placeOf(call);
    const { prefix, ...rest } = fields;
    const whole = { ...rest, call_id: this.#ids.call(call.id, call.position) };
    return place.put(new WholeItem(place.sink, place.index, this.#ids.item(prefix, place.index), whole));
  }

  #announce(call: OpenCall): OutputItem {
    // First of all: it ends what was before.
    const place = this.#placeOf(call);
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
    const { sink, index } = place;
    const item: FunctionCallItem | CustomCallItem = isCustom
      ? new CustomCallItem(sink, index, this.#ids.item('ctc', index), called, true)
      : new FunctionCallItem(sink, index, this.#ids.item('fc', index), called);
    call.item = place.put(item);
    item.add(call.arguments);
    return item;
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
