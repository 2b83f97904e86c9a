import { serverSentEvents } from '../base/framing/sse.ts';
import { decodeError } from './anthropic-messages/errors.ts';
import { type MessagesQuirks, messagesQuirks } from './anthropic-messages/quirks.ts';
import { encodeRequest } from './anthropic-messages/request.ts';
import { decodeResult } from './anthropic-messages/result.ts';
import { streamDecoder } from './anthropic-messages/stream.ts';
import type { Dialect } from './dialect.ts';
import { leftOutParameters } from './shared/left-out-parameters.ts';
import { searchTurns } from './shared/web-search-options.ts';

/**
 * Messages as Anthropic defined them. Claude on other hosts speaks it too.
 * @see https://platform.claude.com/docs/en/api/messages/create
 */
export const anthropicMessages: Dialect<MessagesQuirks> = {
  name: 'anthropic-messages',
  framing: serverSentEvents,
  nativeChunks: false,
  quirks: messagesQuirks,
  minMaxTokens: () => 0,
  // `max_tokens` limits thoughts and response together.
  counting: () => ({ reasoningBeside: false, searchTurns }),
  generatesOn: ({ generatesOn }) => generatesOn === true,
  unsupportedParameters: leftOutParameters(encodeRequest),
  mapsWebSearch: true,
  encodeRequest,
  decodeResult,
  streamDecoder,
  decodeError,
};
