import type { UpstreamError } from '../../base/http/upstream-error.ts';
import { isIndex, isObject, type Loose, without } from '../../base/values.ts';
import type { ChatChunk } from '../../schema/chat/chunk.ts';
import type { StreamDecoder, StreamPart } from '../dialect.ts';
import { chunkOf } from '../shared/response/chunks.ts';
import { eventObject } from '../shared/response/event-object.ts';
import { argumentsText, contentText, ours, type ToolCallIds, toolCallIds } from '../shared/values.ts';
import { errorIn } from './errors.ts';
import { addedToCall, addedToFunction, brokenOff, thoughtIn } from './fields.ts';
import { finishReasonOf } from './finish-reason.ts';
import type { ChatQuirks } from './quirks.ts';
import { decodeLogprobs, dropMisshapen } from './shapes.ts';
import { usageIn } from './usage.ts';

interface ChoiceState {
  /** The index of the latest tool call; -1 before the first. */
  lastTool: number;
  /** The tool calls that have begun, by index. */
  tools: Map<number, ToolState>;
  isFinished: boolean;
}

interface ToolState {
  /** true: the id is ours, as the provider gave none. */
  hasOurId: boolean;
  /** true: it is the call of a function, and none of its arguments have come. */
  isBare: boolean;
}

/** Fields that chunks do not get. Usage comes as a part of its own. */
const notOfChunks = [...ours, 'usage', 'x_groq'];

/** Reads a stream of chat chunks: evens out the differences between servers, and takes usage out of every place. */
export function streamDecoder(quirks: ChatQuirks): StreamDecoder {
  const states = new Map<number, ChoiceState>();
  const ids = toolCallIds();
  /** The error with which the provider has broken off a choice. */
  let broken: UpstreamError | null = null;

  function decode(data: string): StreamPart[] {
    if (data.trim() === '[DONE]')
      return quirks.finishesWithoutReason === true ? [...finishAll(), { kind: 'done' }] : [{ kind: 'done' }];
    const event = eventObject(data);
    const error = errorIn(event);
    const parts: StreamPart[] = [];
    const choices = Array.isArray(event.choices) ? event.choices.filter(isObject) : [];
    if (choices.length > 0) parts.push({ kind: 'chunk', chunk: decodeChunk(event, choices) });
    const usage = usageIn(event, choices);
    if (usage) parts.push({ kind: 'usage', usage });
    const reported = error ?? broken;
    // An error beside choices concerns their content. After the response it may only concern the end of the stream.
    if (reported) parts.push({ kind: 'error', error: reported, ...(choices.length > 0 ? { isReported: true } : {}) });
    return parts;
  }

  /** Finishes all choices. Clients take a choice for finished when a chunk says so. */
  function finishAll(): StreamPart[] {
    const choices = [...states]
      .filter(([, { isFinished }]) => !isFinished)
      .map(([index, state]) => ({
        index,
        delta: withArguments({}, state),
        finish_reason: finishReasonOf('stop', state.lastTool >= 0),
        native_finish_reason: null,
      }));
    return choices.length === 0 ? [] : [{ kind: 'chunk', chunk: chunkOf(choices) }];
  }

  function decodeChunk(event: Loose, choices: unknown[]): ChatChunk {
    const chunk: Loose = {
      ...without(notOfChunks, event),
      id: '',
      object: 'chat.completion.chunk',
      created: Number.isSafeInteger(event.created) ? event.created : 0,
      model: '',
      choices: choices.map(decodeChoice),
    };
    if (typeof event.system_fingerprint !== 'string') delete chunk.system_fingerprint;
    if (typeof event.service_tier !== 'string') delete chunk.service_tier;
    return chunk as unknown as ChatChunk;
  }

  function decodeChoice(value: unknown, position: number): Loose {
    const raw = isObject(value) ? value : {};
    const {
      delta,
      message,
      usage: _usage,
      finish_reason: native,
      native_finish_reason: _native,
      logprobs,
      error: _error,
      ...others
    } = raw;
    const index = isIndex(raw.index) ? raw.index : position;
    broken ??= errorIn(raw);
    const state = states.get(index) ?? { lastTool: -1, tools: new Map(), isFinished: false };
    states.set(index, state);
    const choice: Loose = {
      ...others,
      index,
      delta: decodeDelta(isObject(delta) ? delta : isObject(message) ? message : {}, state, ids),
      finish_reason: null,
    };
    const probabilities = decodeLogprobs(logprobs);
    if (probabilities) choice.logprobs = probabilities;
    if (typeof native === 'string' && native !== '') {
      const reason = finishReasonOf(native, state.lastTool >= 0);
      if (reason === 'error') broken ??= brokenOff(native);
      else {
        choice.finish_reason = reason;
        choice.native_finish_reason = native;
        // The arguments of a call are not complete where the limit of the output broke it off.
        if (reason === 'tool_calls') choice.delta = withArguments(choice.delta as Loose, state);
        state.isFinished = true;
      }
    }
    return choice;
  }

  return { decode };
}

