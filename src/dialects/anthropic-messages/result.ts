import { isObject, type Loose } from '../../base/values.ts';
import { withNativeBody } from '../../call/native-events.ts';
import type { AssistantMessage, ChatResult } from '../../schema/chat/chat.ts';
import { messageOf } from '../../schema/chat/message-of-deltas.ts';
import type { DecodedResult, Reading } from '../dialect.ts';
import { decodedResult, resultOf } from '../shared/response/chunks.ts';
import { noteTransformations } from '../shared/thought-bindings.ts';
import { badResponse, brokenOff, toolCallIds } from '../shared/values.ts';
import { type BlockReader, blockReader } from './blocks.ts';
import { errorIn } from './errors.ts';
import { finishReasonOf } from './finish-reason.ts';
import type { MessagesQuirks } from './quirks.ts';
import { readUsage, serviceTierOf } from './usage.ts';

/**
 * Reads a complete response. A success status proves nothing: the body may be an error, or no message at all.
 * @see https://platform.claude.com/docs/en/api/messages/create "Returns"
 */
export function decodeResult(body: unknown, _quirks: MessagesQuirks = {}, reading: Reading = {}): DecodedResult {
  if (!isObject(body)) throw badResponse('The provider responded with something that is no message.');
  return decodedResult(
    () => {
      const result = decodeMessage(body, reading);
      const [choice] = result.choices;
      if (reading.nativeEvents === true && choice !== undefined) withNativeBody(choice.message, body);
      return result;
    },
    () => readUsage(body.usage),
  );
}

function decodeMessage(body: Loose, { outputTool, transformations }: Reading): ChatResult {
  const error = errorIn(body);
  if (error) throw error;
  const { content, stop_reason: native } = body;
  if (!Array.isArray(content)) throw badResponse('The provider responded with a message that has no content.');
  if (typeof native !== 'string' || native === '')
    throw badResponse('The provider sent a response without a stop_reason.');
  noteTransformations(body.input_transformations, transformations);
  const ids = toolCallIds();
  // All ids of the provider are noted first, so that none is given twice.
  for (const block of content) if (isObject(block) && block.type === 'tool_use') ids.take(block.id);
  const reader = blockReader({ ids, model: body.model, outputTool });
  const message = readMessage(content, reader, body);
  const reason = finishReasonOf(native, reader.hasCalls());
  if (reason === 'error') throw brokenOff(native);
  const tier = serviceTierOf(body.usage);
  const choice = {
    index: 0,
    message,
    finish_reason: reason,
    native_finish_reason: native,
    logprobs: null,
  };
  return resultOf([choice], tier === null ? {} : { service_tier: tier });
}

function readMessage(content: readonly unknown[], reader: BlockReader, last: Loose): AssistantMessage {
  const deltas = content.flatMap((block, index) => [...reader.begin(index, block), ...reader.end(index)]);
  const message = messageOf([...deltas, ...reader.finish(last)]);
  if (!reader.hasCalls()) message.content ??= '';
  return message;
}
