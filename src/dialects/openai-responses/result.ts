import { UpstreamError } from '../../base/upstream-error.ts';
import { isObject, type Loose } from '../../base/values.ts';
import { type OutputDelta, withOutputDeltas, withOutputItem } from '../../call/output-item.ts';
import type { ChatChoice, ChatResult } from '../../schema/chat.ts';
import type { ChunkDelta } from '../../schema/chunk.ts';
import type { DecodedResult, Reading } from '../dialect.ts';
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
  try {
    const result = decodeResponse(body, reader, reading);
    return { result, usage: readUsage(body.usage, reader.searches()) };
  } catch (error) {
    // A response that is of no use may have been paid for.
    const usage = readUsage(body.usage, reader.searches());
    throw usage && error instanceof UpstreamError ? error.with({ usage }) : error;
  }
}

function decodeResponse(body: Loose, reader: OutputReader, reading: Reading | undefined): ChatResult {
  if (body.error || body.status === 'failed') throw responseError(body);
  if (!Array.isArray(body.output)) throw badResponse('The provider responded without output.');
  const message: Loose = { role: 'assistant', content: null, refusal: null };
  if (reading?.compaction === true && isCompaction(body)) return compacted(body, body.output, message);
  const logprobs: Loose[] = [];
  const deltas: OutputDelta[] = [];
  for (const [index, item] of body.output.entries()) {
    if (!isObject(item)) continue;
    for (const addition of reader.close(index, item)) {
      fold(message, logprobs, addition);
      if (addition.item !== undefined) deltas.push(outputDeltaOf(addition, addition.item));
    }
  }
  if (deltas.length > 0) withOutputDeltas(message, deltas);
  const finish = finishOf(body.status, body, reader.hasCalls());
  if (finish === null) throw badResponse('The provider sent a response that is not complete.', nameOf(body.status));
  const tokens = logprobs.length > 0 ? { content: logprobs, refusal: null } : null;
  return resultOf(body, { message, ...finish, logprobs: tokens });
}

/** Nothing is said: the items are the response. */
function compacted(body: Loose, output: readonly unknown[], message: Loose): ChatResult {
  withOutputDeltas(message, compactedDeltas(output));
  return resultOf(body, { message, finish_reason: 'stop', native_finish_reason: 'completed', logprobs: null });
}

function resultOf(body: Loose, choice: Loose): ChatResult {
  return {
    id: '',
    object: 'chat.completion',
    created: createdOf(body),
    model: '',
    choices: [{ index: 0, ...choice }] as unknown as ChatChoice[],
    system_fingerprint: null,
    ...(typeof body.service_tier === 'string' ? { service_tier: body.service_tier } : {}),
  };
}

function outputDeltaOf({ delta, logprobs }: Addition, item: NonNullable<Addition['item']>): OutputDelta {
  return { delta: withOutputItem(delta as ChunkDelta, item), ...(logprobs === undefined ? {} : { logprobs }) };
}

function nameOf(status: unknown): string | undefined {
  return typeof status === 'string' ? status.slice(0, 80) : undefined;
}

/** Unix seconds. */
export function createdOf({ created_at: created }: Loose): number {
  return Number.isSafeInteger(created) ? (created as number) : 0;
}

/** Joins what a stream would send piece by piece. */
function fold(message: Loose, logprobs: Loose[], { delta, logprobs: more }: Addition): void {
  if (more) for (const entry of more) logprobs.push(entry);
  for (const key in delta) {
    const value = delta[key];
    if (key === 'tool_calls') foldCalls(message, value as Loose[]);
    else if (Array.isArray(value)) foldList(message, key, value);
    else message[key] = `${message[key] ?? ''}${value}`;
  }
}

/** Added to, and not copied: an upstream may send as many items as fit. */
function foldList(message: Loose, key: string, values: readonly unknown[]): void {
  const list = (message[key] ?? []) as unknown[];
  message[key] = list;
  for (const value of values) list.push(value);
}

function foldCalls(message: Loose, fragments: readonly Loose[]): void {
  const calls = (message.tool_calls ?? []) as { function: { arguments: string } }[];
  message.tool_calls = calls;
  for (const { index, ...fragment } of fragments) {
    const call = calls[index as number];
    const { arguments: text } = fragment.function as { arguments: string };
    // A copy: more is added to it, and the fragment may be a part of a delta that stays.
    if (call === undefined)
      calls.push({ ...fragment, function: { ...(fragment.function as object), arguments: text } });
    else call.function.arguments += text;
  }
}
