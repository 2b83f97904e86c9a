import { defineDialect } from '../dialect.ts';
import { profiles } from '../fit/index.ts';
import { decodeError } from './errors.ts';
import { type GoogleQuirks, googleQuirks } from './quirks.ts';
import { encodeRequest } from './request/request.ts';
import { decodeResult } from './result.ts';
import { streamDecoder } from './stream.ts';

/**
 * Google's own interface to Gemini, which the Gemini API and Vertex AI share.
 * @see https://ai.google.dev/api/generate-content
 */
export const googleGenerateContent = defineDialect<GoogleQuirks>({
  name: 'google-generate-content',
  quirks: googleQuirks,
  // `maxOutputTokens` limits thoughts too.
  counting: () => ({ reasoningBeside: false }),
  mapsWebSearch: true,
  profile: () => profiles.google,
  encodeRequest,
  decodeResult,
  streamDecoder,
  decodeError,
});
