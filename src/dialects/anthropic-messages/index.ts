import { defineDialect } from '../dialect.ts';
import { profiles } from '../fit/index.ts';
import { searchTurns } from '../shared/web-search-options.ts';
import { decodeError } from './errors.ts';
import { countRequest } from './native/count.ts';
import { type MessagesQuirks, messagesQuirks } from './quirks.ts';
import { encodeRequest } from './request.ts';
import { decodeResult } from './result.ts';
import { streamDecoder } from './stream.ts';

/**
 * Anthropic's Messages. Claude on other hosts speaks them too.
 * @see https://platform.claude.com/docs/en/api/messages/create
 */
export const anthropicMessages = defineDialect<MessagesQuirks>({
  name: 'anthropic-messages',
  format: 'messages',
  quirks: messagesQuirks,
  // `max_tokens` limits thoughts and response together.
  counting: () => ({ reasoningBeside: false, searchTurns }),
  mapsWebSearch: true,
  profile: () => profiles.anthropic,
  encodeRequest,
  count: countRequest,
  decodeResult,
  streamDecoder,
  decodeError,
});
