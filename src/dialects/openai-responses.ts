import { serverSentEvents } from '../base/framing/sse.ts';
import type { Dialect } from './dialect.ts';
import { decodeError } from './openai-responses/errors.ts';
import { leastMaxTokens, type ResponsesQuirks, responsesQuirks } from './openai-responses/quirks.ts';
import { encodeRequest } from './openai-responses/request.ts';
import { decodeResult } from './openai-responses/result.ts';
import { streamDecoder } from './openai-responses/stream.ts';
import { leftOutParameters } from './shared/left-out-parameters.ts';
import { searchTurns } from './shared/web-search-options.ts';

/**
 * OpenAI's Responses, and the servers that follow. Nothing is stored at the provider: each request holds the complete
 * conversation, with reasoning that only the provider can read.
 * @see https://platform.openai.com/docs/api-reference/responses
 */
export const openaiResponses: Dialect<ResponsesQuirks> = {
  name: 'openai-responses',
  framing: serverSentEvents,
  nativeChunks: false,
  quirks: responsesQuirks,
  minMaxTokens: leastMaxTokens,
  counting: ({ reasoningBeside = false, lowDetail }) => ({ reasoningBeside, lowDetail, searchTurns }),
  generatesOn: ({ generatesOn }) => generatesOn === true,
  speaksResponses: true,
  unsupportedParameters: leftOutParameters(encodeRequest),
  mapsWebSearch: true,
  encodeRequest,
  decodeResult,
  streamDecoder,
  decodeError,
};
