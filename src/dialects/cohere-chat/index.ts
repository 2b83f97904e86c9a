import { defineDialect } from '../dialect.ts';
import { profiles } from '../fit/index.ts';
import { decodeError } from './errors.ts';
import { type CohereQuirks, cohereQuirks } from './quirks.ts';
import { encodeRequest } from './request.ts';
import { decodeResult } from './result.ts';
import { streamDecoder } from './stream.ts';

/**
 * Cohere's own chat, version 2.
 * @see https://docs.cohere.com/reference/chat
 */
export const cohereChat = defineDialect<CohereQuirks>({
  name: 'cohere-chat',
  quirks: cohereQuirks,
  // Cohere honours `detail: "low"` of an image, but does not tell how many tokens that is.
  counting: ({ reasoningBeside }) => ({ reasoningBeside }),
  profile: () => profiles.cohere,
  encodeRequest,
  decodeResult,
  streamDecoder,
  decodeError,
});
