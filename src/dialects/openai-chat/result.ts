import type { UpstreamError } from '../../base/http/upstream-error.ts';
import { isIndex, isObject, type Loose, without } from '../../base/values.ts';
import type { ChatChoice, ChatResult } from '../../schema/chat/chat.ts';
import type { DecodedResult, Reading } from '../dialect.ts';
import { decodedResult } from '../shared/response/chunks.ts';
import { argumentsText, badResponse, brokenOff, ours, type ToolCallIds, toolCallIds } from '../shared/values.ts';
import { errorIn } from './errors.ts';
import { addedToCall, addedToFunction, functionIn, idIn, saidIn, sawThought } from './fields.ts';
import { finishReasonOf, nativeReason } from './finish-reason.ts';
import type { ChatQuirks } from './quirks.ts';
import { decodeLogprobs } from './shapes.ts';
import { usageIn } from './usage.ts';

/** Reads a complete response. A success status proves nothing: the body may be an error, or no completion at all. */
export function decodeResult(body: unknown, quirks: ChatQuirks = {}, { thoughtField }: Reading = {}): DecodedResult {
  if (!isObject(body)) throw badResponse('The provider responded with something that is no chat completion.');
  if (thoughtField !== undefined)
    for (const choice of choicesIn(body))
      if (isObject(choice) && isObject(choice.message)) sawThought(choice.message, thoughtField);
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
    if (Array.isArray(message.tool_calls))
      for (const call of message.tool_calls) if (isObject(call)) ids.take(idIn(call));
  }
  return ids;
}

function decodeChoice(raw: unknown, position: number, ids: ToolCallIds, quirks: ChatQuirks): ChatChoice {
  if (!isObject(raw)) throw noMessage();
  const broken = errorIn({ error: raw.error });
  if (broken) throw broken;
  const native = nativeReason(raw.finish_reason);
  const message = isObject(raw.message) ? raw.message : null;
  // A provider that filters all of a response may leave its message out.
  if (message === null && (native === null || finishReasonOf(native, false) !== 'content_filter')) throw noMessage();
  // As in a stream: without a reason why it ended, a response may have been broken off.
  if (native === null && quirks.finishesWithoutReason !== true)
    throw badResponse('The provider sent a response without a finish_reason.');
  const decoded = decodeMessage(message ?? {}, ids);
  const calledTools = decoded.tool_calls !== undefined || isObject(decoded.function_call);
  const finishReason = finishReasonOf(native ?? 'stop', calledTools);
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

function decodeMessage(raw: Loose, ids: ToolCallIds): ChatChoice['message'] {
  const { tool_calls: toolCalls } = raw;
  const message: Loose = { role: 'assistant', content: null, refusal: null, ...saidIn(raw) };
  if (Array.isArray(toolCalls) && toolCalls.length > 0) {
    const given = new Set<string>();
    message.tool_calls = toolCalls.map((call, position) => decodeToolCall(call, position, ids, given));
  }
  return message as ChatChoice['message'];
}

/** @param given  ids of the calls before it: clients tell calls apart by them */
function decodeToolCall(raw: unknown, position: number, ids: ToolCallIds, given: Set<string>): Loose {
  const call = isObject(raw) ? raw : {};
  const called = functionIn(call);
  if (typeof called.name !== 'string' || called.name === '')
    throw badResponse('The provider responded with a tool call that names no function.');
  const own = idIn(call);
  const id = (own === null || given.has(own) ? null : ids.take(own)) ?? ids.make(position);
  given.add(id);
  return {
    id,
    type: 'function',
    function: { name: called.name, arguments: argumentsText(called.arguments) || '{}', ...addedToFunction(called) },
    ...addedToCall(call),
  };
}
