import { UpstreamError } from '../../base/upstream-error.ts';
import type { ChatChoice, ChatResult } from '../../schema/chat.ts';
import type { DecodedResult } from '../dialect.ts';
import { badResponse, isObject, type Loose } from '../shared/values.ts';
import { responseError } from './errors.ts';
import { finishOf } from './finish.ts';
import { type Addition, type OutputReader, outputReader } from './output.ts';
import { formatOf, type ResponsesQuirks } from './quirks.ts';
import { readUsage } from './usage.ts';

/**
 * Reads a complete response. A success status proves nothing: the body may be an error, or a response that failed.
 * @see https://platform.openai.com/docs/api-reference/responses/object
 */
export function decodeResult(body: unknown, quirks: ResponsesQuirks): DecodedResult {
  if (!isObject(body)) throw badResponse('The provider responded with something that is no response.');
  const reader = outputReader(formatOf(quirks));
  try {
    const result = decodeResponse(body, reader);
    return { result, usage: readUsage(body.usage, reader.searches()) };
  } catch (error) {
    // A response that is of no use may have been paid for.
    const usage = readUsage(body.usage, reader.searches());
    throw usage && error instanceof UpstreamError ? error.with({ usage }) : error;
  }
}

function decodeResponse(body: Loose, reader: OutputReader): ChatResult {
  if (body.error || body.status === 'failed') throw responseError(body);
  if (!Array.isArray(body.output)) throw badResponse('The provider responded without output.');
  const message: Loose = { role: 'assistant', content: null, refusal: null };
  const logprobs: Loose[] = [];
  for (const [index, item] of body.output.entries()) {
    if (!isObject(item)) continue;
    for (const addition of reader.close(index, item)) fold(message, logprobs, addition);
  }
  const finish = finishOf(body.status, body, reader.hasCalls());
  if (finish === null) throw badResponse('The provider sent a response that is not complete.', nameOf(body.status));
  return {
    id: '',
    object: 'chat.completion',
    created: createdOf(body),
    model: '',
    choices: [
      { index: 0, message, ...finish, logprobs: logprobs.length > 0 ? { content: logprobs, refusal: null } : null },
    ] as ChatChoice[],
    system_fingerprint: null,
    ...(typeof body.service_tier === 'string' ? { service_tier: body.service_tier } : {}),
  };
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
    else if (Array.isArray(value)) message[key] = [...((message[key] as unknown[] | undefined) ?? []), ...value];
    else message[key] = `${message[key] ?? ''}${value}`;
  }
}

function foldCalls(message: Loose, fragments: readonly Loose[]): void {
  const calls = (message.tool_calls ?? []) as { function: { arguments: string } }[];
  message.tool_calls = calls;
  for (const { index, ...fragment } of fragments) {
    const call = calls[index as number];
    const { arguments: text } = fragment.function as { arguments: string };
    if (call === undefined) calls.push(fragment as unknown as (typeof calls)[number]);
    else call.function.arguments += text;
  }
}
