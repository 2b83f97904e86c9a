import type { UpstreamError } from '../../base/http/upstream-error.ts';
import { isIndex, isObject, type Loose } from '../../base/values.ts';
import { withNativeEvents } from '../../call/native-events.ts';
import type { ChunkChoice } from '../../schema/chat/chunk.ts';
import type { Reading, StreamDecoder, StreamPart } from '../dialect.ts';
import { chunkOf } from '../shared/response/chunks.ts';
import { eventObject } from '../shared/response/event-object.ts';
import { brokenOff, toolCallIds } from '../shared/values.ts';
import { type CandidateState, newCandidate, type PartReading, readCandidate } from './candidate.ts';
import { errorIn, refusalIn } from './errors.ts';
import { finishReasonOf, nativeReason } from './finish-reason.ts';
import { decodeLogprobs } from './logprobs.ts';
import type { GoogleQuirks } from './quirks.ts';
import { refusalText } from './result.ts';
import { readUsage, searchesOf, servedTier } from './usage.ts';

/**
 * Reads a stream of responses, each of which adds to the one before. Google sends no mark of the end: a candidate ends
 * with its `finishReason`, and the stream when the connection does.
 * @see https://ai.google.dev/api/generate-content "streamGenerateContent"
 */
export function streamDecoder(
  _quirks: GoogleQuirks,
  { outputTool, nativeEvents = false }: Reading = {},
): StreamDecoder {
  const states = new Map<number, CandidateState>();
  const parts: PartReading = { ids: toolCallIds(), responseId: undefined, outputTool };
  /** The searches so far: an event counts only its own. */
  let searches = 0;
  /** The error with which the provider has broken off a candidate. */
  let broken: UpstreamError | null = null;

  function decode(data: string): StreamPart[] {
    const event = eventObject(data);
    parts.responseId = event.responseId;
    const candidates = Array.isArray(event.candidates) ? event.candidates.filter(isObject) : [];
    for (const one of candidates) searches = Math.max(searches, searchesOf(one, event.modelVersion));
    const usage = readUsage(event.usageMetadata, searches);
    const out: StreamPart[] = [];
    const choices = candidates.map(decodeCandidate).filter((choice) => choice !== null);
    const tier = servedTier(event.usageMetadata);
    if (choices.length > 0)
      out.push({ kind: 'chunk', chunk: chunkOf(choices, tier === undefined ? {} : { service_tier: tier }) });
    if (usage) out.push({ kind: 'usage', usage });
    const error = errorIn(event) ?? refusalIn(event, usage) ?? broken;
    // An error beside candidates concerns their content. After the response it may only concern the end of the stream.
    if (error) out.push({ kind: 'error', error, ...(candidates.length > 0 ? { isReported: true } : {}) });
    return out;
  }

  /** @returns null: the event adds nothing to the candidate */
  function decodeCandidate(raw: Loose, position: number): ChunkChoice | null {
    const index = isIndex(raw.index) ? raw.index : position;
    const state = states.get(index) ?? newCandidate();
    states.set(index, state);
    const native = nativeReason(raw.finishReason);
    const delta = readCandidate(raw, state, parts, native !== null && !state.isFinished);
    const choice: ChunkChoice = { index, delta, finish_reason: null };
    const probabilities = decodeLogprobs(raw.logprobsResult);
    if (probabilities) choice.logprobs = probabilities;
    if (native !== null && !state.isFinished) {
      const reason = finishReasonOf(native, state.calls > 0);
      if (reason === 'error') broken ??= brokenOff(native);
      else {
        choice.finish_reason = reason;
        choice.native_finish_reason = native;
        state.isFinished = true;
        const refusal = reason === 'content_filter' ? refusalText(raw) : null;
        if (refusal !== null) delta.refusal = refusal;
      }
    }
    const isEmpty = choice.finish_reason === null && !probabilities && Object.keys(delta).length === 0;
    if (isEmpty && state.hasBegun) return null;
    if (!state.hasBegun) choice.delta = { role: 'assistant', ...delta };
    state.hasBegun = true;
    return choice;
  }

  /**
   * Decodes an event, and keeps it with its chunk. One that adds nothing for chat has a chunk of its own, so that the client
   * gets it in its place.
   */
  function decodeNative(data: string): StreamPart[] {
    const parts = decode(data);
    if (parts.some(({ kind }) => kind === 'error')) return parts;
    const found = parts.find((part) => part.kind === 'chunk');
    if (found !== undefined) withNativeEvents(found.chunk, [{ name: '', data }]);
    else parts.unshift({ kind: 'chunk', chunk: withNativeEvents(chunkOf([]), [{ name: '', data }]) });
    return parts;
  }

  return { decode: nativeEvents ? decodeNative : decode };
}
