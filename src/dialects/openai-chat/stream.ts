import { UpstreamError } from '../../base/http/upstream-error.ts';
import { cleanText } from '../../base/text/clean-text.ts';
import { addFields, isIndex, isObject, type Loose, without } from '../../base/values.ts';
import type { ChatChunk, ChunkChoice } from '../../schema/chat/chunk.ts';
import type { Reading, StreamDecoder, StreamPart, ThoughtFieldMemory } from '../dialect.ts';
import { eventObject } from '../shared/response/event-object.ts';
import { isNoBetter } from '../shared/response/finish-reasons.ts';
import { badResponse, brokenOff, ours, type ToolCallIds, toolCallIds } from '../shared/values.ts';
import { errorIn } from './errors.ts';
import { saidIn, sawThought } from './fields.ts';
import { finishReasonOf, nativeReason } from './finish-reason.ts';
import type { ChatQuirks } from './quirks.ts';
import { decodeLogprobs } from './shapes.ts';
import { type StreamedCalls, streamedCalls } from './streamed-calls.ts';
import { usageIn } from './usage.ts';

interface ChoiceState {
  /** null: no call has come. */
  calls: StreamedCalls | null;
  /** A delta has said who speaks. */
  hasBegun: boolean;
  /** A delta has come: a message beside or behind deltas repeats them. */
  hasDeltas: boolean;
  /** A call stands in the older field `function_call`. */
  hasOlderCall: boolean;
  /** The reason why it ended, and the fields of its last chunk; null: it has not ended. */
  end: End | null;
  isFinished: boolean;
}

interface End {
  native: string | null;
  choice: Loose;
}

/** Fields that chunks do not get. Usage comes as a part of its own. */
const notOfChunks = [...ours, 'usage', 'x_groq'];
const notOfChoices = [
  'index',
  'delta',
  'message',
  'usage',
  'finish_reason',
  'native_finish_reason',
  'logprobs',
  'error',
];

/**
 * Makes a reader of a stream of chat chunks: it brings what servers do differently into one form, and takes usage out
 * wherever it is put. The last chunk of a choice waits for the end of the stream: some servers send a `finish_reason`
 * several times, and text behind it.
 */
export function streamDecoder(quirks: ChatQuirks, { thoughtField }: Reading = {}): StreamDecoder {
  const decoder = new ChatStreamDecoder(quirks, thoughtField);
  // Dialects that are made of this one take its functions out of the object.
  return { decode: (data, name) => decoder.decode(data, name), end: () => decoder.end() };
}

/** A class, whose parts are made when they are needed: it lives as long as its stream, and most have no calls. */
class ChatStreamDecoder {
  readonly #quirks: ChatQuirks;
  readonly #thoughtField: ThoughtFieldMemory | undefined;
  readonly #states = new Map<number, ChoiceState>();
  #ids: ToolCallIds | null = null;
  /** The error with which the provider has broken off a choice. */
  #broken: UpstreamError | null = null;
  #hasNotedThought = false;
  /** The fields beside the choices of all events in which one has ended; null: none has. */
  #headOfEnds: Loose | null = null;

  constructor(quirks: ChatQuirks, thoughtField: ThoughtFieldMemory | undefined) {
    this.#quirks = quirks;
    this.#thoughtField = thoughtField;
  }

