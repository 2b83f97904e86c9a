import { isObject, type Loose } from '../../base/values.ts';
import type { ChunkDelta } from '../../schema/chat/chunk.ts';
import { argumentsText, badResponse, type ToolCallIds } from '../shared/values.ts';

/** The tool calls of one response. Each method returns the additions for the client. */
export interface StreamedCalls {
  start(position: number, call: Loose): ChunkDelta[];
  add(position: number, call: Loose): ChunkDelta[];
  end(position: number): ChunkDelta[];
  /** Ends the calls that the provider has not ended. */
  endAll(): ChunkDelta[];
  /** true: the tool that stands for structured output was called. */
  hasOutput(): boolean;
  /** Returns the number of other calls. */
  count(): number;
}

interface Call {
  /** The index for the client; null: the arguments are the content. */
  index: number | null;
  /** The text that the client does not have yet: a beginning of `null`. */
  held: string;
  /** true: the client has some of the arguments. */
  hasBegun: boolean;
  hasEnded: boolean;
}

/** The arguments that Cohere writes for a tool without parameters, if it writes any; clients expect an object. */
const nothing = 'null';

/** The most characters of white space that are held back; nobody writes more. */
const mostHeld = 64;

/**
 * @param ids         the ids that the provider gave
 * @param outputTool  name of the tool whose arguments are the content
 */
export function streamedCalls(ids: ToolCallIds, outputTool: string | undefined): StreamedCalls {
  const calls = new Map<number, Call>();
  let count = 0;
  let hasOutput = false;

  function start(position: number, raw: Loose): ChunkDelta[] {
    const called = functionOf(raw);
    if (calls.has(position)) return add(position, raw);
    if (typeof called.name !== 'string' || called.name === '')
      throw badResponse('The provider sent a tool call that names no function.');
    const isOutput = called.name === outputTool && !hasOutput;
    const call: Call = { index: isOutput ? null : count, held: '', hasBegun: false, hasEnded: false };
    calls.set(position, call);
    if (isOutput) {
      hasOutput = true;
      return argumentsDelta(call, argumentsText(called.arguments));
    }
    const index = count++;
    const id = ids.take(raw.id) ?? ids.make(index);
    const text = released(call, argumentsText(called.arguments)) ?? '';
    return [{ tool_calls: [{ index, id, type: 'function', function: { name: called.name, arguments: text } }] }];
  }

  function add(position: number, raw: Loose): ChunkDelta[] {
    const call = calls.get(position);
    if (!call) throw badResponse('The provider sent a part of a tool call that has not begun.');
    if (call.hasEnded) throw badResponse('The provider sent a part of a tool call that has ended.');
    return argumentsDelta(call, argumentsText(functionOf(raw).arguments));
  }

  function end(position: number): ChunkDelta[] {
    const call = calls.get(position);
    return call ? endCall(call) : [];
  }

  return {
    start,
    add,
    end,
    endAll() {
      const deltas = [...calls.values()].flatMap(endCall);
      // A stream may say many times that it ends.
      calls.clear();
      return deltas;
    },
    hasOutput: () => hasOutput,
    count: () => count,
  };
}

function endCall(call: Call): ChunkDelta[] {
  if (call.hasEnded) return [];
  call.hasEnded = true;
  if (call.hasBegun) return [];
  const text = call.held.trim();
  return deltaOf(call, text === '' || text === nothing ? '{}' : call.held);
}

function argumentsDelta(call: Call, text: string): ChunkDelta[] {
  const now = released(call, text);
  return now === null ? [] : deltaOf(call, now);
}

/** Holds text back that may become `null`: four letters, with white space before and behind them. */
function released(call: Call, text: string): string | null {
  if (call.hasBegun) return text === '' ? null : text;
  call.held += text;
  const begun = call.held.trim();
  if (nothing.startsWith(begun) && call.held.length <= mostHeld) return null;
  call.hasBegun = true;
  const { held } = call;
  call.held = '';
  return held;
}

function deltaOf({ index }: Call, text: string): ChunkDelta[] {
  return [index === null ? { content: text } : { tool_calls: [{ index, function: { arguments: text } }] }];
}

function functionOf(raw: Loose): Loose {
  return isObject(raw.function) ? raw.function : {};
}
