import { cleanText } from '../../base/text/clean-text.ts';
import { isIndex, isObject, type Loose } from '../../base/values.ts';
import { withNativeBody } from '../../call/native-events.ts';
import type { ChatChoice, ChatResult } from '../../schema/chat/chat.ts';
import { messageOf } from '../../schema/chat/message-of-deltas.ts';
import type { DecodedResult, Reading } from '../dialect.ts';
import { decodedResult, resultOf } from '../shared/response/chunks.ts';
import { badResponse, brokenOff, toolCallIds } from '../shared/values.ts';
import { newCandidate, type PartReading, readCandidate } from './candidate.ts';
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
  return decodedResult(
    () => decodeContent(body, candidates, reading),
    () => readUsage(body.usageMetadata, searches),
  );
}

function decodeContent(body: Loose, candidates: readonly Loose[], { outputTool, nativeEvents }: Reading): ChatResult {
  const error = errorIn(body) ?? refusalIn(body, null);
  if (error) throw error;
  if (candidates.length === 0) throw badResponse('The provider responded without candidates.');
  const parts: PartReading = { ids: toolCallIds(), responseId: body.responseId, outputTool };
  for (const id of idsIn(candidates)) parts.ids.take(id);
  const tier = servedTier(body.usageMetadata);
  const choices = candidates.map((raw, position) => decodeCandidate(raw, position, parts));
  // The first message stands for the body: what changes the response makes other messages, or takes the body away.
  if (nativeEvents === true && choices[0] !== undefined) withNativeBody(choices[0].message, body);
  return resultOf(choices, tier === undefined ? {} : { service_tier: tier });
}

/** Returns all ids of the provider, so that none is given twice. */
function idsIn(candidates: readonly Loose[]): unknown[] {
  return candidates.flatMap(({ content }) =>
    isObject(content) && Array.isArray(content.parts)
      ? content.parts.map((part) => (isObject(part) && isObject(part.functionCall) ? part.functionCall.id : null))
      : [],
  );
}

function decodeCandidate(raw: Loose, position: number, parts: PartReading): ChatChoice {
  const native = nativeReason(raw.finishReason);
  // A response without a finishReason may have been broken off, as in a stream.
  if (native === null) throw badResponse('The provider sent a response without a finishReason.');
  const state = newCandidate();
  const delta = readCandidate(raw, state, parts, true);
  const reason = finishReasonOf(native, state.calls > 0);
  if (reason === 'error') throw brokenOff(native);
  return {
    index: isIndex(raw.index) ? raw.index : position,
    message: messageOf([delta, reason === 'content_filter' ? { refusal: refusalText(raw) } : {}]),
    finish_reason: reason,
    native_finish_reason: native,
    logprobs: decodeLogprobs(raw.logprobsResult),
  };
}

/** Returns the provider's words on a response that it has filtered. */
export function refusalText({ finishMessage: words }: Loose): string | null {
  return typeof words === 'string' && words !== '' ? cleanText(words) : null;
}
