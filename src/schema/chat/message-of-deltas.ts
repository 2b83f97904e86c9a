import type { ChunkDelta, ChunkToolCall } from './chunk.ts';
import type { AssistantMessage } from './message.ts';

/** Joins the deltas of one choice to its message. */
export interface DeltaFolder {
  /** Takes in a delta, which is not changed. */
  add(delta: ChunkDelta): void;
  /** The message so far. Before the first delta it says nothing. */
  message(): AssistantMessage;
}

/** The message that the deltas of one choice add up to. */
export function messageOf(deltas: Iterable<ChunkDelta>): AssistantMessage {
  const folder = deltaFolder();
  for (const delta of deltas) folder.add(delta);
  return folder.message();
}

/** Joins texts, lists, sound and fragments of tool calls; of any other field, the last value counts. */
export function deltaFolder(): DeltaFolder {
  const message: AssistantMessage = { role: 'assistant', content: null, refusal: null };
  const calls = new Map<number, OpenCall>();
  const append = listAppender();

  function joined(before: unknown, after: unknown): unknown {
    if (after === null || after === undefined) return before;
    if (typeof before === 'string' && typeof after === 'string') return before + after;
    if (Array.isArray(before) && Array.isArray(after)) return append(before, after);
    if (isFunction(before) && isFunction(after)) {
      return {
        ...before,
        ...after,
        name: (before.name ?? '') + (after.name ?? ''),
        arguments: (before.arguments ?? '') + (after.arguments ?? ''),
      };
    }
    if (isAudio(before) && isAudio(after)) {
      return {
        ...before,
        ...after,
        data: (before.data ?? '') + (after.data ?? ''),
        transcript: (before.transcript ?? '') + (after.transcript ?? ''),
      };
    }
    return after;
  }

  return {
    add(delta) {
      const { tool_calls: fragments, role: _role, ...fields } = delta;
      const known = message as Record<string, unknown>;
      for (const key in fields) known[key] = joined(known[key], fields[key]);
      for (const fragment of fragments ?? []) addToolCall(calls, fragment);
    },
    message() {
      if (calls.size === 0) return message;
      return { ...message, tool_calls: [...calls].sort(([a], [b]) => a - b).map(([, call]) => call) };
    },
  };
}

/**
 * Appends to lists that belong to others. Each is copied once, however much is appended: a stream may have as many
 * pieces as its upstream likes.
 */
export function listAppender(): <Item>(before: readonly Item[], after: readonly Item[]) => Item[] {
  /** Lists that were made here. */
  const own = new WeakSet<readonly unknown[]>();
  return <Item>(before: readonly Item[], after: readonly Item[]) => {
    const list = own.has(before) ? (before as Item[]) : [...before];
    own.add(list);
    for (const one of after) list.push(one);
    return list;
  };
}

interface OpenCall {
  id: string;
  type: 'function';
  function: { name: string; arguments: string; [field: string]: unknown };
  [field: string]: unknown;
}

function addToolCall(calls: Map<number, OpenCall>, fragment: ChunkToolCall): void {
  const { index, id, type: _type, function: called, ...rest } = fragment;
  let call = calls.get(index);
  if (!call) {
    call = { id: id ?? `call_${index}`, type: 'function', function: { name: '', arguments: '' } };
    calls.set(index, call);
  } else if (id) call.id = id;
  for (const key in rest) call[key] = rest[key];
  for (const key in called) {
    const value = called[key];
    if (key !== 'name' && key !== 'arguments') call.function[key] = value;
    else if (typeof value === 'string') call.function[key] += value;
  }
}

/** Audio arrives in fragments of base64 and of the transcript. */
function isAudio(value: unknown): value is { data?: string; transcript?: string } {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    ('data' in value || 'transcript' in value || 'id' in value)
  );
}

/** The older form of a call, in `function_call`. */
function isFunction(value: unknown): value is { name?: string; arguments?: string } {
  return typeof value === 'object' && value !== null && 'arguments' in value && typeof value.arguments === 'string';
}