  decode(data: string, name = ''): StreamPart[] {
    if (data.length < 20 && data.trim() === '[DONE]') return [...this.#lastParts(), { kind: 'done' }];
    if (name === 'error') return [{ kind: 'error', error: errorEvent(data) }];
    const event = eventObject(data);
    const error = errorIn(event);
    const parts: StreamPart[] = [];
    const choices = Array.isArray(event.choices) ? event.choices.filter(isObject) : [];
    if (choices.length > 0) this.#readChoices(event, choices, parts);
    const usage = usageIn(event, choices);
    if (usage) parts.push({ kind: 'usage', usage });
    const reported = error ?? this.#broken;
    // An error beside choices concerns their content. After the response it may only concern the end of the stream.
    if (reported) parts.push({ kind: 'error', error: reported, ...(choices.length > 0 ? { isReported: true } : {}) });
    return parts;
  }

  end(): StreamPart[] {
    const choices: ChunkChoice[] = [];
    for (const state of this.#states.values()) {
      if (state.end === null || state.isFinished) continue;
      if (state.calls?.hasNameless() === true) {
        const error = badResponse('The provider sent a tool call that names no function.');
        return [...this.#lastChunks(choices), { kind: 'error', error, isReported: true }];
      }
      const { native, choice } = state.end;
      state.isFinished = true;
      const reason = reasonOf(native ?? 'stop', state);
      // Where a limit broke off a call, its arguments are not complete.
      const calls = state.calls?.complete(reason === 'tool_calls') ?? [];
      choices.push({
        ...choice,
        delta: calls.length > 0 ? { tool_calls: calls } : {},
        finish_reason: reason,
        native_finish_reason: native,
      } as unknown as ChunkChoice);
    }
    return this.#lastChunks(choices);
  }

  #readChoices(event: Loose, raws: readonly Loose[], parts: StreamPart[]): void {
    const head = headOf(event);
    const choices: Loose[] = [];
    const ended: number[] = [];
    for (const [position, raw] of raws.entries()) {
      const index = isIndex(raw.index) ? raw.index : position;
      const state = this.#states.get(index) ?? newState();
      this.#states.set(index, state);
      const choice = this.#decodeChoice(raw, index, state);
      const native = nativeReason(raw.finish_reason);
      const isLast = native !== null && this.#noteEnd(native, choice, state);
      if (isLast) ended.push(index);
      // What the event says beside its end has its place in the last chunk, where it says nothing else.
      if (!isLast || saysSomething(choice)) choices.push(choice);
    }
    if (choices.length > 0) parts.push({ kind: 'chunk', chunk: { ...head, choices } as unknown as ChatChunk });
    if (ended.length > 0) {
      this.#headOfEnds ??= {};
      addFields(this.#headOfEnds, head);
    }
    for (const index of ended) parts.push({ kind: 'finished', index });
  }

  #decodeChoice(raw: Loose, index: number, state: ChoiceState): Loose {
    if (raw.error !== undefined && raw.error !== null) this.#broken ??= errorIn({ error: raw.error });
    const { delta: given, message } = raw;
    const said = isObject(given) ? given : isObject(message) && !state.hasDeltas ? message : {};
    const delta = this.#decodeDelta(said, state);
    if (!this.#hasNotedThought && this.#thoughtField !== undefined)
      this.#hasNotedThought = noteThought(delta, given, message, this.#thoughtField);
    state.hasDeltas ||= isObject(given);
    const choice: Loose = { ...without(notOfChoices, raw), index, delta, finish_reason: null };
    const probabilities = decodeLogprobs(raw.logprobs);
    if (probabilities) choice.logprobs = probabilities;
    return choice;
  }

  #decodeDelta(raw: Loose, state: ChoiceState): Loose {
    const delta = saidIn(raw);
    // The first delta of a choice says who speaks. Clients fail where none does, and some join what is said again.
    if (!state.hasBegun) delta.role = 'assistant';
    state.hasBegun = true;
    if (isObject(delta.function_call)) state.hasOlderCall = true;
    if (Array.isArray(raw.tool_calls) && raw.tool_calls.length > 0) {
      this.#ids ??= toolCallIds();
      state.calls ??= streamedCalls(this.#ids);
      const calls = state.calls.read(raw.tool_calls);
      if (calls.length > 0) delta.tool_calls = calls;
    }
    return delta;
  }

  /** @returns false: the provider has broken off the choice */
  #noteEnd(native: string, choice: Loose, state: ChoiceState): boolean {
    const reason = reasonOf(native, state);
    if (reason === 'error') {
      this.#broken ??= brokenOff(native);
      return false;
    }
    const known = state.end;
    // Of several, the one that says most of what is missing counts.
    const counts = known === null || isNoBetter(reason, reasonOf(known.native ?? 'stop', state));
    const { delta: _delta, logprobs: _logprobs, ...others } = choice;
    const rest = saysSomething(choice) ? { index: choice.index } : others;
    if (known === null) state.end = { native, choice: rest };
    else {
      if (counts) known.native = native;
      // In place: a copy for each of thousands of ends would cost the square of their number.
      addFields(known.choice, rest);
    }
    return true;
  }

  /** The last chunks, at a sentinel. */
  #lastParts(): StreamPart[] {
    if (this.#quirks.finishesWithoutReason === true)
      for (const [index, state] of this.#states)
        if (!state.isFinished) state.end ??= { native: null, choice: { index } };
    return this.end();
  }

  /** One chunk for all: the fields beside them may be as many as they are. */
  #lastChunks(choices: readonly ChunkChoice[]): StreamPart[] {
    if (choices.length === 0) return [];
    return [{ kind: 'chunk', chunk: { ...headOf({}), ...this.#headOfEnds, choices } as unknown as ChatChunk }];
  }
}

function newState(): ChoiceState {
  return { calls: null, hasBegun: false, hasDeltas: false, hasOlderCall: false, end: null, isFinished: false };
}

function reasonOf(native: string, { calls, hasOlderCall }: ChoiceState) {
  return finishReasonOf(native, (calls?.size ?? 0) > 0 || hasOlderCall, calls?.isMidCall() === true);
}

/** Returns the fields of a chunk beside its choices. */
function headOf(event: Loose): Loose {
  const head: Loose = {
    ...without(notOfChunks, event),
    id: '',
    object: 'chat.completion.chunk',
    created: Number.isSafeInteger(event.created) ? event.created : 0,
    model: '',
  };
  if (typeof event.system_fingerprint !== 'string') delete head.system_fingerprint;
  if (typeof event.service_tier !== 'string') delete head.service_tier;
  return head;
}

function saysSomething({ delta, logprobs }: Loose): boolean {
  for (const _ in delta as Loose) return true;
  return logprobs !== undefined;
}

/** @param delta  as it was decoded @returns false: it holds no thought */
function noteThought(delta: Loose, given: unknown, message: unknown, memory: ThoughtFieldMemory): boolean {
  if (!delta.reasoning && delta.reasoning_details === undefined) return false;
  const raw = isObject(given) ? given : isObject(message) ? message : {};
  return sawThought(raw, memory);
}

/** An event that is named an error, whatever it holds. */
function errorEvent(data: string): UpstreamError {
  let event: Loose;
  try {
    event = eventObject(data);
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error;
    return badResponse(cleanText(data, 300) || 'The provider reported an error.');
  }
  return errorIn(event) ?? errorIn({ error: event }) ?? badResponse('The provider reported an error.');
}
