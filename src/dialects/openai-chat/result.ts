import type { UpstreamError } from '../../base/http/upstream-error.ts';
import { isIndex, isObject, type Loose, without } from '../../base/values.ts';
import type { ChatChoice, ChatResult } from '../../schema/chat/chat.ts';
import type { DecodedResult } from '../dialect.ts';
import { decodedResult } from '../shared/response/chunks.ts';
import { argumentsText, badResponse, contentText, ours, type ToolCallIds, toolCallIds } from '../shared/values.ts';
import { errorIn } from './errors.ts';
import { addedToCall, addedToFunction, brokenOff, functionIn, thoughtIn } from './fields.ts';
import { finishReasonOf } from './finish-reason.ts';
import type { ChatQuirks } from './quirks.ts';
import { decodeLogprobs, dropMisshapen } from './shapes.ts';
import { usageIn } from './usage.ts';

/** Reads a complete response. A success status proves nothing: the body may be an error, or no completion at all. */
export function decodeResult(body: unknown, quirks: ChatQuirks = {}): DecodedResult {
  if (!isObject(body)) throw badResponse('The provider responded with something that is no chat completion.');
  return decodedResult(
    () => decodeCompletion(body, quirks),
    () => usageIn(body, choicesIn(body)),
  );
}

function decodeCompletion(body: Loose, quirks: ChatQuirks): ChatResult {
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
  return result;
}

function choicesIn({ choices }: Loose): readonly unknown[] {
  return Array.isArray(choices) ? choices : [];
}

const notOfChoices = ['usage', 'error'];

/** Notes all ids of the provider, so that none is given twice. */
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
  if (message === null && (native === null || finishReasonOf(native, false) !== 'content_filter')) throw noMessage();
  // A response without a finish_reason may have been broken off, as in a stream.
  if ((raw.finish_reason ?? '') === '' && quirks.finishesWithoutReason !== true)
    throw badResponse('The provider sent a response without a finish_reason.');
  const decoded = decodeMessage(message ?? {}, ids);
  const finishReason = finishReasonOf(native || 'stop', Boolean(decoded.tool_calls));
  if (finishReason === 'error') throw brokenOff(native);
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

/** Fields that are set anew where they have the right type. */
const reshaped = ['reasoning_content', 'reasoning', 'tool_calls'];

function decodeMessage(raw: Loose, ids: ToolCallIds): ChatChoice['message'] {
  const { tool_calls: toolCalls, content, refusal } = raw;
  const message: Loose = {
    ...without(reshaped, raw),
    role: 'assistant',
    content: contentText(content),
    refusal: typeof refusal === 'string' ? refusal : null,
  };
  const thought = thoughtIn(raw);
  if (thought !== null) message.reasoning = thought;
  if (Array.isArray(toolCalls) && toolCalls.length > 0)
    message.tool_calls = toolCalls.map((call, position) => decodeToolCall(call, position, ids));
  if (message.function_call === null) message.function_call = undefined;
  dropMisshapen(message);
  return message as ChatChoice['message'];
}

function decodeToolCall(raw: unknown, position: number, ids: ToolCallIds): Loose {
  const call = isObject(raw) ? raw : {};
  const called = functionIn(call);
  if (typeof called.name !== 'string')
    throw badResponse('The provider responded with a tool call that names no function.');
  return {
    id: ids.take(call.id) ?? ids.make(position),
    type: 'function',
    function: { name: called.name, arguments: argumentsText(called.arguments) || '{}', ...addedToFunction(called) },
    ...addedToCall(call),
  };
}
