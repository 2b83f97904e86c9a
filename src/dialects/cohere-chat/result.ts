import { isObject, type Loose } from '../../base/values.ts';
import type { ChatChoice } from '../../schema/chat/chat.ts';
import { messageOf } from '../../schema/chat/message-of-deltas.ts';
import type { DecodedResult, Reading } from '../dialect.ts';
import { decodedResult, resultOf } from '../shared/response/chunks.ts';
import { badResponse, brokenOff, toolCallIds } from '../shared/values.ts';
import { errorIn } from './errors.ts';
import { finishReasonOf } from './finish-reason.ts';
import { readLogprobs } from './logprobs.ts';
import { messageReader, readMessage } from './message-reader.ts';
import type { CohereQuirks } from './quirks.ts';
import { readUsage } from './usage.ts';

/**
 * Reads a complete response.
 * @see https://docs.cohere.com/reference/chat
 */
export function decodeResult(body: unknown, quirks: CohereQuirks = {}, reading: Reading = {}): DecodedResult {
  if (!isObject(body)) throw badResponse('The provider responded with something that is no chat response.');
  return decodedResult(
    () => resultOf([decodeChoice(body, reading)]),
    () => readUsage(body.usage, quirks),
  );
}

function decodeChoice(body: Loose, { outputTool }: Reading): ChatChoice {
  const { message, finish_reason: native } = body;
  const error = errorIn(body);
  if (error) throw error;
  if (!isObject(message)) throw badResponse('The provider responded without a message.');
  // A response without a finish reason may have been broken off.
  if (typeof native !== 'string' || native === '')
    throw badResponse('The provider sent a response without a finish_reason.');
  const ids = toolCallIds();
  // All ids of the provider are noted first, so that none is given twice.
  for (const call of Array.isArray(message.tool_calls) ? message.tool_calls : []) if (isObject(call)) ids.take(call.id);
  const reader = messageReader(ids, outputTool);
  const said = messageOf(readMessage(message, reader).map(({ delta }) => delta));
  const reason = finishReasonOf(native, reader.hasCalls());
  if (reason === 'error') throw brokenOff(native);
  const logprobs = readLogprobs(body.logprobs);
  return { index: 0, message: said, finish_reason: reason, native_finish_reason: native, logprobs };
}
