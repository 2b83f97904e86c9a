import { defineDialect } from '../dialect.ts';
import { profiles } from '../fit/index.ts';
import { searchTurns } from '../shared/web-search-options.ts';
import { countRequest } from './count.ts';
import { decodeError } from './errors.ts';
import { leastMaxTokens, type ResponsesQuirks, responsesQuirks } from './quirks.ts';
import { encodeRequest } from './request.ts';
import { decodeResult } from './result.ts';
import { streamDecoder } from './stream.ts';

/**
 * OpenAI's Responses, and the servers that follow. Nothing is stored at the provider: each request holds the complete
 * conversation, with reasoning that only the provider can read.
 * @see https://platform.openai.com/docs/api-reference/responses
 */
export const openaiResponses = defineDialect<ResponsesQuirks>({
  name: 'openai-responses',
  quirks: responsesQuirks,
  minMaxTokens: leastMaxTokens,
  counting: ({ reasoningBeside = false, lowDetail }) => ({ reasoningBeside, lowDetail, searchTurns }),
  format: 'responses',
  mapsWebSearch: true,
  profile: () => profiles.responses,
  encodeRequest,
  count: countRequest,
  decodeResult,
  streamDecoder,
  decodeError,
});
