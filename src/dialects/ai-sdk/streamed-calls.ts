import type { Loose } from '../../base/values.ts';
import { argumentsText, badResponse, toolCallIds } from '../shared/values.ts';
import { callNotesDetail, type Metadata } from './metadata.ts';

/** Tool calls of one stream. Each method returns the delta for the client; null: there is nothing to say. */
export interface StreamedCalls {
  /** A call whose arguments will come in pieces. */
  start(event: Loose): Loose | null;
  /** More of the arguments. */
  add(event: Loose): Loose | null;
  /** A complete call, which may have come in pieces before. */
  complete(event: Loose, notes: Metadata | null): Loose | null;
  /** Gives arguments to calls that have none. */
  endAll(): Loose[];
  /** How many calls the client has to answer. */
  count(): number;
}

interface Call {
  index: number;
  id: string;
  /** true: the client has some of the arguments. */
  hasBegun: boolean;
  /** true: the pieces are no JSON; the complete call has them as JSON. */
  isText: boolean;
}

/** @param nextDetail  numbers reasoning details, in which the notes on calls are */
export function streamedCalls(nextDetail: () => number): StreamedCalls {
  /** By the model's id. null: the provider answers the call itself, which is none of the client's business. */
  const calls = new Map<unknown, Call | null>();
  const ids = toolCallIds();
  let count = 0;

  function begin(given: unknown, name: unknown, text: string, isText: boolean): { call: Call; delta: Loose } {
    if (typeof name !== 'string' || name === '') throw badResponse('The model called a tool without a name.');
    const call: Call = { index: count, id: ids.take(given) ?? ids.make(count), hasBegun: text !== '', isText };
    count++;
    calls.set(given, call);
    return {
      call,
      delta: {
        tool_calls: [{ index: call.index, id: call.id, type: 'function', function: { name, arguments: text } }],
      },
    };
  }

  function start({ id, toolName, providerExecuted, inputEncoding }: Loose): Loose | null {
    if (calls.has(id)) return null;
    if (providerExecuted !== true) return begin(id, toolName, '', inputEncoding === 'text').delta;
    calls.set(id, null);
    return null;
  }

  function add({ id, delta }: Loose): Loose | null {
    const call = calls.get(id);
    if (call === undefined) throw badResponse('The model gave a part of a tool call that has not begun.');
    if (call === null || call.isText || typeof delta !== 'string' || delta === '') return null;
    call.hasBegun = true;
    return more(call, delta);
  }

  function complete(event: Loose, notes: Metadata | null): Loose | null {
    const { toolCallId, toolName, input, providerExecuted } = event;
    const known = calls.get(toolCallId);
    if (known === null || providerExecuted === true) {
      calls.set(toolCallId, null);
      return null;
    }
    const text = argumentsText(input) || '{}';
    const { call, delta } =
      known === undefined ? begin(toolCallId, toolName, text, false) : { call: known, delta: rest(known, text) };
    if (notes === null) return delta;
    return { ...delta, reasoning_details: [callNotesDetail(call.id, notes, nextDetail())] };
  }

  /** Where pieces came, they were all of it. */
  function rest(call: Call, text: string): Loose | null {
    if (call.hasBegun) return null;
    call.hasBegun = true;
    return more(call, text);
  }

  return {
    start,
    add,
    complete,
    endAll: () =>
      [...calls.values()].map((call) => (call === null ? null : rest(call, '{}'))).filter((delta) => delta !== null),
    count: () => count,
  };
}

function more({ index }: Call, text: string): Loose {
  return { tool_calls: [{ index, function: { arguments: text } }] };
}