function decodeDelta(raw: Loose, state: ChoiceState, ids: ToolCallIds): Loose {
  const {
    reasoning_content: _reasoningContent,
    reasoning: _reasoning,
    tool_calls: toolCalls,
    content,
    role,
    refusal,
    ...delta
  }: Loose = raw;
  for (const key in delta) if (delta[key] === null) delete delta[key];
  dropMisshapen(delta);
  if (role !== undefined && role !== null) delta.role = 'assistant';
  if (content !== undefined) delta.content = contentText(content);
  const thought = thoughtIn(raw);
  if (thought !== null) delta.reasoning = thought;
  if (typeof refusal === 'string') delta.refusal = refusal;
  if (Array.isArray(toolCalls) && toolCalls.length > 0) {
    delta.tool_calls = toolCalls.filter(isObject).map((call) => decodeToolCall(call, state, ids));
  }
  return delta;
}

/**
 * Decodes a fragment of a tool call. Clients put fragments together by the index, and some servers leave it out. The
 * first fragment leaves with an id and a type, also where the provider gave none.
 */
function decodeToolCall(raw: Loose, state: ChoiceState, ids: ToolCallIds): Loose {
  const given = ids.take(raw.id);
  const index = isIndex(raw.index) ? raw.index : given !== null ? state.lastTool + 1 : Math.max(state.lastTool, 0);
  state.lastTool = Math.max(state.lastTool, index);
  const call: Loose = { index };
  const known = state.tools.get(index);
  const tool = known ?? { hasOurId: given === null, isBare: false };
  state.tools.set(index, tool);
  // Once clients have an id of ours, they would take another id for that of another call.
  const id = known === undefined ? (given ?? ids.make(index)) : tool.hasOurId ? null : given;
  if (id !== null) call.id = id;
  if (id !== null || raw.type === 'function') call.type = 'function';
  if (isObject(raw.function)) {
    const called: Loose = {};
    if (typeof raw.function.name === 'string' && raw.function.name !== '') called.name = raw.function.name;
    if (raw.function.arguments !== undefined && raw.function.arguments !== null)
      called.arguments = argumentsText(raw.function.arguments);
    call.function = { ...called, ...addedToFunction(raw.function) };
    if (known === undefined) tool.isBare = true;
    if (called.arguments !== undefined && called.arguments !== '') tool.isBare = false;
  }
  return { ...call, ...addedToCall(raw) };
}

/** Adds the arguments of a tool without parameters: some servers write nothing; clients expect an object. */
function withArguments(delta: Loose, { tools }: ChoiceState): Loose {
  const bare = [...tools].filter(([, { isBare }]) => isBare);
  for (const [, tool] of bare) tool.isBare = false;
  if (bare.length === 0) return delta;
  const calls = Array.isArray(delta.tool_calls) ? delta.tool_calls : [];
  const added = bare.map(([index]) => ({ index, function: { arguments: '{}' } }));
  return { ...delta, tool_calls: [...calls, ...added] };
}
