import { type OutputDelta, outputDeltasOf, outputItemOf, withOutputDeltas } from '../call/output-item.ts';
import type { ChatChoice, ChatResult } from '../schema/chat.ts';
import type { ChatChunk, ChunkChoice, ChunkDelta, ChunkToolCall } from '../schema/chunk.ts';

/** Turns a complete response into chunks, for an upstream that sent JSON although a stream was requested. */
export function toChunks(result: ChatResult): ChatChunk[] {
  const { choices, object: _object, usage: _usage, system_fingerprint: fingerprint, ...head } = result;
  const start = {
    ...head,
    object: 'chat.completion.chunk' as const,
    ...(fingerprint === null ? {} : { system_fingerprint: fingerprint }),
  };
  const chunks: ChatChunk[] = [];
  for (const choice of choices) {
    const { message, finish_reason, native_finish_reason, index, logprobs, ...rest } = choice;
    const items = outputDeltasOf(message);
    // Made of items, as a stream of them: what a step takes out of a delta, no other place has.
    if (items !== null) {
      for (const { delta, logprobs: content = null } of items) {
        const own = content === null ? {} : { logprobs: { content, refusal: null } as typeof logprobs };
        chunks.push({ ...start, choices: [{ ...rest, index, delta, finish_reason: null, ...own }] });
      }
    } else {
      const { tool_calls: toolCalls, refusal, ...fields } = message;
      const delta = {
        ...fields,
        ...(refusal ? { refusal } : {}),
        ...(toolCalls ? { tool_calls: toolCalls.map((call, at) => ({ index: at, ...call })) } : {}),
      } as ChunkChoice['delta'];
      chunks.push({
        ...start,
        choices: [{ ...rest, index, delta, finish_reason: null, ...(logprobs ? { logprobs } : {}) }],
      });
    }
    chunks.push({ ...start, choices: [{ index, delta: {}, finish_reason, native_finish_reason }] });
  }
  return chunks;
}

/** How many deltas are kept of a choice that is not known to be made of output items. */
const mostBeforeItems = 100;

type Logprobs = NonNullable<NonNullable<ChatChoice['logprobs']>['content']>;

interface OpenChoice {
  choice: ChatChoice;
  tools: Map<
    number,
    { id: string; type: 'function'; function: { name: string; arguments: string }; [field: string]: unknown }
  >;
  /** All deltas, where one of them is a part of an output item. */
  deltas: OutputDelta[];
  hasItems: boolean;
}

/** Joins the chunks of a stream into a complete response, for a client that requested JSON. */
export interface ChunkFolder {
  add(chunk: ChatChunk): void;
  /** The response so far; null before the first chunk. */
  result(): ChatResult | null;
}

export function chunkFolder(): ChunkFolder {
  const open = new Map<number, OpenChoice>();
  /** Lists that were made here. Others are of a chunk, which stays as it is. */
  const own = new WeakSet<unknown[]>();
  let head: ChatChunk | null = null;

  /** Adds to one list, and copies it once: a stream may have as many pieces as its upstream likes. */
  function appended(before: unknown[], after: readonly unknown[]): unknown[] {
    const list = own.has(before) ? before : [...before];
    own.add(list);
    for (const one of after) list.push(one);
    return list;
  }

  /** Appends strings, lists and audio; replaces any other value. */
  function joined(before: unknown, after: unknown): unknown {
    if (after === null || after === undefined) return before;
    if (typeof before === 'string' && typeof after === 'string') return before + after;
    if (Array.isArray(before) && Array.isArray(after)) return appended(before, after);
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

  function add(chunk: ChatChunk): void {
    head ??= chunk;
    for (const choice of chunk.choices) addChoice(choice);
  }

  function addChoice(chunkChoice: ChunkChoice): void {
    const { index, delta, finish_reason, native_finish_reason, logprobs, ...rest } = chunkChoice;
    let entry = open.get(index);
    if (!entry) {
      const choice: ChatChoice = {
        index,
        message: { role: 'assistant', content: null, refusal: null },
        finish_reason: null,
        native_finish_reason: null,
        logprobs: null,
      };
      entry = { choice, tools: new Map(), deltas: [], hasItems: false };
      open.set(index, entry);
    }
    keepDelta(entry, delta, logprobs?.content);
    const { choice } = entry;
    for (const key in rest) choice[key] = rest[key];
    const message = choice.message as Record<string, unknown>;
    const { tool_calls: toolCalls, role: _role, ...fields } = delta;
    for (const key in fields) message[key] = joined(message[key], fields[key]);
    for (const call of toolCalls ?? []) addToolCall(entry, call);
    if (finish_reason !== null) {
      choice.finish_reason = finish_reason;
      choice.native_finish_reason = native_finish_reason ?? null;
    }
    if (logprobs) {
      choice.logprobs = {
        content: appended(choice.logprobs?.content ?? [], logprobs.content ?? []) as Logprobs,
        refusal: logprobs.refusal
          ? (appended(choice.logprobs?.refusal ?? [], logprobs.refusal) as Logprobs)
          : (choice.logprobs?.refusal ?? null),
      };
    }
  }

  function result(): ChatResult | null {
    if (!head) return null;
    const { choices: _choices, object: _object, system_fingerprint: fingerprint, ...rest } = head;
    const choices = [...open.values()].sort((a, b) => a.choice.index - b.choice.index);
    return {
      ...rest,
      object: 'chat.completion',
      system_fingerprint: fingerprint ?? null,
      choices: choices.map(({ choice, tools, deltas, hasItems }) => {
        if (tools.size === 0 && !hasItems) return choice;
        const calls = [...tools].sort(([a], [b]) => a - b).map(([, call]) => call);
        const message = calls.length === 0 ? { ...choice.message } : { ...choice.message, tool_calls: calls };
        return { ...choice, message: hasItems ? withOutputDeltas(message, deltas) : message };
      }),
    };
  }

  return { add, result };
}

/** Before the first item there may be a role, or what a plugin has put there. */
function keepDelta(entry: OpenChoice, delta: ChunkDelta, logprobs: readonly unknown[] | null | undefined): void {
  const isOfItem = outputItemOf(delta) !== null;
  entry.hasItems ||= isOfItem;
  if (!entry.hasItems && entry.deltas.length >= mostBeforeItems) return;
  if (isOfItem || Object.keys(delta).length > 0) entry.deltas.push({ delta, ...(logprobs ? { logprobs } : {}) });
}

function addToolCall(entry: OpenChoice, delta: ChunkToolCall): void {
  let call = entry.tools.get(delta.index);
  if (!call) {
    const { index, id = `call_${index}`, type: _type, function: _function, ...rest } = delta;
    call = { ...rest, id, type: 'function', function: { name: '', arguments: '' } };
    entry.tools.set(delta.index, call);
  } else if (delta.id) call.id = delta.id;
  if (delta.function?.name) call.function.name += delta.function.name;
  if (delta.function?.arguments) call.function.arguments += delta.function.arguments;
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
