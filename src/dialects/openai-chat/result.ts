import { UpstreamError } from '../../base/upstream-error.ts';
import { isIndex, isObject, type Loose, without } from '../../base/values.ts';
import type { ChatChoice, ChatResult } from '../../schema/chat.ts';
import type { DecodedResult } from '../dialect.ts';
import {
  argumentsText,
  badResponse,
  contentText,
  ours,
  type ToolCallIds,
  thinkingText,
  toolCallIds,
} from '../shared/values.ts';
import { errorIn } from './errors.ts';
import { normaliseFinishReason } from './finish-reason.ts';
import type { ChatQuirks } from './quirks.ts';
import { decodeLogprobs, dropMisshapen } from './shapes.ts';
import { readUsage } from './usage.ts';

/** Reads a complete response. A success status proves nothing: the body may be an error, or no completion at all. */
export function decodeResult(body: unknown, quirks: ChatQuirks = {}): DecodedResult {
  if (!isObject(body)) throw badResponse('The provider responded with something that is no chat completion.');
  try {
    return decodeCompletion(body, quirks);
  } catch (error) {
    // A response that is of no use may have been paid for.
    const usage = readUsage(body.usage);
    throw usage && error instanceof UpstreamError ? error.with({ usage }) : error;
  }
}

function decodeCompletion(body: Loose, quirks: ChatQuirks): DecodedResult {
  const error = errorIn(body);
  if (error) throw error;
  const choices = body.choices;
  if (!Array.isArray(choices) || choices.length === 0) throw badResponse('The provider responded without choices.');
  const ids = idsOf(choices);
  const result: ChatResult = {
    ...without(ours, body),
    // The gateway writes its own.
    usage: undefined,
    id: '',
    object: 'chat.completion',
    created: Number.isSafeInteger(body.created) ? (body.created as number) : 0,
    model: '',
    choices: choices.map((choice, position) => decodeChoice(choice, position, ids, quirks)),
    system_fingerprint: typeof body.system_fingerprint === 'string' ? body.system_fingerprint : null,
  };
  if ('service_tier' in body && typeof body.service_tier !== 'string') result.service_tier = undefined;
  return { result, usage: readUsage(body.usage) };
}

const notOfChoices = ['usage', 'error'];

/** Knows every id that the provider gave, so that none is given twice. */
function idsOf(choices: readonly unknown[]): ToolCallIds {
  const ids = toolCallIds();
  for (const choice of choices) {
    const message = isObject(choice) && isObject(choice.message) ? choice.message : {};
    if (Array.isArray(message.tool_calls)) for (const call of message.tool_calls) if (isObject(call)) ids.take(call.id);
  }
  return ids;
}

function decodeChoice(raw: unknown, position: number, ids: ToolCallIds, quirks: ChatQuirks): ChatChoice {
  if (!isObject(raw)) throw noMessage();
  const broken = errorIn(raw);
  if (broken) throw broken;
  const native = typeof raw.finish_reason === 'string' ? raw.finish_reason : null;
  const message = isObject(raw.message) ? raw.message : null;
  // A provider that filters all of a response may leave its message out.
  if (message === null && (native === null || normaliseFinishReason(native, false) !== 'content_filter'))
    throw noMessage();
  // As in a stream: without a reason why it ended, a response may have been broken off.
  if ((raw.finish_reason ?? '') === '' && quirks.finishesWithoutReason !== true)
    throw badResponse('The provider sent a response without a finish_reason.');
  const decoded = decodeMessage(message ?? {}, ids);
  const finishReason = normaliseFinishReason(native || 'stop', Boolean(decoded.tool_calls));
  if (finishReason === 'error')
    throw badResponse(`The provider broke off its response (${native}).`, native ?? undefined);
  return {
    ...without(notOfChoices, raw),
    index: isIndex(raw.index) ? raw.index : position,
    message: decoded,
    finish_reason: finishReason,
    native_finish_reason: native,
    logprobs: decodeLogprobs(raw.logprobs),
  } as ChatChoice;
}

function noMessage(): UpstreamError {
  return badResponse('The provider responded with a choice that has no message.');
}

/** Set anew where they are what they should be. */
const reshaped = ['reasoning_content', 'reasoning', 'tool_calls'];

function decodeMessage(raw: Loose, ids: ToolCallIds): ChatChoice['message'] {
  const { reasoning_content: reasoningContent, reasoning, tool_calls: toolCalls, content, refusal } = raw;
  const message: Loose = {
    ...without(reshaped, raw),
    role: 'assistant',
    content: contentText(content),
    refusal: typeof refusal === 'string' ? refusal : null,
  };
  const thought = typeof reasoning === 'string' ? reasoning : (reasoningContent ?? thinkingText(content));
  if (typeof thought === 'string') message.reasoning = thought;
  if (Array.isArray(toolCalls) && toolCalls.length > 0)
    message.tool_calls = toolCalls.map((call, position) => decodeToolCall(call, position, ids));
  if (message.function_call === null) message.function_call = undefined;
  dropMisshapen(message);
  return message as ChatChoice['message'];
}

function decodeToolCall(raw: unknown, position: number, ids: ToolCallIds): Loose {
  const call = isObject(raw) ? raw : {};
  const called = isObject(call.function) ? call.function : {};
  if (typeof called.name !== 'string')
    throw badResponse('The provider responded with a tool call that names no function.');
  const { index: _, ...others } = call;
  return {
    ...others,
    id: ids.take(call.id) ?? ids.make(position),
    type: 'function',
    function: { ...called, name: called.name, arguments: argumentsText(called.arguments) || '{}' },
  };
}
