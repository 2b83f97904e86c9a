import { defineDialect } from '../dialect.ts';
import { decodeError } from './errors.ts';
import { profileOf } from './order.ts';
import { unsupportedParameters } from './parameters.ts';
import { type ChatQuirks, chatQuirks } from './quirks.ts';
import { encodeRequest } from './request.ts';
import { decodeResult } from './result.ts';
import { streamDecoder } from './stream.ts';

/** Chat completions as OpenAI defined them, and the many servers that follow. */
export const openaiChat = defineDialect<ChatQuirks>({
  name: 'openai-chat',
  format: 'chat',
  quirks: chatQuirks,
  minMaxTokens: ({ minMaxTokens }) => minMaxTokens ?? 0,
  counting: ({ reasoningBeside, lowDetail, alwaysSearches }) => ({ reasoningBeside, lowDetail, alwaysSearches }),
  unsupportedParameters,
  profile: profileOf,
  encodeRequest,
  decodeResult,
  streamDecoder,
  decodeError,
});
