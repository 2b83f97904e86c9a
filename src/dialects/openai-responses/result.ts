import { isObject, type Loose } from '../../base/values.ts';
import { type OutputDelta, withOutputDeltas, withOutputItem } from '../../call/output-item.ts';
import type { ChatResult } from '../../schema/chat/chat.ts';
import { messageOf } from '../../schema/chat/message-of-deltas.ts';
import type { DecodedResult, Reading } from '../dialect.ts';
import { decodedResult, type Head, resultOf } from '../shared/response/chunks.ts';
import { badResponse } from '../shared/values.ts';
import { compactedDeltas, isCompaction } from './compaction.ts';
import { responseError } from './errors.ts';
import { finishOf } from './finish.ts';
import type { Addition, OutputReader } from './output.ts';
import { readerFor } from './output-items.ts';
import type { ResponsesQuirks } from './quirks.ts';
import { readUsage } from './usage.ts';

/**
 * Reads a complete response. A success status proves nothing: the body may be an error, or a response that failed.
 * @see https://platform.openai.com/docs/api-reference/responses/object
 */
export function decodeResult(body: unknown, quirks: ResponsesQuirks, reading?: Reading): DecodedResult {
  if (!isObject(body)) throw badResponse('The provider responded with something that is no response.');
  const reader = readerFor(quirks, reading);
  return decodedResult(
    () => decodeResponse(body, reader, reading),
    () => readUsage(body.usage, reader.searches()),
  );
}

function decodeResponse(body: Loose, reader: OutputReader, reading: Reading | undefined): ChatResult {
  if (body.error || body.status === 'failed') throw responseError(body);
  if (!Array.isArray(body.output)) throw badResponse('The provider responded without output.');
  if (reading?.compaction === true && isCompaction(body)) return compacted(body, body.output);
  const additions = body.output.flatMap((item, index) => (isObject(item) ? reader.close(index, item) : []));
  const message = messageOf(additions.map(({ delta }) => delta));
  const ofItems = additions.filter(({ item }) => item !== undefined);
  if (ofItems.length > 0) withOutputDeltas(message, ofItems.map(outputDeltaOf));
  const finish = finishOf(body.status, body, reader.hasCalls());
  if (finish === null) throw badResponse('The provider sent a response that is not complete.', nameOf(body.status));
  const content = additions.flatMap(({ logprobs = [] }) => logprobs);
  const logprobs = content.length > 0 ? { content, refusal: null } : null;
  return resultOf([{ index: 0, message, ...finish, logprobs }], headOf(body));
}

/** Makes the result of a compaction. It has no text: the items are the response. */
function compacted(body: Loose, output: readonly unknown[]): ChatResult {
  const message = withOutputDeltas(messageOf([]), compactedDeltas(output));
  const finish = { finish_reason: 'stop', native_finish_reason: 'completed' } as const;
  return resultOf([{ index: 0, message, ...finish, logprobs: null }], headOf(body));
}

function headOf(body: Loose): Head {
  return { created: createdOf(body), ...tierOf(body) };
}

/** Returns the tier that served, where the provider names it. */
export function tierOf({ service_tier: tier }: Loose): Head {
  return typeof tier === 'string' ? { service_tier: tier } : {};
}

function outputDeltaOf({ delta, logprobs, item }: Addition): OutputDelta {
  const told = item === undefined ? delta : withOutputItem(delta, item);
  return { delta: told, ...(logprobs === undefined ? {} : { logprobs }) };
}

function nameOf(status: unknown): string | undefined {
  return typeof status === 'string' ? status.slice(0, 80) : undefined;
}

/** Returns the time in Unix seconds. */
export function createdOf({ created_at: created }: Loose): number {
  return Number.isSafeInteger(created) ? (created as number) : 0;
}
