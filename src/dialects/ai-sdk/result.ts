import { isObject, type Loose } from '../../base/values.ts';
import type { ChatChoice } from '../../schema/chat/chat.ts';
import { messageOf } from '../../schema/chat/message-of-deltas.ts';
import type { DecodedResult } from '../dialect.ts';
import { decodedResult, resultOf } from '../shared/response/chunks.ts';
import { badResponse } from '../shared/values.ts';
import { readFinish } from './finish-reason.ts';
import { partReader, readParts } from './part-reader.ts';
import { readUsage } from './usage.ts';
import { readWarnings } from './warnings.ts';

/**
 * Reads the result of `doGenerate` of an AI SDK language model.
 * @see
 * https://github.com/vercel/ai/blob/main/packages/provider/src/language-model/v4/language-model-v4-generate-result.ts
 */
export function decodeResult(body: unknown): DecodedResult {
  if (!isObject(body) || !Array.isArray(body.content))
    throw badResponse('The model gave something that is no result of a language model.');
  const { content } = body;
  const warnings = readWarnings(body.warnings);
  return decodedResult(
    () => resultOf([decodeChoice(body, content)], warnings.length > 0 ? { warnings } : {}),
    () => readUsage(body.usage),
  );
}

function decodeChoice({ finishReason, structuredOutputText }: Loose, content: readonly unknown[]): ChatChoice {
  const reader = partReader();
  const message = messageOf(readParts(content, reader));
  // A model may write drafts before the output that was asked for.
  if (typeof structuredOutputText === 'string') message.content = structuredOutputText;
  const finish = readFinish(finishReason, reader.hasCalls());
  if (finish === null) throw badResponse('The model gave a result without a reason why it ended.');
  if (finish.finish_reason === 'error') throw brokenOff(finish.native_finish_reason);
  return { index: 0, message, ...finish, logprobs: null };
}

export function brokenOff(native: string | null) {
  return badResponse(`The model broke off its response (${native}).`, native ?? undefined);
}
