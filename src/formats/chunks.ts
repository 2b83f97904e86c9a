import { isObject } from '../base/values.ts';
import { type OutputDelta, outputDeltasOf, outputItemOf, withOutputDeltas } from '../call/output-item.ts';
import type { AssistantMessage, ChatChoice, ChatResult } from '../schema/chat/chat.ts';
import type { ChatChunk, ChunkChoice, ChunkDelta } from '../schema/chat/chunk.ts';
import { type DeltaFolder, deltaFolder, listAppender } from '../schema/chat/message-of-deltas.ts';

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
    // The message was made of items, so it becomes a stream of them. Each part then stands in one delta alone, and a
    // step that takes it out takes out all of it.
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

/** Returns a complete message as one delta. */
export function deltaOf(message: AssistantMessage): ChunkDelta {
  const { content, tool_calls: calls, ...fields } = message;
  const text = Array.isArray(content)
    ? content.map((part) => (isObject(part) && typeof part.text === 'string' ? part.text : '')).join('')
    : (content ?? '');
  return {
    ...fields,
    content: text,
    ...(calls ? { tool_calls: calls.map((call, index) => ({ ...call, index })) } : {}),
  } as ChunkDelta;
}

/** The most deltas that are kept of a choice that is not known to be made of output items. */
const mostBeforeItems = 100;

type Logprobs = NonNullable<NonNullable<ChatChoice['logprobs']>['content']>;

interface OpenChoice {
  choice: ChatChoice;
  said: DeltaFolder;
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
  const append = listAppender();
  let head: ChatChunk | null = null;

  function add(chunk: ChatChunk): void {
    // Some providers say in a later chunk what the response is based on.
    if (head === null) head = chunk;
    else head = withMore(head, chunk);
    for (const choice of chunk.choices) addChoice(choice);
  }

  function addChoice(chunkChoice: ChunkChoice): void {
    const { index, delta, finish_reason, native_finish_reason, logprobs, ...rest } = chunkChoice;
    let entry = open.get(index);
    if (!entry) {
      const said = deltaFolder();
      const unfinished = { finish_reason: null, native_finish_reason: null, logprobs: null };
      entry = { choice: { index, message: said.message(), ...unfinished }, said, deltas: [], hasItems: false };
      open.set(index, entry);
    }
    keepDelta(entry, delta, logprobs?.content);
    entry.said.add(delta);
    const { choice } = entry;
    for (const key in rest) choice[key] = rest[key];
    if (finish_reason !== null) {
      choice.finish_reason = finish_reason;
      choice.native_finish_reason = native_finish_reason ?? null;
    }
    if (logprobs) {
      const known = choice.logprobs;
      choice.logprobs = {
        content: append<Logprobs[number]>(known?.content ?? [], logprobs.content ?? []),
        refusal: logprobs.refusal ? append(known?.refusal ?? [], logprobs.refusal) : (known?.refusal ?? null),
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
      choices: choices.map(({ choice, said, deltas, hasItems }) => {
        const message = said.message();
        return { ...choice, message: hasItems ? withOutputDeltas({ ...message }, deltas) : message };
      }),
    };
  }

  return { add, result };
}

/** The head of a response, with fields that a later chunk adds; the same object where it adds none. */
function withMore(head: ChatChunk, chunk: ChatChunk): ChatChunk {
  let more: ChatChunk | null = null;
  for (const key in chunk) {
    if (key in head) continue;
    more ??= { ...head };
    more[key] = chunk[key];
  }
  return more ?? head;
}

/** Before the first item there may be a role, or what a plugin has put there. */
function keepDelta(entry: OpenChoice, delta: ChunkDelta, logprobs: readonly unknown[] | null | undefined): void {
  const isOfItem = outputItemOf(delta) !== null;
  entry.hasItems ||= isOfItem;
  if (!entry.hasItems && entry.deltas.length >= mostBeforeItems) return;
  if (isOfItem || Object.keys(delta).length > 0) entry.deltas.push({ delta, ...(logprobs ? { logprobs } : {}) });
}
