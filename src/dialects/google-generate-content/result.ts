import { cleanText } from '../../base/clean-text.ts';
import { UpstreamError } from '../../base/upstream-error.ts';
import { isIndex, isObject, type Loose } from '../../base/values.ts';
import type { ChatChoice, ChatResult } from '../../schema/chat.ts';
import type { DecodedResult, Reading } from '../dialect.ts';
import { badResponse, toolCallIds } from '../shared/values.ts';
import { newCandidate, type PartReading, readCandidate, suffixOf } from './candidate.ts';
import { errorIn, refusalIn } from './errors.ts';
import { finishReasonOf, nativeReason } from './finish-reason.ts';
import { decodeLogprobs } from './logprobs.ts';
import type { GoogleQuirks } from './quirks.ts';
import { readUsage, searchesOf, servedTier } from './usage.ts';

/** Reads a complete response. A success status proves nothing: the body may be an error, or no response at all. */
export function decodeResult(body: unknown, _quirks: GoogleQuirks = {}, reading: Reading = {}): DecodedResult {
  if (!isObject(body)) throw badResponse('The provider responded with something that is no generated content.');
  const candidates = Array.isArray(body.candidates) ? body.candidates.filter(isObject) : [];
  const searches = candidates.reduce((sum, one) => sum + searchesOf(one, body.modelVersion), 0);
  const usage = readUsage(body.usageMetadata, searches);
  try {
    return { result: decodeContent(body, candidates, reading), usage };
  } catch (error) {
    // A response that is of no use may have been paid for.
    throw usage && error instanceof UpstreamError ? error.with({ usage }) : error;
  }
}

function decodeContent(body: Loose, candidates: readonly Loose[], { outputTool }: Reading): ChatResult {
  const error = errorIn(body) ?? refusalIn(body, null);
  if (error) throw error;
  if (candidates.length === 0) throw badResponse('The provider responded without candidates.');
  const parts: PartReading = { ids: toolCallIds(), suffix: suffixOf(body), outputTool };
  for (const id of idsIn(candidates)) parts.ids.take(id);
  const tier = servedTier(body.usageMetadata);
  return {
    id: '',
    object: 'chat.completion',
    created: 0,
    model: '',
    choices: candidates.map((raw, position) => decodeCandidate(raw, position, parts)),
    system_fingerprint: null,
    ...(tier === undefined ? {} : { service_tier: tier }),
  };
}

/** Every id that the provider gave, so that none is given twice. */
function idsIn(candidates: readonly Loose[]): unknown[] {
  return candidates.flatMap(({ content }) =>
    isObject(content) && Array.isArray(content.parts)
      ? content.parts.map((part) => (isObject(part) && isObject(part.functionCall) ? part.functionCall.id : null))
      : [],
  );
}

function decodeCandidate(raw: Loose, position: number, parts: PartReading): ChatChoice {
  const native = nativeReason(raw.finishReason);
  // As in a stream: without a reason why it ended, a response may have been broken off.
  if (native === null) throw badResponse('The provider sent a response without a finishReason.');
  const state = newCandidate();
  const delta = readCandidate(raw, state, parts, true);
  const reason = finishReasonOf(native, state.calls > 0);
  if (reason === 'error') throw brokenOff(native);
  const { content, tool_calls: calls, ...fields } = delta;
  const message: Loose = {
    role: 'assistant',
    content: content ?? null,
    refusal: reason === 'content_filter' ? refusalText(raw) : null,
    ...fields,
  };
  if (calls) message.tool_calls = wholeCalls(calls);
  return {
    index: isIndex(raw.index) ? raw.index : position,
    message: message as ChatChoice['message'],
    finish_reason: reason,
    native_finish_reason: native,
    logprobs: decodeLogprobs(raw.logprobsResult) as ChatChoice['logprobs'],
  };
}

/** Calls that came in pieces are put together. */
function wholeCalls(pieces: readonly Loose[]): Loose[] {
  const calls: Loose[] = [];
  for (const { index, ...piece } of pieces) {
    const known = calls[index as number];
    const called = piece.function as Loose;
    if (known === undefined) calls.push(piece);
    else known.function = { ...(known.function as Loose), arguments: called.arguments };
  }
  return calls;
}

/** What the provider says of a response that it has filtered. */
export function refusalText({ finishMessage: words }: Loose): string | null {
  return typeof words === 'string' && words !== '' ? cleanText(words) : null;
}

export function brokenOff(native: string): UpstreamError {
  const word = cleanText(native, 80);
  return badResponse(`The provider broke off its response (${word}).`, word);
}
