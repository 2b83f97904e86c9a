import { UpstreamError } from '../../base/upstream-error.ts';
import type { ChatChoice, ChatResult } from '../../schema/chat.ts';
import type { DecodedResult } from '../dialect.ts';
import { errorIn } from './errors.ts';
import { decodeLogprobs, dropMisshapen } from './shapes.ts';
import { readUsage } from './usage.ts';
import {
  argumentsText,
  badAnswer,
  contentText,
  isIndex,
  isObject,
  type Loose,
  normaliseFinishReason,
  ours,
  without,
} from './values.ts';

/** Reads a whole answer. A success status proves nothing: the body may be an error, or no completion at all. */
export function decodeResult(body: unknown): DecodedResult {
  if (!isObject(body)) throw badAnswer('The provider answered with something that is no chat completion.');
  try {
    return decodeAnswer(body);
  } catch (error) {
    // An answer that is of no use may have been paid for.
    const usage = readUsage(body.usage);
    throw usage && error instanceof UpstreamError ? error.with({ usage }) : error;
  }
}

function decodeAnswer(body: Loose): DecodedResult {
  const error = errorIn(body);
  if (error) throw error;
  const choices = body.choices;
  if (!Array.isArray(choices) || choices.length === 0) throw badAnswer('The provider answered without choices.');
  const result: ChatResult = {
    ...without(ours, body),
    // What is told of it is ours.
    usage: undefined,
    id: '',
    object: 'chat.completion',
    created: Number.isSafeInteger(body.created) ? (body.created as number) : 0,
    model: '',
    choices: choices.map(decodeChoice),
    system_fingerprint: typeof body.system_fingerprint === 'string' ? body.system_fingerprint : null,
  };
  if ('service_tier' in body && typeof body.service_tier !== 'string') result.service_tier = undefined;
  return { result, usage: readUsage(body.usage) };
}

const notOfChoices = ['usage', 'error'];

function decodeChoice(raw: unknown, position: number): ChatChoice {
  if (!isObject(raw) || !isObject(raw.message))
    throw badAnswer('The provider answered with a choice that has no message.');
  const native = raw.finish_reason;
  const broken = errorIn(raw);
  if (broken) throw broken;
  const decoded = decodeMessage(raw.message);
  const reason = typeof native === 'string' ? native : null;
  const finishReason = normaliseFinishReason(reason ?? 'stop', Boolean(decoded.tool_calls));
  if (finishReason === 'error') throw badAnswer(`The provider broke off its answer (${reason}).`, reason ?? undefined);
  return {
    ...without(notOfChoices, raw),
    index: isIndex(raw.index) ? raw.index : position,
    message: decoded,
    finish_reason: finishReason,
    native_finish_reason: reason,
    logprobs: decodeLogprobs(raw.logprobs),
  } as ChatChoice;
}

/** Set anew where they are what they should be. */
const reshaped = ['reasoning_content', 'reasoning', 'tool_calls'];

function decodeMessage(raw: Loose): ChatChoice['message'] {
  const { reasoning_content: reasoningContent, reasoning, tool_calls: toolCalls, content, refusal } = raw;
  const message: Loose = {
    ...without(reshaped, raw),
    role: 'assistant',
    content: contentText(content),
    refusal: typeof refusal === 'string' ? refusal : null,
  };
  const thought = typeof reasoning === 'string' ? reasoning : reasoningContent;
  if (typeof thought === 'string') message.reasoning = thought;
  if (Array.isArray(toolCalls) && toolCalls.length > 0) message.tool_calls = toolCalls.map(decodeToolCall);
  if (message.function_call === null) message.function_call = undefined;
  dropMisshapen(message);
  return message as ChatChoice['message'];
}

function decodeToolCall(raw: unknown, position: number): Loose {
  const call = isObject(raw) ? raw : {};
  const called = isObject(call.function) ? call.function : {};
  if (typeof called.name !== 'string')
    throw badAnswer('The provider answered with a tool call that names no function.');
  const { index: _, ...rest } = call;
  return {
    ...rest,
    id: typeof call.id === 'string' && call.id !== '' ? call.id : `call_${position}`,
    type: 'function',
    function: { ...called, name: called.name, arguments: argumentsText(called.arguments) || '{}' },
  };
}
