import { keepExact } from '../../base/exact-json.ts';
import type { UpstreamError } from '../../base/http/upstream-error.ts';
import { isIndex, isObject, type Loose, without } from '../../base/values.ts';
import type { ChatChunk } from '../../schema/chat/chunk.ts';
import type { StreamDecoder, StreamPart } from '../dialect.ts';
import { chunkOf } from '../shared/response/chunks.ts';
import { eventObject } from '../shared/response/event-object.ts';
import { argumentFields, argumentsText, contentText, ours, type ToolCallIds, toolCallIds } from '../shared/values.ts';
import { errorIn } from './errors.ts';
import { addedToCall, addedToFunction, brokenOff, thoughtIn } from './fields.ts';
import { finishReasonOf } from './finish-reason.ts';
import type { ChatQuirks } from './quirks.ts';
import { decodeLogprobs, dropMisshapen } from './shapes.ts';
import { usageIn } from './usage.ts';

interface ChoiceState {
  /** Index of the latest tool call; -1 before the first. */
  lastTool: number;
  /** Tool calls that have begun, by index. */
  tools: Map<number, ToolState>;
  isFinished: boolean;
}

interface ToolState {
  /** true: with an id of ours, as the provider gave none. */
  hasOurId: boolean;
  /** true: of a function, none of whose arguments have come. */
  isBare: boolean;
}

/** Usage comes as a part of its own. */
const notOfChunks = [...ours, 'usage', 'x_groq'];

/** Reads a stream of chat chunks: normalises what servers do differently, and takes usage out wherever it is put. */
export function streamDecoder(quirks: ChatQuirks): StreamDecoder {
  const states = new Map<number, ChoiceState>();
  const ids = toolCallIds();
  /** Set when the provider has broken off a choice. */
  let broken: UpstreamError | null = null;

  function decode(data: string): StreamPart[] {
    if (data.trim() === '[DONE]')
      return quirks.finishesWithoutReason === true ? [...finishAll(), { kind: 'done' }] : [{ kind: 'done' }];
    const event = eventObject(data);
    const error = errorIn(event);
    const parts: StreamPart[] = [];
    const choices = Array.isArray(event.choices) ? event.choices.filter(isObject) : [];
    if (hasObjectArguments(choices)) keepExact(event, data, argumentFields);
    if (choices.length > 0) parts.push({ kind: 'chunk', chunk: decodeChunk(event, choices) });
    const usage = usageIn(event, choices);
    if (usage) parts.push({ kind: 'usage', usage });
    const reported = error ?? broken;
    // Beside choices, an error is of what they hold. After the response it may only say how the stream ends.
    if (reported) parts.push({ kind: 'error', error: reported, ...(choices.length > 0 ? { isReported: true } : {}) });
    return parts;
  }

  /** Clients take a choice for finished when a chunk says so. */
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
        // Where the limit of the output broke off a call, its arguments are not complete.
        if (reason === 'tool_calls') choice.delta = withArguments(choice.delta as Loose, state);
        state.isFinished = true;
      }
    }
    return choice;
  }

  return { decode };
}

/** Some servers send arguments as an object, and not as text. */
function hasObjectArguments(choices: readonly Loose[]): boolean {
  for (const { delta, message } of choices) {
    const { tool_calls: calls } = isObject(delta) ? delta : isObject(message) ? message : {};
    if (!Array.isArray(calls)) continue;
    if (calls.some((call) => isObject(call) && isObject(call.function) && isObject(call.function.arguments)))
      return true;
  }
  return false;
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
 * A fragment of a tool call. Its index is what clients put fragments together by, and some servers leave it out. The
 * first fragment leaves with an id and a type, whether or not the provider gave them.
 */
function decodeToolCall(raw: Loose, state: ChoiceState, ids: ToolCallIds): Loose {
  const given = ids.take(raw.id);
  const index = isIndex(raw.index) ? raw.index : given !== null ? state.lastTool + 1 : Math.max(state.lastTool, 0);
  state.lastTool = Math.max(state.lastTool, index);
  const call: Loose = { index };
  const known = state.tools.get(index);
  const tool = known ?? { hasOurId: given === null, isBare: false };
  state.tools.set(index, tool);
  // Once clients have an id of ours, another would be that of another call.
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

/** For a tool without parameters some servers write nothing; clients expect an object. */
function withArguments(delta: Loose, { tools }: ChoiceState): Loose {
  const bare = [...tools].filter(([, { isBare }]) => isBare);
  for (const [, tool] of bare) tool.isBare = false;
  if (bare.length === 0) return delta;
  const calls = Array.isArray(delta.tool_calls) ? delta.tool_calls : [];
  const added = bare.map(([index]) => ({ index, function: { arguments: '{}' } }));
  return { ...delta, tool_calls: [...calls, ...added] };
}
