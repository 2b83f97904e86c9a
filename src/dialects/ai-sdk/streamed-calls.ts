import type { Loose } from '../../base/values.ts';
import type { ChunkDelta } from '../../schema/chat/chunk.ts';
import { argumentsText, badResponse, type ToolCallIds } from '../shared/values.ts';
import { callNotesDetail, type Metadata } from './metadata.ts';

/** The tool calls of one response. Each method returns the deltas for the client. */
export interface StreamedCalls {
  /** Begins a call whose arguments will come in pieces. */
  start(event: Loose): ChunkDelta[];
  /** Adds a piece of the arguments. */
  add(event: Loose): ChunkDelta[];
  /** Takes a complete call, which may have come in pieces before. */
  complete(event: Loose, notes: Metadata | null): ChunkDelta[];
  /** Gives arguments to calls that have none. */
  endAll(): ChunkDelta[];
  /** Returns the number of calls that the client has to answer. */
  count(): number;
}

interface Call {
  index: number;
  id: string;
  /** true: the client has some of the arguments. */
  hasBegun: boolean;
  /** true: the pieces are no JSON; the complete call has them as JSON. */
  isText: boolean;
  /** true: a further event under the same id is another call. */
  isComplete: boolean;
}

/** @param nextDetail  returns the number of the next reasoning detail, in which the notes on calls are */
export function streamedCalls(ids: ToolCallIds, nextDetail: () => number): StreamedCalls {
  /** The calls, by the model's id. null: the provider answers the call itself, and the client does not see it. */
  const calls = new Map<unknown, Call | null>();
  let count = 0;

  function begin(given: unknown, name: unknown, isText: boolean, text = ''): { call: Call; deltas: ChunkDelta[] } {
    if (typeof name !== 'string' || name === '') throw badResponse('The model called a tool without a name.');
    const index = count++;
    const id = ids.take(given) ?? ids.make(index);
    const call: Call = { index, id, hasBegun: text !== '', isText, isComplete: false };
    calls.set(given, call);
    return { call, deltas: [{ tool_calls: [{ index, id, type: 'function', function: { name, arguments: text } }] }] };
  }

  function start({ id, toolName, providerExecuted, inputEncoding }: Loose): ChunkDelta[] {
    if (isOpen(calls.get(id))) return [];
    if (providerExecuted !== true) return begin(id, toolName, inputEncoding === 'text').deltas;
    calls.set(id, null);
    return [];
  }

  function add({ id, delta }: Loose): ChunkDelta[] {
    const call = calls.get(id);
    if (call === undefined) throw badResponse('The model gave a part of a tool call that has not begun.');
    if (call === null || call.isText || typeof delta !== 'string' || delta === '') return [];
    call.hasBegun = true;
    return more(call, delta);
  }

  function complete(event: Loose, notes: Metadata | null): ChunkDelta[] {
    const { toolCallId, toolName, input, providerExecuted } = event;
    const known = calls.get(toolCallId);
    if (known === null || providerExecuted === true) {
      calls.set(toolCallId, null);
      return [];
    }
    const text = argumentsText(input) || '{}';
    const { call, deltas } =
      known !== undefined && isOpen(known)
        ? { call: known, deltas: rest(known, text) }
        : begin(toolCallId, toolName, false, text);
    call.isComplete = true;
    if (notes !== null) deltas.push({ reasoning_details: [callNotesDetail(call.id, notes, nextDetail())] });
    return deltas;
  }

  /** Returns the rest of the arguments; where pieces came, there is none. */
  function rest(call: Call, text: string): ChunkDelta[] {
    if (call.hasBegun) return [];
    call.hasBegun = true;
    return more(call, text);
  }

  return {
    start,
    add,
    complete,
    endAll: () => [...calls.values()].flatMap((call) => (call === null ? [] : rest(call, '{}'))),
    count: () => count,
  };
}

function isOpen(call: Call | null | undefined): boolean {
  return call === null || call?.isComplete === false;
}

function more({ index }: Call, text: string): ChunkDelta[] {
  return [{ tool_calls: [{ index, function: { arguments: text } }] }];
}
