import { isObject, type Loose } from '../../base/values.ts';
import type { ChatResult } from '../../schema/chat/chat.ts';
import { messageOf } from '../../schema/chat/message-of-deltas.ts';
import type { DecodedResult, Reading } from '../dialect.ts';
import { decodedResult, resultOf } from '../shared/response/chunks.ts';
import { noteTransformations } from '../shared/thought-bindings.ts';
import { badResponse, brokenOff, toolCallIds } from '../shared/values.ts';
import { blockReader } from './blocks.ts';
import { errorOfException, exceptionIn } from './errors.ts';
import { finishReasonOf } from './finish-reason.ts';
import { decodeInvoked } from './native/invoke.ts';
import type { ConverseQuirks } from './quirks.ts';
import { readUsage } from './usage.ts';

/** Reads a complete response. A success status proves nothing: the body may be an error, or no message at all. */
export function decodeResult(body: unknown, _quirks: ConverseQuirks, reading: Reading = {}): DecodedResult {
  if (!isObject(body)) throw badResponse('The provider responded with something that is no message.');
  const exception = exceptionIn(body);
  if (exception === null && reading.nativeEvents === true) return decodeInvoked(body, reading);
  return decodedResult(
    () => decodeBody(body, reading),
    () => readUsage(body.usage),
  );
}

function decodeBody(body: Loose, reading: Reading): ChatResult {
  const exception = exceptionIn(body);
  if (exception !== null) throw errorOfException(exception, body);
  const message = isObject(body.output) ? body.output.message : null;
  if (!isObject(message)) throw badResponse('The provider responded without a message.');
  const native = body.stopReason;
  if (typeof native !== 'string' || native === '')
    throw badResponse('The provider sent a response without a stopReason.');
  if (isObject(body.additionalModelResponseFields))
    noteTransformations(body.additionalModelResponseFields.input_transformations, reading.transformations);
  const blocks = Array.isArray(message.content) ? message.content.filter(isObject) : [];
  const ids = toolCallIds();
  // All ids of the provider are noted first, so that none is given twice.
  for (const { toolUse } of blocks) if (isObject(toolUse)) ids.take(toolUse.toolUseId);
  const reader = blockReader(ids, reading);
  const deltas = blocks.flatMap((block, at) => reader.read(at, block));
  const said = messageOf([...deltas, ...reader.finish()]);
  const reason = finishReasonOf(native, reader.hasCalls());
  if (reason === 'error') throw brokenOff(native);
  const choice = { index: 0, message: said, finish_reason: reason, native_finish_reason: native, logprobs: null };
  const tier = isObject(body.serviceTier) ? body.serviceTier.type : null;
  return resultOf([choice], typeof tier === 'string' ? { service_tier: tier } : {});
}
